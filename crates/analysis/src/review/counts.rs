//! The counts of a change.

use crate::prelude::*;
use hcoplan_rule_pages::rules::{CHANGE_NOT_PLANNED, FILE_NOT_READ};

/// The counts of a change.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Added objects.
    pub add: usize,
    /// Changed objects.
    pub change: usize,
    /// Removed objects.
    pub remove: usize,
    /// Clusters that differ.
    pub differing: usize,
    /// Clusters whose objects differ.
    pub with_objects: usize,
    /// Differences without effect: order, notation, values set by the server.
    pub noise: usize,
    /// Removed findings.
    pub findings_removed: usize,
    /// Added findings: errors, warnings, infos.
    pub findings_added: [usize; 3],
    /// Changes whose effect isn't planned, those that can't be read among them.
    pub unplanned: usize,
}

impl Counts {
    /// With the findings of a run, each counted once.
    pub(super) fn with_findings(self, all: &[Finding]) -> Self {
        let new = || all.iter().filter(|f| !f.is_existing);
        let unplanned = [CHANGE_NOT_PLANNED.name, FILE_NOT_READ.name];
        Self {
            findings_added: Severity::ALL.map(|severity| new().filter(|f| f.severity == severity).count()),
            unplanned: new().filter(|f| unplanned.contains(&f.rule.name)).count(),
            ..self
        }
    }

    pub(super) fn of<'d>(diffs: impl IntoIterator<Item = &'d ClusterDiff>) -> Self {
        let mut out = Self::default();
        // An upgrade compares a cluster once for each step.
        let mut with_objects = BTreeSet::new();
        for diff in diffs {
            out.differing += usize::from(diff.differs());
            out.findings_removed += diff.findings_removed.len();
            out.noise += diff.comparison.noise_count();
            let real = diff.comparison.objects.iter().filter(|c| !c.is_noise());
            if real.clone().next().is_some() {
                with_objects.insert(&*diff.cluster);
            }
            for change in real {
                match change.kind {
                    Kind::Add => out.add += 1,
                    Kind::Change => out.change += 1,
                    Kind::Remove => out.remove += 1,
                }
                // A replacement creates one object and deletes another.
                out.remove += usize::from(change.instead_of.is_some());
            }
        }
        out.with_objects = with_objects.len();
        out
    }
}
