//! Names of other crates that most files use.

pub(crate) use camino::Utf8Path;
pub(crate) use camino::Utf8PathBuf;
pub(crate) use hcoplan_diagnostics::finding::ClusterName;
pub(crate) use hcoplan_diagnostics::finding::{Applicability, Edit, Finding, Fix, Rule, Severity};
pub(crate) use hcoplan_diagnostics::source::{Location, SourceFile, Span};
pub(crate) use hcoplan_kubernetes::ObjectId;
pub(crate) use hcoplan_planner::plan::Plan;
pub(crate) use hcoplan_planner::release::Release;
pub(crate) use hcoplan_yaml::Entry;
pub(crate) use hcoplan_yaml::Value;
pub(crate) use hcoplan_yaml::edit::Change;
pub(crate) use hcoplan_yaml::edit::EditableFile;
pub(crate) use hcoplan_yaml::{Document, Node, Path, Segment};
pub(crate) use serde::Deserialize;
pub(crate) use serde_json::Map;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::rc::Rc;
pub(crate) use std::sync::Arc;
