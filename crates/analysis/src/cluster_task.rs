//! A command's task for each cluster.

use super::before::Before;
use super::field_question::FieldQuestion;
use super::object_selector::ObjectSelector;
use crate::prelude::*;
use hcoplan_kubernetes::ObjectId;
use hcoplan_repository::emit::{DiskTree, Tree};
use hcoplan_repository::repo::ChangedFiles;

/// A command's task for each cluster.
#[derive(Debug, Default)]
pub struct ClusterTask<'a> {
    /// Render also HyperConvergeds that a webhook would reject.
    pub force: bool,
    /// The state before, so that the change is validated as an update.
    pub before: Before<'a>,
    /// Report the differences to it.
    pub compare: bool,
    /// Preview an upgrade to this release, step by step.
    pub preview: Option<Arc<Release>>,
    /// The release that HCO is upgraded to after the change.
    pub upgrade_to: Option<Arc<Release>>,
    /// Run these rules.
    pub lint: Option<lint::Selection<'a>>,
    /// Only these objects; empty means all.
    pub only: Vec<ObjectSelector>,
    /// Print each plan as a line of JSON.
    pub json: bool,
    /// Print the objects as a stream of YAML.
    pub yaml: bool,
    /// Print the HyperConverged as the API server stores it.
    pub stored: bool,
    /// Report golden images by architecture, and predicted alerts.
    pub matrix: bool,
    /// Report fields that differ on every sync of a GitOps controller.
    pub drift: bool,
    /// Explain this field.
    pub ask: Option<FieldQuestion>,
    /// Write to this output tree.
    pub tree: Option<&'a Tree>,
    /// Report files of these trees that would be written differently.
    pub check: &'a [DiskTree],
    /// Add a kustomization to each cluster's directory of the tree.
    pub kustomization: bool,
    /// Whether a baseline hides what kubectl warns of, as it hides the findings about it.
    pub has_baseline: bool,
    /// The files that differ from the side before, found at their first use.
    pub changed: OnceLock<ChangedFiles>,
}

impl ClusterTask<'_> {
    /// Whether rendered objects are shown or written, which requires known nodes.
    pub(super) fn renders(&self) -> bool {
        self.lint.is_none() || self.json || self.compare || self.preview.is_some() || self.emits()
    }

    /// Whether objects are written as files.
    pub(super) fn emits(&self) -> bool {
        self.yaml || self.tree.is_some() || !self.check.is_empty()
    }

    /// A predicate for the requested objects.
    pub(super) fn wanted(&self) -> impl Fn(&ObjectId) -> bool {
        |id| self.only.is_empty() || self.only.iter().any(|o| o.matches(id))
    }
}
