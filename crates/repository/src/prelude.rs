//! Names of other crates that most files use.

pub(crate) use camino::{Utf8Path, Utf8PathBuf};
pub(crate) use hcoplan_diagnostics::finding::{Applicability, ClusterName, Finding, Fix, Severity};
pub(crate) use hcoplan_diagnostics::source::{
    Directory, EditedTree, Location, Origins, SourceFile, Span, Tree, Unreadable, Walk, max_bytes, normalize_path,
};
pub(crate) use hcoplan_diagnostics::words::list;
pub(crate) use hcoplan_kubernetes::Table;
pub(crate) use hcoplan_kubernetes::text::{first_part, is_digits, joined};
pub(crate) use hcoplan_planner::inventory::ARCHITECTURE_LABEL;
pub(crate) use hcoplan_planner::lifecycle::UpdateMethod;
pub(crate) use hcoplan_planner::release::{Distribution, Platform, Release, version_numbers, version_parts};
pub(crate) use hcoplan_rule_pages::rules::*;
pub(crate) use hcoplan_yaml::edit::line_start;
pub(crate) use hcoplan_yaml::{self as yaml, Document, Entry, Node, Path, ProblemKind, Style, Value, pointer, strings};
pub(crate) use regex_lite::Regex;
pub(crate) use serde_json::{Value as Json, json};
pub(crate) use std::cell::LazyCell;
pub(crate) use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
pub(crate) use std::fmt;
pub(crate) use std::ops::Range;
pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::sync::{Arc, LazyLock, OnceLock};
