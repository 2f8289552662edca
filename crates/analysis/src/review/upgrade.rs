//! An upgrade over several releases: reports the effects of every step once, with its release.

use super::stories::{add, says};
use super::{Entry, FindingLine, Level, Review, Story, level_of, lines};
use crate::prelude::*;
use hcoplan_explain::diff::semantic::EffectTime;
use hcoplan_explain::diff::{Task, ValueChange};

/// The steps of an upgrade, each with its target release and the changes of the clusters.
#[derive(Debug)]
pub struct Steps {
    /// The steps, in order.
    pub steps: Vec<(String, Vec<ClusterDiff>)>,
    /// Number of clusters examined.
    pub compared: usize,
    /// Clusters that already run the last release or a later one.
    pub already_there: Vec<String>,
}

impl Steps {
    /// The review of all steps.
    pub fn review(&self) -> Review<'_> {
        Review::of_steps(&self.steps, self.compared)
    }
}

/// A value to decide on: it changes unless a line is written.
#[derive(Debug)]
pub struct ValueRow<'a> {
    /// The change.
    pub value: &'a ValueChange,
    /// The entry that it is from.
    pub entry: &'a Entry<'a>,
}

/// The steps of an upgrade as a checklist.
#[derive(Debug, Default)]
pub struct Checklist<'a> {
    /// What to repair or change first.
    pub before: Vec<&'a Entry<'a>>,
    /// The values to decide on.
    pub values: Vec<ValueRow<'a>>,
    /// What happens in the meantime.
    pub during: Vec<&'a Entry<'a>>,
    /// What remains to do or to expect.
    pub after: Vec<&'a Entry<'a>>,
    /// Effects without an action.
    pub quiet: Vec<&'a Entry<'a>>,
}

impl<'a> Checklist<'a> {
    /// Sorts the entries of an upgrade's review.
    pub fn of(review: &'a Review<'a>) -> Self {
        let mut out = Self::default();
        for entry in review.entries() {
            let effect = &entry.effect;
            let part = match (effect.task, &effect.value) {
                (_, Some(value)) => {
                    out.values.push(ValueRow { value, entry });
                    continue;
                }
                (Task::Fix | Task::Patch, _) => &mut out.before,
                (Task::SetValue | Task::Note, _) if effect.action.is_some() && is_first(effect) => &mut out.before,
                (Task::Restart | Task::Recreate, _) => &mut out.during,
                (Task::Apply | Task::Remove | Task::Alert, _) => &mut out.after,
                _ if effect.action.is_some() => &mut out.after,
                _ if level_of(effect) <= Level::Warn && effect.impact != Impact::Security => &mut out.after,
                _ => &mut out.quiet,
            };
            part.push(entry);
        }
        out
    }
}

/// Whether to act before an upgrade: a boot fails, or what happens later is prevented by what is written until then.
fn is_first(effect: &Effect) -> bool {
    effect.impact <= Impact::BootFailure || effect.impact < Impact::Behaviour && effect.when != EffectTime::Now
}

/// The story of all steps: the cause is always the release. Each effect is one entry, with the releases that bring it
/// and the clusters that it happens to.
pub(super) fn story(steps: &[(String, Vec<ClusterDiff>)]) -> Story<'_> {
    let mut effects: Vec<Entry<'_>> = Vec::new();
    for (release, diff) in steps.iter().flat_map(|(release, diffs)| diffs.iter().map(move |diff| (release, diff))) {
        let entry = |effect| Entry { releases: vec![release], ..Entry::new(effect, vec![&diff.cluster]) };
        add(&mut effects, diff.effects().into_iter().map(entry).collect(), Entry::key, Entry::merge);
    }
    let findings = added(steps);
    effects.sort_by_key(|e| (e.effect.rank(), std::cmp::Reverse(e.clusters.len())));
    // A finding about a machine says more: what it needs, and where.
    let is_told = |e: &Entry<'_>| e.effect.is_of_machine && findings.iter().any(|line| says(&e.effect, line.finding));
    effects.retain(|entry| !is_told(entry));
    let mut story = Story { effects, findings, ..Story::default() };
    story.cover_findings();
    story
}

/// The findings at the end that didn't exist at the start, and all errors in between.
pub(super) fn added(steps: &[(String, Vec<ClusterDiff>)]) -> Vec<FindingLine<'_>> {
    let same = |a: &Finding, b: &Finding| (a.rule.name, &a.message) == (b.rule.name, &b.message);
    let mut found: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for diff in steps.iter().flat_map(|(_, diffs)| diffs) {
        let own = found.entry(&diff.cluster).or_default();
        let goes =
            |f: &&Finding| diff.findings_removed.iter().any(|gone| same(gone, f)) && f.severity < Severity::Error;
        own.retain(|f| !goes(f));
        own.extend(diff.findings_added.iter().filter(|f| !f.is_existing));
    }
    lines(found.into_values().flatten())
}

/// Number of findings of a severity, each in each of its clusters.
pub(super) fn count(lines: &[FindingLine<'_>], severity: Severity) -> usize {
    let found = lines.iter().filter(|line| line.finding.severity == severity);
    found.map(|line| line.clusters.len().max(1)).sum()
}
