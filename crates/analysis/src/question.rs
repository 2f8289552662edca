//! The one analysis behind `lint`, `plan`, `diff` and `report`: both sides, what differs, what is found, and how the
//! run ends.

use crate::review::{Entry, Review, Steps};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::baseline::BaselineFile;
use super::cluster_result::report_outcome;
use super::clusters::Clusters;
use super::compare_base::{BaseSide, CompareBase};
use super::exit::Exit;
use super::failure::Failure;
use super::findings::FinalFindings;
use super::notices::Notices;
use super::tree;
use crate::{Before, ClusterResult, ClusterTask, Progress, Upgraded};
use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_explain::diff::semantic::ObjectChange;
use hcoplan_explain::diff::{ClusterDiff, Kind};
use hcoplan_lint::Settings;
use hcoplan_planner::release::Release;

/// What is asked about the clusters that were found.
pub struct Question<'a> {
    /// The clusters, which are the side after.
    pub found: &'a Clusters,
    /// Which rules run, and how.
    pub settings: &'a Settings,
    /// What they are compared with.
    pub base: &'a CompareBase,
    /// The findings that are known.
    pub baseline: Option<BaselineFile>,
    /// From which severity on findings and consequences fail the run.
    pub fail_on: Option<Severity>,
    /// What else is to be done with each.
    pub work: ClusterTask<'a>,
    /// How many clusters are processed in parallel; `None` = one per core.
    pub jobs: Option<NonZeroUsize>,
}

/// What is known of all clusters.
pub struct Analysis {
    /// What they were compared with, for people.
    pub left: String,
    /// What they are now.
    pub right: String,
    /// The root of the files before.
    pub left_root: camino::Utf8PathBuf,
    /// The same of the files after.
    pub root: camino::Utf8PathBuf,
    /// The clusters in which something differs or fails.
    pub clusters: Vec<ClusterDiff>,
    /// How many were examined.
    pub compared: usize,
    /// What is found.
    pub findings: FinalFindings,
    /// The steps of an upgrade, where one was asked for.
    pub steps: Option<Steps>,
    /// Whether what existed before counts.
    pub existing_count: bool,
    /// How the run ends.
    pub verdict: Exit,
}

impl<'a> Question<'a> {
    /// Analyses every cluster once; `take` sees each one's result. `None` after an interrupt: part of the clusters is
    /// no result.
    pub fn analyse(
        self,
        notices: &dyn Notices,
        mut take: impl FnMut(&mut ClusterResult, &Progress),
    ) -> Result<Option<Analysis>, Failure> {
        let Self { found, settings, base, baseline, fail_on, work, jobs } = self;
        let work = ClusterTask { before: base.before(), ..work };
        let (existing_count, preview) = (!base.is_explicit(), work.preview.clone());
        let (mut verdict, mut clusters, mut compared) = (found.verdict, Vec::new(), 0);
        let mut steps: BTreeMap<(usize, String), Vec<ClusterDiff>> = BTreeMap::new();
        let mut already_there = Vec::new();
        let (mut shared, mut stale) = (Shared::default(), Vec::new());
        let mut findings = found.each(&work, jobs, notices, |outcome, progress| {
            progress.suspend(|| report_outcome(outcome, existing_count, &mut verdict, notices));
            compared += 1;
            stale.append(&mut outcome.stale);
            clusters.extend(outcome.diff.take().map(|diff| shared.share(diff)));
            for Upgraded { release, of, diff, is_there } in std::mem::take(&mut outcome.steps) {
                if is_there {
                    already_there.push(diff.cluster.clone());
                }
                let diff = shared.share(diff);
                let key = (Release::place(&of).unwrap_or(usize::MAX), release);
                steps.entry(key).or_default().push(diff);
            }
            take(outcome, progress);
        });
        findings.extend(tree::stale_findings(work.check, &stale, found));
        drop(work);
        if crate::interrupted() {
            return Ok(None);
        }
        let mut findings = findings.finished(baseline.as_ref(), settings, &found.root, notices)?;
        let against = base.name().filter(|_| !existing_count);
        verdict.failed |= findings.fails_from(fail_on, against);
        assign(findings.findings(), &mut clusters);
        // Also a cluster whose differences change nothing is shown, by their number.
        clusters.retain(|d| !d.is_empty() || d.comparison.noise_count() > 0 || d.is_unchanged && d.verdict.fails());
        let steps = preview.map(|_| Steps {
            steps: steps.into_iter().map(|((_, release), diffs)| (release, diffs)).collect(),
            already_there,
            compared,
        });
        let mut analysis = Analysis {
            left: base.described(),
            right: found.name().to_owned(),
            left_root: base.root(&found.root),
            root: found.root.clone(),
            clusters,
            compared,
            findings,
            steps,
            existing_count,
            verdict,
        };
        let mut steps = analysis.steps.iter().flat_map(|s| &s.steps).flat_map(|(_, diffs)| diffs);
        analysis.verdict.failed |= steps.any(|d| d.verdict.fails()) || analysis.has_consequence(fail_on);
        Ok(Some(analysis))
    }
}

impl Analysis {
    /// Whether something differs.
    pub fn differs(&self) -> bool {
        self.clusters.iter().any(ClusterDiff::differs)
    }

    /// Whether the change or the upgrade has a consequence at or above a severity: data loss and boot failures are
    /// errors, disruptions warnings. What an upgrade newly finds counts as its consequence.
    fn has_consequence(&self, from: Option<Severity>) -> bool {
        let Some(from) = from else {
            return false;
        };
        let change = Review::of(&self.clusters, self.compared, self.findings.findings(), self.existing_count);
        let upgrade = self.steps.as_ref().map(Steps::review);
        let mut of_change = change.entries.iter().filter_map(Entry::severity);
        let mut of_upgrade = upgrade.iter().flat_map(|u| {
            let found = u.added.iter().map(|line| line.finding.severity);
            found.chain(u.entries.iter().filter_map(Entry::severity))
        });
        of_change.any(|s| s >= from) || of_upgrade.any(|s| s >= from)
    }
}

/// Changes of objects that clusters have in common, kept once: a fleet whose clusters change alike takes no more
/// memory than one of them.
#[derive(Default)]
struct Shared(HashMap<u64, Vec<Arc<Vec<ObjectChange>>>>);

impl Shared {
    fn share(&mut self, mut diff: ClusterDiff) -> ClusterDiff {
        let objects = &mut diff.comparison.objects;
        if objects.is_empty() {
            return diff;
        }
        let mut hasher = DefaultHasher::new();
        for change in objects.iter() {
            (&change.id.kind, &change.id.name, change.fields.len()).hash(&mut hasher);
        }
        let known = self.0.entry(hasher.finish()).or_default();
        match known.iter().find(|other| **other == *objects) {
            Some(other) => *objects = Arc::clone(other),
            None => known.push(Arc::clone(objects)),
        }
        diff
    }
}

/// Gives each cluster the findings that the change brings.
fn assign(findings: &[Finding], clusters: &mut [ClusterDiff]) {
    let mut by_name: BTreeMap<String, &mut ClusterDiff> =
        clusters.iter_mut().map(|diff| (diff.cluster.clone(), diff)).collect();
    for finding in findings.iter().filter(|f| !f.is_existing) {
        for cluster in finding.clusters() {
            if let Some(diff) = by_name.get_mut(cluster) {
                diff.findings_added.push(finding.clone());
            }
        }
    }
    for diff in by_name.into_values().filter(|d| d.whole == Some(Kind::Remove)) {
        diff.findings_removed.clear();
    }
}

/// A side before that is opened, or that a cluster holds.
impl BaseSide {
    /// As the analysis takes it.
    pub(super) fn as_before(&self) -> Before<'_> {
        match self {
            Self::Nothing => Before::Nothing,
            Self::Sources { repo, mode, .. } => Before::Sources(repo, *mode),
            Self::Live(previous) => Before::Live(previous),
            Self::Objects(objects) => Before::Objects(objects),
        }
    }
}
