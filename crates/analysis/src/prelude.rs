//! Names of other crates that most files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use hcoplan_diagnostics::finding::{ClusterName, Finding, Severity};
pub(crate) use hcoplan_diagnostics::source::{Directory, Location, Revision, SourceFile, max_bytes};
pub(crate) use hcoplan_explain::diff;
pub(crate) use hcoplan_explain::diff::semantic::{Impact, ObjectChange};
pub(crate) use hcoplan_explain::diff::{ClusterDiff, Effect, Kind};
pub(crate) use hcoplan_kubernetes::text::joined;
pub(crate) use hcoplan_kubernetes::tree::text;
pub(crate) use hcoplan_kubernetes::{Object, Table};
pub(crate) use hcoplan_lint as lint;
pub(crate) use hcoplan_lint::fix::Rewritten;
pub(crate) use hcoplan_lint::{Settings, fix};
pub(crate) use hcoplan_planner::NAMES;
pub(crate) use hcoplan_planner::boot::BootOutcome;
pub(crate) use hcoplan_planner::inventory::Inventory;
pub(crate) use hcoplan_planner::lifecycle::State;
pub(crate) use hcoplan_planner::plan::{AdmissionMode, Plan};
pub(crate) use hcoplan_planner::release::Release;
pub(crate) use hcoplan_planner::verdict::{NotPlanned, NotPlannedKind, Verdict};
pub(crate) use hcoplan_repository::repo::{
    Builds, CONFIG_FILE, ClusterFilter, ClusterRef, Loaded, Options, OtherObjects, ReleaseBasis, Repo, Trust,
};
pub(crate) use hcoplan_repository::{emit, repo};
pub(crate) use hcoplan_yaml::Document;
pub(crate) use serde::Serialize;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(crate) use std::num::NonZeroUsize;
pub(crate) use std::ops::ControlFlow;
pub(crate) use std::sync::{Arc, OnceLock};
