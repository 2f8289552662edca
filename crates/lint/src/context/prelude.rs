//! Imports of the context's files.

pub(super) use std::borrow::Cow;
pub(super) use std::cell::{Cell, OnceCell};
pub(super) use std::fmt::{self, Display, Formatter};
pub(super) use std::ops::Range;

pub(super) use hcoplan_kubernetes::{schema::Schema, tree};
pub(super) use hcoplan_planner::{
    admission::{Admission, Reason},
    boot::Architectures,
    boot_images::ssp_stage::{ObjectOrigin, Rendered, SspReason},
    cause::Stage,
    inventory::Architecture,
    jsonpatch::{ANNOTATIONS, Op, segments},
    machines::{TypeKind, Verdict},
    release::{HyperConvergedField, Phase, Transform},
    topology::{Selection, Tolerations, Topology},
};
pub(super) use hcoplan_yaml::{ScalarPlaces, Style, Trail, pointer};
pub(super) use serde_json::Value;

pub(super) use super::{
    destinations::fits,
    field::in_version,
    field_map::row,
    gate_change::PatchedGates,
    image_output::{repository, tag},
    pod_placement::ARCHITECTURE_KEYS,
    shape::document_after,
    virtual_machines::claim_name,
    *,
};
pub(super) use crate::{
    Incident,
    lists::*,
    paths::gates_path,
    prelude::*,
    suggestion::suggestion,
    words::{changed, or},
};
