//! Names of other crates that most files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use hcoplan_diagnostics::finding::{Applicability, ClusterName, Edit, Finding, Fix, Rule, Severity};
pub(crate) use hcoplan_diagnostics::source::{Location, SourceFile, Span};
pub(crate) use hcoplan_kubernetes::ObjectId;
pub(crate) use hcoplan_kubernetes::text::{first_part, is_digits, joined, last_part};
pub(crate) use hcoplan_kubernetes::tree::text;
pub(crate) use hcoplan_planner::plan::Plan;
pub(crate) use hcoplan_planner::release::Release;
pub(crate) use hcoplan_yaml::edit::{Change, EditableFile};
pub(crate) use hcoplan_yaml::{Document, Entry, Node, Path, Segment, Value, strings};
pub(crate) use serde::Deserialize;
pub(crate) use serde_json::Map;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::rc::Rc;
pub(crate) use std::sync::Arc;
