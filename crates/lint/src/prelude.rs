//! Names of other crates that most files use.

pub(crate) use hcoplan_diagnostics::finding::{Applicability, Edit, Finding, Fix, Rule, Severity};
pub(crate) use hcoplan_diagnostics::source::{Location, SourceFile, Span};
pub(crate) use hcoplan_yaml::{Document, Node, Path, Segment};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::Arc;
