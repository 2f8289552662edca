//! Imports of the context's files.

pub(super) use std::borrow::Cow;
pub(super) use std::collections::{HashMap, HashSet};

pub(super) use crate::paths::gates_path;
pub(super) use crate::prelude::*;
pub(super) use hcoplan_kubernetes::schema::Schema;
pub(super) use hcoplan_kubernetes::tree;
pub(super) use hcoplan_planner::boot_images::ssp_stage::Rendered;
pub(super) use hcoplan_planner::inventory::Architecture;
pub(super) use hcoplan_planner::jsonpatch::Op;
pub(super) use hcoplan_planner::machines::Verdict;
pub(super) use hcoplan_planner::release::Transform;
pub(super) use hcoplan_planner::topology::{Selection, Tolerations};
pub(super) use hcoplan_repository::repo::OtherObjects;
pub(super) use hcoplan_yaml::pointer;
pub(super) use serde_json::{Value, json};

pub(super) use crate::lists::{distinct, elements, entries, items, json_of, members, name_of, namespace_of, texts};
pub(super) use crate::rows::Rows;
pub(super) use crate::words::changed;
