//! Names of other crates that most files use.

pub(crate) use hcoplan_diagnostics::finding::Finding;
pub(crate) use hcoplan_diagnostics::source::Location;
pub(crate) use hcoplan_kubernetes::Object;
pub(crate) use hcoplan_kubernetes::go::GoType;
pub(crate) use hcoplan_kubernetes::go::GoTypes;
pub(crate) use hcoplan_kubernetes::schema::PrunedField;
pub(crate) use hcoplan_kubernetes::schema::Schema;
pub(crate) use hcoplan_kubernetes::tree::{elements, members, texts};
pub(crate) use hcoplan_yaml::Document;
pub(crate) use hcoplan_yaml::{Path, Segment};
pub(crate) use serde::Deserialize;
pub(crate) use serde::Serialize;
pub(crate) use serde_json::Map;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::HashMap;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::{Arc, LazyLock};
