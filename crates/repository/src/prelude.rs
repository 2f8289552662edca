//! Names of other crates that most files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use hcoplan_diagnostics::finding::{Applicability, ClusterName, Finding, Fix, Severity};
pub(crate) use hcoplan_diagnostics::source::{Location, SourceFile, Span, Tree, Unreadable, Walk, normalize_path};
pub(crate) use hcoplan_planner::inventory::SourceKind;
pub(crate) use hcoplan_planner::release::{Distribution, Platform, Release};
pub(crate) use hcoplan_rule_pages::rules::HCO_NOT_PLANNED;
pub(crate) use hcoplan_yaml::{self as yaml, Document, Node, Path, Value};
pub(crate) use regex_lite::Regex;
pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
pub(crate) use std::fmt;
pub(crate) use std::sync::Arc;
