//! Names of other crates that most files use.

pub(crate) use hcoplan_diagnostics::source::Location;
pub(crate) use hcoplan_kubernetes::schema::Schema;
pub(crate) use hcoplan_kubernetes::text::{first_part, is_digits, joined, last_part};
pub(crate) use hcoplan_kubernetes::tree::{elements, text, texts};
pub(crate) use hcoplan_kubernetes::{Object, ObjectId, Table};
pub(crate) use hcoplan_planner::NAMES;
pub(crate) use hcoplan_planner::hyperconverged::version_of;
pub(crate) use hcoplan_planner::inventory::{Inventory, Node};
pub(crate) use hcoplan_planner::jsonpatch;
pub(crate) use hcoplan_planner::lifecycle::State;
pub(crate) use hcoplan_planner::plan::{AdmissionMode, Plan};
pub(crate) use hcoplan_planner::release::{Phase, Release};
pub(crate) use hcoplan_planner::world::Delta;
pub(crate) use hcoplan_yaml::edit::Change;
pub(crate) use hcoplan_yaml::{Document, Path, Segment, is_within, overlap, pointer};
pub(crate) use serde::Deserialize;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::fmt::Display;
pub(crate) use std::sync::Arc;
