//! A cluster's differences, as they are reported.

use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::Location;
use hcoplan_planner::lifecycle::UpdateMethod;
use hcoplan_planner::verdict::{NotPlanned, Verdict, VerdictKind};

use super::effect::Effect;
use super::upgrade::Note;
use super::{Comparison, Kind};

/// What differs in one cluster.
#[derive(Debug, Clone)]
pub struct ClusterDiff {
    /// Its name; on the right side where it is on both.
    pub cluster: String,
    /// Its name on the left side, where that is another.
    pub moved_from: Option<String>,
    /// `Add` or `Remove` where it is on one side only.
    pub whole: Option<Kind>,
    /// What becomes of it: on the right side, or `Removed`.
    pub verdict: Verdict,
    /// Why the left side isn't planned, where that is so.
    pub unknown_before: Option<Box<NotPlanned>>,
    /// Whether everything that it is read and judged from is the same on both sides.
    pub is_unchanged: bool,
    /// Where it is on the left side only: what then happens to what runs there.
    pub removal: Option<Removal>,
    /// How the HyperConverged is submitted as an update, and what says so; `None` where nothing does.
    pub update: Option<(UpdateMethod, String)>,
    /// What differs.
    pub comparison: Comparison,
    /// What another release makes of the same input; empty where the releases are the same.
    pub notes: Vec<Note>,
    /// What happens to golden images, where both sides were planned.
    pub image_effects: Vec<Effect>,
    /// Whether golden images were examined: what their objects show isn't reported twice then.
    pub knows_images: bool,
    /// Findings that come.
    pub findings_added: Vec<Finding>,
    /// Findings that go.
    pub findings_removed: Vec<Finding>,
    /// A sentence: why the left side was rejected, with the place, and how the right one is planned for that;
    /// `None` where the right one is rejected for the same.
    pub rejected_before: Option<String>,
}

/// What happens to what runs in a cluster whose HyperConverged is no longer declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// What deletes it: `the Application virt in argo/virt.yaml`; `None` where nothing is known to prune.
    pub pruned_by: Option<String>,
    /// Whether the configuration only leaves it out from now on: the cluster keeps it.
    pub is_ignored: bool,
    /// Whether its deletion takes the virtual machines and disks along: `uninstallStrategy: RemoveWorkloads`.
    pub takes_workloads: bool,
}

impl ClusterDiff {
    /// A cluster without differences.
    pub fn new(cluster: &str) -> Self {
        Self {
            cluster: cluster.to_owned(),
            moved_from: None,
            whole: None,
            verdict: Verdict::Accepted,
            unknown_before: None,
            is_unchanged: false,
            removal: None,
            update: None,
            comparison: Comparison::default(),
            notes: Vec::new(),
            image_effects: Vec::new(),
            knows_images: false,
            findings_added: Vec::new(),
            findings_removed: Vec::new(),
            rejected_before: None,
        }
    }

    /// Points at what the user wrote, where places are in a program's text, such as a build.
    pub fn point_at_origins(&mut self) {
        let causes = self.comparison.causes.iter_mut().map(|c| &mut c.place);
        let notes = self.notes.iter_mut().map(|n| &mut n.place);
        for place in causes.chain(notes) {
            if let Some(origin) = place.as_ref().and_then(Location::origin) {
                *place = Some(origin);
            }
        }
        let findings = self.findings_added.iter_mut().chain(&mut self.findings_removed);
        findings.for_each(Finding::point_at_origins);
    }

    /// Whether the two sides differ: what can't be planned on either of them is shown, and no difference.
    pub fn differs(&self) -> bool {
        !self.is_unchanged && !self.is_empty()
    }

    /// Whether the HyperConverged is rejected after the change.
    pub fn is_rejected(&self) -> bool {
        self.verdict.kind() == VerdictKind::Rejected
    }

    /// Why it isn't planned after the change, where that is so.
    pub fn not_planned(&self) -> Option<&NotPlanned> {
        match &self.verdict {
            Verdict::NotPlanned(why) => Some(why),
            _ => None,
        }
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.moved_from.is_none()
            && self.whole.is_none()
            && self.not_planned().is_none()
            && self.unknown_before.is_none()
            && (self.is_unchanged || !self.verdict.fails())
            && self.comparison.is_empty()
            && self.notes.is_empty()
            && self.findings_added.is_empty()
            && self.findings_removed.is_empty()
    }
}
