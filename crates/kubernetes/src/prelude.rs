//! Names of other crates that many files use.

pub(crate) use hcoplan_yaml::Path;
pub(crate) use serde_json::{Map, Number, Value};
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::fmt;
pub(crate) use std::sync::OnceLock;
