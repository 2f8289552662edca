//! Names that most of the crate's files use.

pub(crate) use crate::admission::Admission;
pub(crate) use crate::hyperconverged::{HyperConverged, version_of};
pub(crate) use crate::inventory::{ARCHITECTURE_LABEL, Inventory, Node, ROLE_LABEL};
pub(crate) use crate::plan::Plan;
pub(crate) use crate::release::{Phase, Platform, Release};
pub(crate) use hcoplan_diagnostics::source::Location;
pub(crate) use hcoplan_kubernetes::Object;
pub(crate) use hcoplan_kubernetes::schema::Schema;
pub(crate) use hcoplan_yaml::{Path, Segment};
pub(crate) use serde_json::{Value, json};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::{Arc, LazyLock};
