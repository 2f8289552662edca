//! Names of other crates that most files use.

pub(crate) use hcoplan_diagnostics::source::Location;
pub(crate) use hcoplan_kubernetes::Object;
pub(crate) use hcoplan_kubernetes::schema::Schema;
pub(crate) use hcoplan_kubernetes::tree::{elements, members, texts};
pub(crate) use hcoplan_yaml::{Path, Segment};
pub(crate) use serde_json::{Value, json};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::{Arc, LazyLock};
