//! Applies fixes to the files of a repository and checks each in all clusters that use the file.

use super::cluster_result::report_outcome;
use super::findings::FinalFindings;
use crate::ClusterTask;
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use hcoplan_diagnostics::finding::{Applicability, FindingKey, Fix};
use hcoplan_diagnostics::source::encode;
use hcoplan_lint::fix::{Applied, DroppedFix, NewError, Rewritten, Round};
use hcoplan_planner::verdict::VerdictKind;
use hcoplan_yaml::edit::Reason;

/// Maximum rounds of applying fixes and linting again.
pub const MAX_ROUNDS: usize = 10;

/// The fixes to apply, in addition to safe ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixRequest<'a> {
    /// Also unsafe ones, which change the cluster's behaviour.
    pub also_unsafe: bool,
    /// Rules, each with the number of its fix, starting at one.
    pub chosen: &'a [(String, usize)],
    /// The only file that may change.
    pub only: Option<&'a Utf8Path>,
    /// Whether the files are written: then the remaining findings are those of the new texts.
    pub writes: bool,
    /// Number of threads; `None` means one per core.
    pub jobs: Option<NonZeroUsize>,
}

/// The applied and skipped fixes.
#[derive(Debug, Default)]
pub struct FixResult {
    /// The changed files by path, before and after.
    pub files: BTreeMap<Utf8PathBuf, Rewritten>,
    /// The applied fixes.
    pub applied: Vec<Applied>,
    /// The fixes with another result than intended.
    pub dropped: Vec<DroppedFix>,
    /// Findings with fixes that were not applied.
    pub remaining: Vec<Finding>,
    /// Fixes that would cause an error in a cluster, with that error.
    pub harmful: Vec<(Finding, Fix, NewError)>,
    /// Findings of a build whose sources can't be fixed, with the reason.
    pub not_in_sources: Vec<(Finding, String)>,
    /// Clusters that would still be rejected.
    pub rejected: Vec<String>,
    /// Choices that match no fix.
    pub unmatched: Vec<(String, usize)>,
    /// Whether fixes remain after the last round.
    pub exhausted: bool,
}

/// Why a fix is rejected.
enum Fault {
    /// A cluster would get an error.
    Harm(NewError),
    /// The build has another result than intended.
    Other(Reason),
}

/// The clusters with changed files, and their findings.
struct Trial {
    clusters: Clusters,
    findings: FinalFindings,
    /// The findings of clusters that aren't selected but use the files.
    others: Vec<Finding>,
    /// The rejected clusters.
    rejected: Vec<String>,
}

impl Clusters {
    /// Applies fixes until none is left, without writing files. Reports read errors once.
    ///
    /// # Errors
    /// If the files can't be read or built, or the baseline is wrong.
    pub fn fix(
        self,
        request: &FixRequest<'_>,
        settings: &Settings,
        exit: &mut Exit,
        notices: &dyn Notices,
    ) -> Result<FixResult, Failure> {
        let mut result = FixResult::default();
        let first = self.lint_to_fix(request, settings, Some(exit), notices)?;
        let (original, mut now) = (first.findings.findings().to_vec(), first);
        let mut rejected_fixes: Vec<Fix> = Vec::new();
        let mut unproven: Vec<DroppedFix> = Vec::new();
        let mut chosen_once: BTreeSet<String> = BTreeSet::new();
        for round in 0..=MAX_ROUNDS {
            let findings = now.findings.findings().to_vec();
            // A choice that was applied isn't applied again.
            let wanted = |finding: &Finding| {
                let named = request.chosen.iter().rev().find(|(rule, _)| rule == finding.rule.name);
                let named = named.filter(|_| !chosen_once.contains(&finding.message));
                named.map(|(_, number)| number.saturating_sub(1))
            };
            let mut choices = fix::choose_with(&findings, request.also_unsafe, wanted);
            // Choosing a fix by number accepts the error that it is offered with.
            choices.retain(|c| wanted(c.finding).is_some() || !rejected_fixes.iter().any(|r| r.is_same(c.fix)));
            choices.retain(|c| request.only.is_none_or(|only| c.fix.edits.iter().all(|e| e.file.path() == only)));
            let mut done = fix::round(&choices);
            result.dropped = std::mem::take(&mut done.dropped);
            if done.files.is_empty() || round == MAX_ROUNDS {
                result.exhausted = done.exhausted || !done.files.is_empty();
                break;
            }
            let others = now.clusters.findings_of_others(done.files.keys(), settings, request.jobs);
            let before = (&*findings, &*others);
            now = now.with(&done, request, settings, notices)?;
            if now.fault(&done, before).is_some() {
                now.clusters = now.clusters.edited(texts(&done.files, |f| f.before.text()))?;
                let known = rejected_fixes.len();
                for choice in &choices {
                    let one = fix::round(std::slice::from_ref(choice));
                    now = now.with(&one, request, settings, notices)?;
                    match now.fault(&one, before) {
                        Some(Fault::Harm(error)) if wanted(choice.finding).is_none() => {
                            rejected_fixes.push(choice.fix.clone());
                            result.harmful.push((choice.finding.clone(), choice.fix.clone(), error));
                        }
                        Some(Fault::Other(why)) => {
                            rejected_fixes.push(choice.fix.clone());
                            let fix = one.applied.first().cloned();
                            unproven.extend(fix.map(|fix| DroppedFix { fix, why }));
                        }
                        _ => {}
                    }
                    now.clusters = now.clusters.edited(texts(&one.files, |f| f.before.text()))?;
                }
                if rejected_fixes.len() > known {
                    now = now.clusters.lint_to_fix(request, settings, None, notices)?;
                    continue;
                }
                // Fixes that fail together are applied one at a time.
                done = fix::round(choices.get(..1).unwrap_or_default());
                now = now.with(&done, request, settings, notices)?;
            }
            for (path, file) in done.files {
                let text = file.text.clone();
                result.files.entry(path).or_insert(file).text = text;
            }
            let is_done = |c: &&fix::Choice<'_>| done.applied.iter().any(|applied| applied.is_of(c.finding));
            let chosen = choices.iter().filter(|c| wanted(c.finding).is_some()).filter(is_done);
            let chosen: Vec<String> = chosen.map(|c| c.finding.message.clone()).collect();
            chosen_once.extend(chosen);
            result.applied.extend(done.applied);
        }
        exit.nothing_planned &= !request.writes || now.clusters.repo.clusters().is_empty();
        let has = |rule: &str, number: usize| original.iter().any(|f| f.rule.name == rule && f.fixes.len() >= number);
        result.unmatched = request.chosen.iter().filter(|(rule, number)| !has(rule, *number)).cloned().collect();
        result.dropped.append(&mut unproven);
        result.files.retain(|_, file| file.before.text() != file.text);
        result.rejected = now.rejected;
        let findings = now.findings.findings();
        let why = |f: &Finding| Some((f.clone(), f.not_fixed.clone()?.into_owned()));
        result.not_in_sources = findings.iter().filter_map(why).collect();
        result.remaining = findings.iter().filter(|f| !f.fixes.is_empty()).cloned().collect();
        // Remaining findings refer to the files on disk: rewritten ones if the run writes them.
        if !request.writes {
            let keys = FindingKey::of_all(&original).into_iter();
            let known: HashMap<_, &Finding> = keys.zip(&original).collect();
            let keys = FindingKey::of_all(findings);
            let left = findings.iter().zip(&keys).filter(|(f, _)| !f.fixes.is_empty());
            result.remaining = left.map(|(f, key)| (*known.get(key).unwrap_or(&f)).clone()).collect();
            now.clusters = now.clusters.edited(texts(&result.files, |f| f.before.text()))?;
        }
        // The caller needs only the file's text.
        if request.only.is_some() {
            result.remaining.clear();
        }
        now.clusters.try_fixes(&mut result.remaining, settings, request.jobs, |_| true)?;
        let error_of = |fix: &Fix| result.harmful.iter().find(|(_, harmful, _)| harmful.is_same(fix)).map(|(.., e)| e);
        for finding in &mut result.remaining {
            // Don't offer fixes that failed the check; offer harmful ones with the error they cause.
            finding.fixes.retain(|fix| error_of(fix).is_some() || !rejected_fixes.iter().any(|r| r.is_same(fix)));
            for fix in &mut finding.fixes {
                if let Some(error) = error_of(fix).filter(|_| fix.applicability != Applicability::Suggestion) {
                    error.demote(fix);
                }
            }
        }
        result.remaining.retain(|finding| !finding.fixes.is_empty());
        Ok(result)
    }

    /// The findings and the rejected clusters; with `exit`, also reports why clusters aren't planned.
    fn lint_to_fix(
        self,
        request: &FixRequest<'_>,
        settings: &Settings,
        mut exit: Option<&mut Exit>,
        notices: &dyn Notices,
    ) -> Result<Trial, Failure> {
        let work = ClusterTask { lint: Some(lint::Selection::of(settings)), ..ClusterTask::default() };
        let mut rejected = Vec::new();
        let findings = self.each(&work, request.jobs, notices, |outcome, progress| {
            if outcome.verdict.kind() == VerdictKind::Rejected {
                rejected.push(outcome.cluster.to_string());
            }
            if let Some(exit) = &mut exit {
                // Rejections don't fail this run, since fixes may repair them.
                let failed = exit.failed;
                progress.suspend(|| report_outcome(outcome, true, exit, notices));
                exit.failed = failed;
            }
        });
        let findings = findings.finished(None, settings, &self.root, notices)?;
        Ok(Trial { clusters: self, findings, others: Vec::new(), rejected })
    }
}

impl Trial {
    /// The same with the changed files of a round.
    fn with(
        self,
        round: &Round,
        request: &FixRequest<'_>,
        settings: &Settings,
        notices: &dyn Notices,
    ) -> Result<Self, Failure> {
        let clusters = self.clusters.edited(texts(&round.files, |f| &f.text))?;
        let others = clusters.findings_of_others(round.files.keys(), settings, request.jobs);
        Ok(Self { others, ..clusters.lint_to_fix(request, settings, None, notices)? })
    }

    /// The fault of a round, given the earlier findings of the selected clusters and of others.
    fn fault(&self, round: &Round, (before, others): (&[Finding], &[Finding])) -> Option<Fault> {
        fix::first_new_error(before, self.findings.findings())
            .or_else(|| fix::first_new_error(others, &self.others))
            .map(Fault::Harm)
            .or_else(|| self.clusters.is_as_intended(round).err().map(Fault::Other))
    }
}

/// One of the texts of each file, in the file's encoding.
pub(super) fn texts<F: Fn(&Rewritten) -> &str>(
    files: &BTreeMap<Utf8PathBuf, Rewritten>,
    text: F,
) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    files.iter().map(|(path, f)| (path.clone(), encode(text(f), f.before.encoding()))).collect()
}
