//! Names of other crates that most files use, and the lists.

pub(crate) use hcoplan_diagnostics::source::Location;
pub(crate) use hcoplan_kubernetes::go::{GoType, GoTypes};
pub(crate) use hcoplan_kubernetes::schema::{PrunedField, Schema};
pub(crate) use hcoplan_kubernetes::text::{first_part, is_digits, joined};
pub(crate) use hcoplan_kubernetes::tree::{elements, members, text, texts};
pub(crate) use hcoplan_kubernetes::{Object, Table};
pub(crate) use hcoplan_yaml::{Path, Segment};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Map, Value, json};
pub(crate) use std::borrow::Cow;
pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(crate) use std::sync::{Arc, LazyLock, OnceLock};
