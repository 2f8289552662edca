//! Imports of the context's files.

pub(super) use super::*;
pub(super) use std::borrow::Cow;
pub(super) use std::cell::{Cell, OnceCell};
pub(super) use std::fmt::{self, Display, Formatter};
pub(super) use std::ops::Range;

pub(super) use hcoplan_kubernetes::schema::Schema;
pub(super) use hcoplan_kubernetes::tree;
pub(super) use hcoplan_planner::admission::{Admission, Reason};
pub(super) use hcoplan_planner::boot::Architectures;
pub(super) use hcoplan_planner::boot_images::ssp_stage::{ObjectOrigin, Rendered, SspReason};
pub(super) use hcoplan_planner::cause::Stage;
pub(super) use hcoplan_planner::inventory::Architecture;
pub(super) use hcoplan_planner::jsonpatch::{ANNOTATIONS, Op, segments};
pub(super) use hcoplan_planner::machines::{TypeKind, Verdict};
pub(super) use hcoplan_planner::release::{HyperConvergedField, Phase, Transform};
pub(super) use hcoplan_planner::topology::{Selection, Tolerations, Topology};
pub(super) use hcoplan_yaml::{ScalarPlaces, Style, Trail, pointer};
pub(super) use serde_json::Value;

pub(super) use super::destinations::fits;
pub(super) use super::field::in_version;
pub(super) use super::field_map::row;
pub(super) use super::gate_change::PatchedGates;
pub(super) use super::image_output::{repository, tag};
pub(super) use super::pod_placement::ARCHITECTURE_KEYS;
pub(super) use super::shape::document_after;
pub(super) use super::virtual_machines::claim_name;
pub(super) use crate::Incident;
pub(super) use crate::lists::*;
pub(super) use crate::paths::gates_path;
pub(super) use crate::prelude::*;
pub(super) use crate::rows::Rows;
pub(super) use crate::suggestion::suggestion;
pub(super) use crate::words::{changed, or};
