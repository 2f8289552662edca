//! The work that a command needs for each cluster.

use std::sync::Arc;

use super::before::Before;
use super::field_question::FieldQuestion;
use super::object_selector::ObjectSelector;
use hcoplan_kubernetes::ObjectId;
use hcoplan_lint as lint;
use hcoplan_planner::release::Release;
use hcoplan_repository::emit::{DiskTree, Texts, Tree};

/// What a command asks for each cluster.
#[derive(Debug, Default)]
pub struct ClusterTask<'a> {
    /// Render also what a webhook would reject.
    pub force: bool,
    /// What the clusters are compared with, so that the change is judged as an update.
    pub before: Before<'a>,
    /// Say what differs from that.
    pub compare: bool,
    /// Say what an upgrade to this release does, step by step.
    pub preview: Option<Arc<Release>>,
    /// The release that HCO is upgraded to once the change is made.
    pub upgrade_to: Option<Arc<Release>>,
    /// Run these rules.
    pub lint: Option<lint::Selection<'a>>,
    /// Only these objects; empty = all.
    pub only: Vec<ObjectSelector>,
    /// Print each plan as a line of JSON.
    pub json: bool,
    /// Print the objects as a stream of YAML.
    pub yaml: bool,
    /// Print the HyperConverged as it would be stored.
    pub stored: bool,
    /// Say which golden images are there for which architecture, and which alerts would fire.
    pub matrix: bool,
    /// Say which fields a GitOps controller reports as different on every sync.
    pub drift: bool,
    /// Answer this about a field.
    pub ask: Option<FieldQuestion>,
    /// Write to this tree.
    pub tree: Option<&'a Tree>,
    /// Name the files of these trees that would be written otherwise.
    pub check: &'a [DiskTree],
    /// Make each cluster's directory of the tree a kustomization.
    pub kustomization: bool,
    /// Texts that clusters share.
    pub texts: Texts,
}

impl ClusterTask<'_> {
    /// Whether what would exist is shown or written, so that the nodes must be known.
    pub(super) fn renders(&self) -> bool {
        self.lint.is_none() || self.json || self.compare || self.preview.is_some() || self.emits()
    }

    /// Whether objects are wanted as files.
    pub(super) fn emits(&self) -> bool {
        self.yaml || self.tree.is_some() || !self.check.is_empty()
    }

    /// Which objects are asked for.
    pub(super) fn wanted(&self) -> impl Fn(&ObjectId) -> bool {
        |id| self.only.is_empty() || self.only.iter().any(|o| o.matches(id))
    }
}
