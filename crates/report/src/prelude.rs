//! Names of other crates that most files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use hcoplan_analysis::review::{Review, Steps, clusters};
pub(crate) use hcoplan_diagnostics::finding::{Applicability, Finding, Fix, Rule, Severity};
pub(crate) use hcoplan_diagnostics::secret;
pub(crate) use hcoplan_diagnostics::secret::InputText;
pub(crate) use hcoplan_diagnostics::source::{Location, SourceFile};
pub(crate) use hcoplan_explain::diff::{ClusterDiff, Kind};
pub(crate) use hcoplan_kubernetes::text::joined;
pub(crate) use hcoplan_lint as lint;
pub(crate) use hcoplan_planner::jsonpatch::ChangedPlace;
pub(crate) use hcoplan_planner::release::Release;
pub(crate) use serde_json::{Value, json};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::io;
pub(crate) use std::io::Write;
pub(crate) use std::sync::Arc;
