//! The analysis behind `lint`, `plan`, `diff` and `report`: both sides, differences, findings and exit code.

use super::baseline::BaselineFile;
use super::cluster_result::report_outcome;
use super::compare_base::CompareBase;
use super::findings::FinalFindings;
use super::tree;
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::review::{Review, Steps};
use crate::{ClusterResult, ClusterTask};
use crate::{Progress, Upgraded};
use std::cmp::Reverse;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The input of an analysis.
pub struct AnalysisRequest<'a> {
    /// The clusters of the side after.
    pub found: &'a Clusters,
    /// The rules' settings.
    pub settings: &'a Settings,
    /// The side before.
    pub base: &'a CompareBase,
    /// The baseline.
    pub baseline: Option<BaselineFile>,
    /// The least severity of findings and consequences that fails the run.
    pub fail_on: Option<Severity>,
    /// Other tasks for each cluster.
    pub work: ClusterTask<'a>,
}

/// The result for all clusters.
pub struct Analysis {
    /// Name of the side before.
    pub before: String,
    /// Name of the side after.
    pub after: String,
    /// The root of the files before.
    pub root_before: Utf8PathBuf,
    /// The root of the files after.
    pub root: Utf8PathBuf,
    /// The clusters that differ or fail.
    pub clusters: Vec<ClusterDiff>,
    /// Number of clusters compared.
    pub compared: usize,
    /// The findings.
    pub findings: FinalFindings,
    /// The consequences of the change and the upgrade that no finding of the same severity reports, and the findings that
    /// the upgrade brings, the worst first. Data loss and boot failures are errors, disruptions warnings.
    pub consequences: Vec<Finding>,
    /// The steps of an upgrade, if requested.
    pub steps: Option<Steps>,
    /// Whether existing findings fail the run.
    pub existing_count: bool,
    /// The exit code.
    pub verdict: Exit,
}

impl<'a> AnalysisRequest<'a> {
    /// Analyses every cluster once; `take` gets each result. Returns `None` after an interrupt.
    pub fn analyse(
        self,
        notices: &dyn Notices,
        mut take: impl FnMut(&mut ClusterResult, &Progress),
    ) -> Result<Option<Analysis>, Failure> {
        let Self { found, settings, base, baseline, fail_on, work } = self;
        let work = ClusterTask { before: base.before(), ..work };
        let (existing_count, preview) = (!base.is_before_change, work.preview.clone());
        let (mut verdict, mut clusters, mut compared) = (found.verdict, Vec::new(), 0);
        let mut steps: BTreeMap<(usize, String), Vec<ClusterDiff>> = BTreeMap::new();
        let mut already_there = Vec::new();
        let (mut shared, mut stale, mut is_unchanged) = (Shared::default(), Vec::new(), true);
        let mut findings = found.each(&work, notices, |outcome, progress| {
            progress.suspend(|| report_outcome(outcome, existing_count, &mut verdict, notices));
            compared += 1;
            stale.append(&mut outcome.stale);
            is_unchanged &= outcome.is_unchanged;
            clusters.extend(outcome.diff.take().map(|diff| shared.share(diff)));
            for Upgraded { release, of, diff, is_there } in std::mem::take(&mut outcome.steps) {
                if is_there {
                    already_there.push(diff.cluster);
                    continue;
                }
                let diff = shared.share(diff);
                let key = (Release::place(&of).unwrap_or(usize::MAX), release);
                steps.entry(key).or_default().push(diff);
            }
            take(outcome, progress);
        });
        let base_of_trees = base.repo().filter(|_| is_unchanged);
        findings.extend(tree::stale_findings(work.check, &stale, found, base_of_trees));
        let tries_fixes = work.lint.as_ref().is_some_and(|selection| selection.fixes);
        drop(work);
        if crate::interrupted() {
            return Ok(None);
        }
        let mut findings = findings.finished(baseline.as_ref(), settings, &found.root, notices)?;
        if tries_fixes {
            let chosen: BTreeSet<&ClusterName> = found.chosen().into_iter().map(ClusterRef::name).collect();
            found.try_fixes(&mut findings.findings, settings, |name| chosen.contains(name))?;
        }
        let against = base.name().filter(|_| !existing_count);
        verdict.failed |= findings.fails_from(fail_on, against);
        assign(findings.findings(), &mut clusters);
        // Clusters with irrelevant differences only are counted in the output.
        clusters.retain(|d| {
            !d.is_empty()
                || d.live_check.is_some()
                || d.comparison.noise_count() > 0
                || d.is_unchanged && d.verdict.fails()
        });
        let steps = preview.map(|_| Steps {
            steps: steps.into_iter().map(|((_, release), diffs)| (release, diffs)).collect(),
            already_there,
            compared,
        });
        let mut analysis = Analysis {
            before: base.name().unwrap_or("nothing").to_owned(),
            after: found.name().to_owned(),
            root_before: base.root(&found.root),
            root: found.root.clone(),
            clusters,
            compared,
            findings,
            consequences: Vec::new(),
            steps,
            existing_count,
            verdict,
        };
        let mut steps = analysis.steps.iter().flat_map(|s| &s.steps).flat_map(|(_, diffs)| diffs);
        analysis.verdict.failed |= steps.any(|d| d.verdict.fails());
        analysis.consequences = analysis.find_consequences();
        analysis.verdict.failed |= fail_on.is_some_and(|from| analysis.consequences.iter().any(|f| f.severity >= from));
        Ok(Some(analysis))
    }
}

impl Analysis {
    /// Whether any cluster differs.
    pub fn differs(&self) -> bool {
        self.clusters.iter().any(ClusterDiff::differs)
    }

    fn find_consequences(&self) -> Vec<Finding> {
        let own = self.findings.findings();
        let change = Review::of(&self.clusters, self.compared, own, self.existing_count);
        let upgrade = self.steps.as_ref().map(Steps::review);
        let mut out: Vec<Finding> = change.stories.iter().flat_map(|story| story.consequences(&[])).collect();
        out.extend(upgrade.iter().flat_map(|u| &u.stories).flat_map(|story| story.consequences(own)));
        // They aren't about the manifest as it is now, and say so.
        let last = self.steps.iter().flat_map(|s| &s.steps).last().map_or("", |(name, _)| name);
        let brought = upgrade.iter().flat_map(|u| &u.added).map(|line| line.finding);
        out.extend(
            brought.map(|f| Finding { message: format!("after the upgrade to {last}: {}", f.message), ..f.clone() }),
        );
        out.sort_by_key(|f| Reverse(f.severity));
        out
    }
}

/// Equal changes of clusters, stored once to save memory.
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

/// Assigns new findings to their clusters.
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
