//! Applies fixes to the files of a repository and checks each in all clusters that use the file.

use super::trials::{Fault, Trials};
use crate::clusters::Clusters;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use hcoplan_diagnostics::finding::{Applicability, FindingKey, Fix};
use hcoplan_lint::fix::{AppliedFix, DroppedFix, NewError};

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
}

/// The applied and skipped fixes.
#[derive(Debug, Default)]
pub struct FixResult {
    /// The changed files by path, before and after.
    pub files: BTreeMap<Utf8PathBuf, Rewritten>,
    /// The applied fixes.
    pub applied: Vec<AppliedFix>,
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
        let trials = Trials { settings, notices };
        let mut result = FixResult::default();
        let original = trials.first(self, exit)?;
        let mut now = original.clone();
        let mut rejected: Vec<(Finding, Fix, Fault)> = Vec::new();
        let mut chosen_once: BTreeSet<String> = BTreeSet::new();
        for round in 0..=MAX_ROUNDS {
            // A choice that was applied isn't applied again.
            let wanted = |finding: &Finding| {
                let named = request.chosen.iter().rev().find(|(rule, _)| rule == finding.rule.name);
                let named = named.filter(|_| !chosen_once.contains(&finding.message));
                named.map(|(_, number)| number.saturating_sub(1))
            };
            let mut choices = fix::choose_with(now.findings(), request.also_unsafe, wanted);
            // Choosing a fix by number accepts the error that it is offered with.
            choices.retain(|c| wanted(c.finding).is_some() || !rejected.iter().any(|(_, fix, _)| fix.is_same(c.fix)));
            choices.retain(|c| request.only.is_none_or(|only| c.fix.edits.iter().all(|e| e.file.path() == only)));
            let mut done = fix::round(&choices);
            result.dropped = std::mem::take(&mut done.dropped);
            if done.files.is_empty() || round == MAX_ROUNDS {
                result.exhausted = done.exhausted || !done.files.is_empty();
                break;
            }
            let (mut next, fault) = trials.with(&now, &done)?;
            if fault.is_some() {
                let known = rejected.len();
                for choice in &choices {
                    let one = fix::round(std::slice::from_ref(choice));
                    let fault = trials.with(&now, &one)?.1;
                    let is_wanted = matches!(fault, Some(Fault::Harm(_))) && wanted(choice.finding).is_some();
                    let fault = fault.filter(|_| !is_wanted);
                    rejected.extend(fault.map(|fault| (choice.finding.clone(), choice.fix.clone(), fault)));
                }
                if rejected.len() > known {
                    continue;
                }
                // Fixes that fail together are applied one at a time.
                done = fix::round(choices.get(..1).unwrap_or_default());
                next = trials.with(&now, &done)?.0;
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
            now = next;
        }
        exit.nothing_planned &= !request.writes || now.clusters.repo.clusters().is_empty();
        let has = |rule: &str, number: usize| {
            original.findings().iter().any(|f| f.rule.name == rule && f.fixes.len() >= number)
        };
        result.unmatched = request.chosen.iter().filter(|(rule, number)| !has(rule, *number)).cloned().collect();
        result.files.retain(|_, file| file.before.text() != file.text);
        let findings = now.findings();
        let why = |f: &Finding| Some((f.clone(), f.not_fixed.clone()?.into_owned()));
        result.not_in_sources = findings.iter().filter_map(why).collect();
        // Remaining findings refer to the files on disk: rewritten ones if the run writes them.
        let keys = FindingKey::of_all(original.findings()).into_iter().filter(|_| !request.writes);
        let known: HashMap<_, &Finding> = keys.zip(original.findings()).collect();
        let left = findings.iter().zip(FindingKey::of_all(findings)).filter(|(f, _)| !f.fixes.is_empty());
        result.remaining = left.map(|(f, key)| (*known.get(&key).unwrap_or(&f)).clone()).collect();
        // The caller needs only the file's text.
        if request.only.is_some() {
            result.remaining.clear();
        }
        let on_disk = if request.writes { &now } else { &original };
        on_disk.clusters.try_fixes(&mut result.remaining, settings, |_| true)?;
        result.rejected = now.rejected;
        for finding in &mut result.remaining {
            // Don't offer fixes that failed the check; offer harmful ones with the error they cause.
            finding.fixes.retain_mut(|fix| match rejected.iter().find(|(_, known, _)| known.is_same(fix)) {
                Some((.., Fault::Harm(error))) => {
                    if fix.applicability != Applicability::Suggestion {
                        error.demote(fix);
                    }
                    true
                }
                other => other.is_none(),
            });
        }
        for (finding, fix, fault) in rejected {
            match fault {
                Fault::Harm(error) => result.harmful.push((finding, fix, error)),
                Fault::Other(why) => {
                    let fix = fix::Choice { finding: &finding, fix: &fix }.applied();
                    result.dropped.push(DroppedFix { fix, why });
                }
            }
        }
        result.remaining.retain(|finding| !finding.fixes.is_empty());
        Ok(result)
    }
}
