//! Names that most of the crate's files use.

pub(crate) use crate::clusters::Clusters;
pub(crate) use crate::exit::Exit;
pub(crate) use crate::failure::Failure;
pub(crate) use crate::matrix::{ClusterMatrix, MatrixInput, Obstacle};
pub(crate) use crate::notices::Notices;
pub(crate) use crate::planned::{Inputs, Planned};
pub(crate) use crate::previous_state::PreviousObject;
pub(crate) use crate::root::finding_with_help;
pub(crate) use crate::shard::Shard;
pub(crate) use crate::sides::Side;
pub(crate) use crate::{Before, ClusterResult, ClusterTask, ComparisonMode};
pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use hcoplan_diagnostics::finding::{ClusterName, Finding, Severity};
pub(crate) use hcoplan_diagnostics::source::{Directory, Location, Revision, SourceFile, max_bytes};
pub(crate) use hcoplan_explain::diff;
pub(crate) use hcoplan_explain::diff::semantic::{Impact, ObjectChange};
pub(crate) use hcoplan_explain::diff::{ClusterDiff, Effect, Kind};
pub(crate) use hcoplan_kubernetes::Object;
pub(crate) use hcoplan_lint as lint;
pub(crate) use hcoplan_lint::{Settings, fix};
pub(crate) use hcoplan_planner::inventory::Inventory;
pub(crate) use hcoplan_planner::lifecycle::State;
pub(crate) use hcoplan_planner::plan::{AdmissionMode, Plan};
pub(crate) use hcoplan_planner::release::Release;
pub(crate) use hcoplan_planner::verdict::{NotPlanned, Verdict};
pub(crate) use hcoplan_repository::repo::{
    Builds, CONFIG_FILE, ClusterFilter, ClusterRef, Loaded, Options, Repo, Trust,
};
pub(crate) use hcoplan_repository::{emit, repo};
pub(crate) use hcoplan_yaml::Document;
pub(crate) use serde::Serialize;
pub(crate) use serde_json::Value;
pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap};
pub(crate) use std::num::NonZeroUsize;
pub(crate) use std::ops::ControlFlow;
pub(crate) use std::sync::Arc;
