//! Collects the findings of a run and applies suppressions and the baseline.

use super::baseline::BaselineFile;
use super::root;
use crate::ClusterResult;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::selection::Selection;
use hcoplan_diagnostics::finding;
use hcoplan_diagnostics::secret::mask_finding;
use hcoplan_lint::Finishing;
use hcoplan_planner::verdict::VerdictKind;

/// The counts of a run for the last line.
#[derive(Debug, Default)]
pub struct Summary {
    /// Clusters examined.
    pub clusters: usize,
    /// Their names.
    pub names: Vec<String>,
    /// The least severity that fails the run; `None` means never.
    pub fail_on: Option<Severity>,
    /// Clusters whose HyperConverged would be rejected.
    pub rejected: usize,
    /// Unreadable files that don't matter.
    pub skipped_files: usize,
    /// Findings hidden by a suppression.
    pub suppressed: usize,
    /// Findings hidden by the baseline.
    pub baselined: usize,
    /// The earliest date of a baselined finding (`2026-01-31`).
    pub oldest_baselined: Option<String>,
    /// The revision whose findings count as existing.
    pub compared_with: Option<String>,
}

/// The findings of a run before suppression.
#[derive(Debug, Default)]
pub struct Findings {
    run: lint::Run,
    documents: Vec<Arc<Document>>,
    summary: Summary,
    /// The clusters built from each file.
    users: lint::FileUsers,
    /// The clusters that aren't judged.
    unjudged: BTreeSet<String>,
}

impl Findings {
    /// The findings of the repository before any cluster is examined. With `below`, only those of a directory.
    pub(super) fn new(repo: &Repo, below: Option<&Utf8Path>, selection: &Selection) -> Self {
        let problems: Vec<_> = root::problems(repo, below, selection).collect();
        let findings = repo.findings().iter().filter(|f| root::is_about(f, below));
        let users = repo.users_of_files();
        let about_files = problems.iter().map(|p| &p.finding);
        Self {
            run: lint::Run { findings: about_files.chain(findings).cloned().collect(), ..lint::Run::default() },
            users,
            unjudged: repo.not_planned().into_iter().map(|(name, _)| name.id().to_owned()).collect(),
            documents: Vec::new(),
            summary: Summary { skipped_files: problems.iter().filter(|p| !p.fatal).count(), ..Summary::default() },
        }
    }

    /// Adds findings without a cluster.
    pub fn extend(&mut self, findings: Vec<Finding>) {
        self.run.findings.extend(findings);
    }

    /// Adds the findings of a cluster.
    pub fn add(&mut self, outcome: &mut ClusterResult) {
        self.summary.clusters += 1;
        self.summary.names.push(outcome.cluster.to_string());
        if matches!(outcome.verdict.kind(), VerdictKind::Rejected | VerdictKind::NotPlanned) {
            self.unjudged.insert(outcome.cluster.id().to_owned());
        }
        self.summary.rejected += usize::from(outcome.verdict.kind() == VerdictKind::Rejected);
        self.run.add(std::mem::take(&mut outcome.found));
        self.documents.append(&mut outcome.documents);
    }

    /// Marks the repository's findings that the side before has.
    pub fn mark_existing(&mut self, before: &Repo) {
        finding::mark_existing(&mut self.run.findings, &before.all_findings(), false);
    }

    /// Applies suppressions and the baseline.
    pub fn finished(
        self,
        baseline: Option<&BaselineFile>,
        settings: &Settings,
        root: &Utf8Path,
        notices: &dyn Notices,
    ) -> Result<FinalFindings, Failure> {
        // An interrupted run has no result.
        if crate::interrupted() {
            return Err(Failure::Interrupted);
        }
        let with = Finishing { settings, users: &self.users, unjudged: &self.unjudged, today: crate::today() };
        let known = |found: &[Finding]| match baseline {
            Some(file) if file.update => file.write(found, with.unjudged, with.today, settings, notices).map(Some),
            Some(file) => file.known(settings, notices).map(Some),
            None => Ok(None),
        };
        let finished = lint::finish(self.run, self.documents.iter().map(|d| &**d), with, known)?;
        if let Some(file) = baseline {
            file.say_stale(&finished.stale, settings, notices);
        }
        let summary = Summary {
            suppressed: finished.suppressed,
            baselined: finished.baselined,
            oldest_baselined: finished.oldest.map(|day| day.to_string()),
            ..self.summary
        };
        Ok(FinalFindings { findings: finished.findings, summary, root: root.to_owned() })
    }
}

/// The findings to report.
#[derive(Debug)]
pub struct FinalFindings {
    pub(super) findings: Vec<Finding>,
    summary: Summary,
    root: Utf8PathBuf,
}

impl FinalFindings {
    /// Findings that no suppression or baseline applies to.
    pub fn new(mut findings: Vec<Finding>, root: &Utf8Path) -> Self {
        findings.iter_mut().for_each(mask_finding);
        Self { findings, summary: Summary::default(), root: root.to_owned() }
    }

    /// Whether a finding is at or above a severity; `None` means never. With `against`, the name of the side before,
    /// only new findings count and come first, and reports name it.
    pub fn fails_from(&mut self, from: Option<Severity>, against: Option<&str>) -> bool {
        self.summary.fail_on = from;
        self.summary.compared_with = against.map(str::to_owned);
        if against.is_some() {
            self.findings.sort_by_key(|f| f.is_existing);
        }
        let counts = |f: &&Finding| against.is_none() || !f.is_existing;
        from.is_some_and(|from| self.findings.iter().filter(counts).any(|f| f.severity >= from))
    }

    /// The counts.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The findings.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Keeps some findings.
    pub fn retain(&mut self, is_kept: impl Fn(&Finding) -> bool) {
        self.findings.retain(is_kept);
    }

    /// Whether there is no cluster and no finding.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.summary.clusters == 0
    }

    /// The base of the files' paths.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }
}
