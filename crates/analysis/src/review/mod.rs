//! The review of a change: verdict, consequences, changes and new findings. Clusters with the same change are grouped.
//! Terminal, markdown, page and JSON print this model.

mod counts;
mod entry;
mod groups;
mod level;
mod names;
mod stories;
#[cfg(test)]
mod tests;
mod upgrade;

use crate::prelude::*;
use hcoplan_diagnostics::secret::InputText;
use hcoplan_planner::boot::variant;
use hcoplan_planner::verdict::VerdictKind;

pub use counts::Counts;
pub use entry::{Entry, InputDifference, level_of};
pub use groups::{FieldLine, ObjectLine};
pub use hcoplan_diagnostics::words::list;
use hcoplan_diagnostics::words::plural;
pub use level::Level;
pub use names::{cluster_names, clusters};
pub use stories::Story;
pub use upgrade::{Checklist, Steps, ValueRow};

/// Maximum existing findings shown of a rule.
const MAX_PER_RULE: usize = 3;

/// The review of a change.
#[derive(Debug)]
pub struct Review<'a> {
    /// The level of the whole change.
    pub level: Level,
    /// What each cause does, the worst first.
    pub stories: Vec<Story<'a>>,
    /// Whether no cluster differs in anything but findings.
    only_findings: bool,
    /// Added findings, the worst first.
    pub added: Vec<FindingLine<'a>>,
    /// Number of clusters compared.
    pub compared: usize,
    /// Clusters that are rejected, break or aren't planned, by name.
    verdicts: BTreeMap<&'a str, VerdictKind>,
    /// The number of those with the same result before the change.
    failing: usize,
    /// Whether existing findings count.
    existing_count: bool,
    /// The number of clusters accepted now and rejected before, whose previous state is unknown.
    unknown_before: usize,
    /// Findings that exist before and after the change.
    pub standing: Vec<&'a Finding>,
    /// The counts.
    pub counts: Counts,
}

/// An added or removed finding, in one or more clusters.
#[derive(Debug, Clone)]
pub struct FindingLine<'a> {
    /// The first finding.
    pub finding: &'a Finding,
    /// The clusters' names, in order.
    pub clusters: Vec<&'a str>,
}

impl FindingLine<'_> {
    /// What the lines of several clusters share.
    fn key(&self) -> String {
        let Finding { rule, severity, message, .. } = self.finding;
        format!("{} {severity:?} {message}", rule.name)
    }
}

/// Clusters that are rejected, break or aren't planned, with the worst verdict of each.
fn failing_verdicts<'a>(diffs: impl Iterator<Item = &'a ClusterDiff>) -> BTreeMap<&'a str, VerdictKind> {
    let mut out = BTreeMap::new();
    for diff in diffs.filter(|d| d.verdict.fails()) {
        let kind = diff.verdict.kind();
        let known = out.entry(&*diff.cluster).or_insert(kind);
        *known = kind.min(*known);
    }
    out
}

impl<'a> Review<'a> {
    /// Reviews the differences of clusters, of which `compared` were examined. `existing_count` tells whether existing
    /// findings count.
    pub fn of(diffs: &'a [ClusterDiff], compared: usize, all: &'a [Finding], existing_count: bool) -> Self {
        let standing: Vec<&Finding> = all.iter().filter(|f| f.is_existing).collect();
        let differing: Vec<&ClusterDiff> = diffs.iter().filter(|c| !c.is_empty()).collect();
        let mut review = Self {
            level: Level::Good,
            stories: stories::of(&differing, all),
            only_findings: differing.iter().all(|d| d.has_only_findings()),
            added: lines(all.iter().filter(|f| !f.is_existing)),
            compared,
            verdicts: failing_verdicts(diffs.iter()),
            failing: diffs.iter().filter(|d| d.is_unchanged && d.verdict.fails()).count(),
            existing_count,
            unknown_before: differing.iter().filter(|d| !d.is_rejected() && d.rejected_before.is_some()).count(),
            standing,
            counts: Counts::of(diffs).with_findings(all),
        };
        review.level = review.judged();
        review
    }

    /// Reviews an upgrade: reports the effects of all steps once. `compared` clusters were examined.
    pub fn of_steps(steps: &'a [(String, Vec<ClusterDiff>)], compared: usize) -> Self {
        let all = || steps.iter().flat_map(|(_, diffs)| diffs);
        let mut counts = Counts::of(all());
        let differing = all().filter(|diff| !diff.is_empty());
        counts.differing = differing.map(|diff| &*diff.cluster).collect::<BTreeSet<&str>>().len();
        let mut review = Self {
            stories: vec![upgrade::story(steps)],
            only_findings: all().all(ClusterDiff::has_only_findings),
            added: upgrade::added(steps),
            verdicts: failing_verdicts(all()),
            counts,
            ..Self::of(&[], compared, &[], true)
        };
        review.counts.findings_added = Severity::ALL.map(|severity| upgrade::count(&review.added, severity));
        review.level = review.judged();
        review
    }

    fn judged(&self) -> Level {
        let new = self.added.iter().map(|line| Level::from(line.finding.severity));
        let effects = self.entries().map(|e| level_of(&e.effect));
        let before = self.errors_before() > 0 || self.failing > 0;
        let standing = before.then_some(if self.existing_count { Level::Bad } else { Level::Warn });
        let worst = new.chain(effects).chain(standing).min();
        let any = match self.counts.differing {
            _ if self.unknown_before > 0 || self.compared == 0 => Level::Warn,
            0 => Level::Good,
            _ => Level::Calm,
        };
        worst.map_or(any, |worst| worst.min(any))
    }

    /// The consequences of all stories.
    pub fn entries(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.stories.iter().flat_map(|story| &story.effects)
    }

    /// The entry named in the verdict.
    pub fn worst(&self) -> Option<&Entry<'a>> {
        let first = self.entries().min_by_key(|e| (e.effect.rank(), std::cmp::Reverse(e.clusters.len())))?;
        (first.effect.impact <= Impact::Alert).then_some(first)
    }

    /// What causes the verdict, in which clusters, and whether it is certain: the worst consequence, with some of its
    /// subjects, or a new error that is worse.
    pub fn cause(&self, most: usize) -> Option<(String, &[&'a str], bool)> {
        let error = self.added.first().filter(|line| line.finding.is_error());
        match (self.worst(), error) {
            (Some(entry), _) if error.is_none() || level_of(&entry.effect) == Level::Bad => {
                Some((entry.sentence(most), &entry.clusters, entry.effect.certain))
            }
            (_, error) => error.map(|line| (line.finding.message.clone(), &*line.clusters, true)),
        }
    }

    /// A word for programs: `no-changes`, `changes`, `not-planned`, `errors`, or the worst consequence such as `data-loss`.
    pub fn word(&self) -> String {
        match self.worst().map(|e| &e.effect) {
            Some(e) if e.certain && e.impact <= Impact::BootFailure => return variant(&e.impact).0,
            _ if self.counts.findings_added[0] > 0 => "errors",
            _ if self.existing_count && (self.errors_before() > 0 || self.failing > 0) => "errors",
            Some(e) => return variant(&e.impact).0,
            None if self.counts.unplanned > 0 => "not-planned",
            None if self.counts.differing > 0 => "changes",
            None => "no-changes",
        }
        .to_owned()
    }

    /// The verdict, without a full stop: `data loss in 3 of 12 clusters, disruption in 4; 2 new errors`.
    pub fn verdict(&self) -> String {
        self.outcome().join(", ") + &self.brought()
    }

    /// The verdict with its worst severity only.
    pub fn short_verdict(&self) -> String {
        self.outcome().into_iter().next().unwrap_or_default() + &self.brought()
    }

    /// The severities with their clusters, the worst first: at least one.
    fn outcome(&self) -> Vec<String> {
        if self.compared == 0 {
            return vec!["no HyperConverged was planned".to_owned()];
        }
        let all = plural(self.compared, "cluster");
        // One that is alone isn't counted.
        let in_some = |n: String| if self.compared == 1 { String::new() } else { format!(" in {n}") };
        let of_all = |n: usize| in_some(format!("{n} of {all}"));
        let Some(worst) = self.worst() else {
            let only_findings = self.only_findings && self.entries().next().is_none();
            return vec![match self.counts.differing {
                n if self.counts.unplanned > 0 && (n == 0 || only_findings) => "changed, not planned".to_owned(),
                0 if self.failing > 0 => {
                    let some =
                        if self.failing == self.compared { String::new() } else { format!("{} of ", self.failing) };
                    format!("no changes in {all}, {some}which can't work, as before")
                }
                0 => format!("no changes in {all}"),
                n if self.unknown_before > 0 => {
                    let which =
                        if self.compared == 1 { String::new() } else { format!("{} of which ", self.unknown_before) };
                    format!("changes{}, {which}rejected before", of_all(n))
                }
                n if only_findings => format!("only findings change{}", of_all(n)),
                n if self.brought().is_empty() => {
                    format!("changes{}, none of them known to break anything", of_all(n))
                }
                n => format!("changes{}", of_all(n)),
            }];
        };
        let effect = &worst.effect;
        let clusters_of = |impact, certain| -> BTreeSet<&str> {
            let alike = self.entries().filter(|e| (e.effect.impact, e.effect.certain) == (impact, certain));
            alike.flat_map(|e| e.clusters.iter().copied()).collect()
        };
        let clusters = clusters_of(effect.impact, effect.certain);
        let of = |kind| clusters.iter().filter(|name| self.verdicts.get(*name) == Some(&kind)).count();
        let failing = [
            (of(VerdictKind::Rejected), "rejected"),
            (of(VerdictKind::Breaks), "operator fails"),
            (of(VerdictKind::NotPlanned), "not planned"),
        ];
        let failing = failing.into_iter().filter(|(n, _)| *n > 0);
        let (mut parts, mut named) = (Vec::new(), Vec::new());
        if effect.impact == Impact::Stops || effect.is_refusal {
            parts.extend(failing.map(|(n, what)| format!("{what}{}", of_all(n))));
            named.extend((!parts.is_empty()).then_some(effect.impact));
        }
        // Every severity once, with its clusters.
        let mut kinds: Vec<&Effect> = self.entries().map(|e| &e.effect).filter(|e| e.impact <= Impact::Alert).collect();
        kinds.sort_by_key(|effect| effect.rank());
        for Effect { impact, certain, .. } in kinds {
            if !named.contains(impact) {
                let possible = if *certain { "" } else { "possible " };
                let n = clusters_of(*impact, *certain).len();
                let place = if parts.is_empty() { of_all(n) } else { in_some(n.to_string()) };
                parts.push(format!("{possible}{}{place}", impact.title()));
                named.push(*impact);
            }
        }
        parts
    }

    /// The findings' part of the verdict.
    fn brought(&self) -> String {
        let counts = self.counts.findings_added.into_iter().zip(["new error", "new warning", "new info"]);
        let parts = counts.filter(|(n, _)| *n > 0).map(|(n, noun)| plural(n, noun));
        let mut out = joined(parts, ", ");
        if !out.is_empty() {
            out.insert_str(0, "; ");
        }
        let before = self.errors_before();
        if before > 0 {
            out.push_str(&format!("; {} from before", plural(before, "error")));
        }
        out
    }

    /// Existing findings that are shown again: errors, and files that are not read, trusted or planned, because the
    /// result is incomplete then. Of the latter, only the first of each rule.
    pub fn shown_again(&self) -> Vec<&'a Finding> {
        let mut of_rule: BTreeMap<&str, usize> = BTreeMap::new();
        let mut is_shown = |finding: &Finding| {
            if finding.is_error() {
                return true;
            }
            let shown = of_rule.entry(finding.rule.name).or_default();
            *shown += 1;
            finding.cluster.is_none() && *shown <= MAX_PER_RULE
        };
        let standing = self.standing.iter().copied();
        standing.filter(|finding| is_shown(finding)).collect()
    }

    /// The same as lines.
    pub fn shown_again_as_lines(&self) -> Vec<FindingLine<'a>> {
        lines(self.shown_again())
    }

    fn errors_before(&self) -> usize {
        let standing = self.standing.iter();
        standing.filter(|f| f.is_error()).count()
    }

    /// The verdict and the worst consequence, in one line of at most `most` characters.
    pub fn summary(&self, most: usize) -> String {
        let text = match self.cause(3) {
            Some((sentence, ..)) => format!("{}: {sentence}", self.short_verdict()),
            None => self.verdict(),
        };
        // Masks before cutting, because a cut secret isn't recognised.
        let text = InputText::new(&text).line();
        match text.char_indices().nth(most) {
            Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
            None => text.into_owned(),
        }
    }

    /// The counts for the last line.
    pub fn totals(&self) -> String {
        let Counts { add, change, remove, with_objects, noise, .. } = self.counts;
        let left_out = match noise {
            0 => String::new(),
            n => format!(" ({n} more without effect)"),
        };
        let of_all = match self.compared {
            all if all == 1 || add + change + remove == 0 => String::new(),
            all => format!(" in {with_objects} of {}", plural(all, "cluster")),
        };
        let counts = [(add, "to add"), (change, "to change"), (remove, "to remove")];
        let parts: Vec<String> =
            counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let parts = if parts.is_empty() { "no changed objects".to_owned() } else { parts.join(", ") };
        format!("{parts}{of_all}{left_out}")
    }
}

/// Groups equal findings with their clusters, the worst first.
fn lines<'a>(all: impl IntoIterator<Item = &'a Finding>) -> Vec<FindingLine<'a>> {
    let mut out: Vec<FindingLine<'a>> = Vec::new();
    let mut known = BTreeMap::new();
    for finding in all {
        let clusters: Vec<&str> = finding.clusters().collect();
        // Findings without a cluster are distinguished by their file.
        let file = clusters.is_empty().then(|| finding.file());
        let key = |file| (finding.rule.name, finding.severity, &*finding.message, file);
        let Some(at) = known.get(&key(file)) else {
            known.entry(key(None)).or_insert(out.len());
            known.insert(key(file), out.len());
            out.push(FindingLine { finding, clusters });
            continue;
        };
        let line: &mut FindingLine<'a> = &mut out[*at];
        for cluster in clusters {
            if line.clusters.last() != Some(&cluster) {
                line.clusters.push(cluster);
            }
        }
    }
    sort_by_severity(&mut out);
    out
}

/// Sorts findings, the worst first.
fn sort_by_severity(lines: &mut [FindingLine<'_>]) {
    lines.sort_by_key(|line| std::cmp::Reverse(line.finding.severity));
}
