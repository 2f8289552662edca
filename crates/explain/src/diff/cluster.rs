//! A cluster's differences, as reported.

use super::Comparison;
use super::effect::Effect;
use super::live_check::LiveCheck;
use crate::diff::Kind;
use crate::prelude::*;
use hcoplan_diagnostics::finding::{Finding, FindingKey};
use hcoplan_planner::lifecycle::UpdateMethod;
use hcoplan_planner::verdict::{NotPlanned, Verdict, VerdictKind};

/// The differences of one cluster.
#[derive(Debug, Clone, Default)]
pub struct ClusterDiff {
    /// Its name; the new one if both sides have it.
    pub cluster: String,
    /// Its name before the change, if that differs.
    pub moved_from: Option<String>,
    /// `Add` or `Remove` if only one side has it.
    pub whole: Option<Kind>,
    /// The verdict after the change, or `Removed`.
    pub verdict: Verdict,
    /// Why the side before isn't planned, if it isn't.
    pub unknown_before: Option<Box<NotPlanned>>,
    /// Whether all inputs are the same on both sides.
    pub is_unchanged: bool,
    /// If it is removed: what happens in the cluster.
    pub removal: Option<Removal>,
    /// How the HyperConverged is updated, and the source of that; `None` if unknown.
    pub update: Option<(UpdateMethod, String)>,
    /// The cluster as it is, compared with what is expected in it; `None` without a dump of its objects.
    pub live_check: Option<LiveCheck>,
    /// The differences.
    pub comparison: Comparison,
    /// Notes about the release change; empty if the releases are the same.
    pub notes: Vec<Effect>,
    /// Effects on golden images, if both sides were planned.
    pub image_effects: Vec<Effect>,
    /// What edits of the repository's other objects do.
    pub edits: Vec<Effect>,
    /// The virtual machines of the repository by what they use, if both sides were planned.
    pub users: BTreeMap<String, Vec<String>>,
    /// Those of them that boot.
    pub boots: BTreeSet<String>,
    /// Whether golden images were examined; changes of their objects aren't reported again then.
    pub knows_images: bool,
    /// Findings only after the change.
    pub findings_added: Vec<Finding>,
    /// Findings only before the change.
    pub findings_removed: Vec<Finding>,
    /// The causes of findings that come or go, if there are several causes.
    pub finding_causes: Vec<(FindingKey, Vec<usize>)>,
    /// A sentence with location: why the side before was rejected, and how the side after is planned therefore; `None`
    /// if both are rejected for the same reason.
    pub rejected_before: Option<String>,
}

/// What happens in a cluster whose HyperConverged is no longer declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// What deletes it: `the Application virt in argo/virt.yaml`; `None` if nothing is known to prune.
    pub pruned_by: Option<String>,
    /// Whether the configuration now ignores it: the cluster keeps it.
    pub is_ignored: bool,
    /// Whether its deletion also deletes virtual machines and disks: `uninstallStrategy: RemoveWorkloads`.
    pub takes_workloads: bool,
}

impl ClusterDiff {
    /// A cluster without differences.
    pub fn new(cluster: &str) -> Self {
        Self { cluster: cluster.to_owned(), ..Self::default() }
    }

    /// Replaces locations in generated text, such as a build's output, by those of the user's files.
    pub fn point_at_origins(&mut self) {
        let causes = self.comparison.causes.iter_mut().map(|c| &mut c.location);
        let notes = self.notes.iter_mut().map(|n| &mut n.place);
        for place in causes.chain(notes) {
            if let Some(origin) = place.as_ref().and_then(Location::origin) {
                *place = Some(origin);
            }
        }
        let findings = self.findings_added.iter_mut().chain(&mut self.findings_removed);
        findings.for_each(Finding::point_at_origins);
    }

    /// The causes of a finding that comes or goes; empty if unknown.
    pub fn causes_of(&self, finding: &Finding) -> &[usize] {
        let key = FindingKey::of(finding);
        let found = self.finding_causes.iter().find(|(other, _)| *other == key);
        found.map_or(&[], |(_, causes)| causes)
    }

    /// Whether the two sides differ. A cluster that isn't planned on either side is shown, but isn't a difference.
    pub fn differs(&self) -> bool {
        (!self.is_unchanged || !self.edits.is_empty()) && !self.is_empty()
    }

    /// Whether the HyperConverged is rejected after the change.
    pub fn is_rejected(&self) -> bool {
        self.verdict.kind() == VerdictKind::Rejected
    }

    /// Why it isn't planned after the change, if it isn't.
    pub fn not_planned(&self) -> Option<&NotPlanned> {
        match &self.verdict {
            Verdict::NotPlanned(why) => Some(why),
            _ => None,
        }
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.has_only_findings() && self.findings_added.is_empty() && self.findings_removed.is_empty()
    }

    /// Whether nothing but findings differs.
    pub fn has_only_findings(&self) -> bool {
        self.moved_from.is_none()
            && self.whole.is_none()
            && self.not_planned().is_none()
            && self.unknown_before.is_none()
            && (self.is_unchanged || !self.verdict.fails())
            && self.comparison.is_empty()
            && self.notes.is_empty()
            && self.edits.is_empty()
    }
}
