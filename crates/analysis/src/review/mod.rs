//! The review of a change: the verdict, its consequences, the changes, and the new findings. Clusters with the same
//! change are grouped. Terminal, markdown, page and JSON print this one model.

mod counts;
mod groups;
mod level;
mod names;
#[cfg(test)]
mod tests;
mod upgrade;

use std::collections::{BTreeMap, BTreeSet};

use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_diagnostics::secret::InputText;
use hcoplan_diagnostics::source::Location;
use hcoplan_explain::diff::semantic::Impact;
use hcoplan_explain::diff::{ClusterDiff, Effect, Task};
use hcoplan_planner::verdict::VerdictKind;

pub use counts::Counts;
pub use groups::{FieldLine, Group, ObjectLine};
pub use level::Level;
pub use names::{cluster_names, clusters, list};
pub use upgrade::Steps;

/// Findings of one rule that are shown although they were there before.
const MOST_OF_A_RULE: usize = 3;

/// A change, as it is reviewed.
#[derive(Debug)]
pub struct Review<'a> {
    /// How the change is to be taken.
    pub level: Level,
    /// What follows from it, in the one order: [`Effect::rank`].
    pub entries: Vec<Entry<'a>>,
    /// What changes, by clusters that change alike.
    pub groups: Vec<Group<'a>>,
    /// Findings that come, the worst first.
    pub added: Vec<FindingLine<'a>>,
    /// Findings that go.
    pub removed: Vec<FindingLine<'a>>,
    /// How many clusters were examined.
    pub compared: usize,
    /// Those that are rejected, break or aren't planned with the change, by name.
    verdicts: BTreeMap<&'a str, VerdictKind>,
    /// Those that are rejected, break or aren't planned, and are the same before the change.
    failing: BTreeSet<&'a str>,
    /// Whether findings count that the side before has, too.
    existing_count: bool,
    /// Those that are accepted with the change and were rejected before: what they hold isn't known.
    unknown_before: BTreeSet<&'a str>,
    /// Findings that are there with the change and without it.
    pub standing: Vec<&'a Finding>,
    /// The numbers.
    pub counts: Counts,
}

/// One thing that follows from the change, in one cluster or more.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// What it is.
    pub effect: Effect,
    /// The clusters' names, in their order.
    pub clusters: Vec<&'a str>,
    /// What brings it about.
    pub because: Vec<InputDifference<'a>>,
    /// In an upgrade, the releases with which it comes.
    pub releases: Vec<&'a str>,
}

/// A difference of the inputs that something follows from.
#[derive(Debug, Clone)]
pub struct InputDifference<'a> {
    /// What it is: `spec.evictionStrategy`.
    pub what: &'a str,
    /// Whether it is only in the old inputs.
    pub gone: bool,
    /// Where it is written, cluster by cluster.
    pub places: Vec<&'a Location>,
}

/// A finding that comes or goes, in one cluster or more.
#[derive(Debug, Clone)]
pub struct FindingLine<'a> {
    /// The first of them.
    pub finding: &'a Finding,
    /// The clusters' names, in their order.
    pub clusters: Vec<&'a str>,
}

/// The clusters that are rejected, break or aren't planned, the worst verdict of each.
fn failing_verdicts<'a>(diffs: impl Iterator<Item = &'a ClusterDiff>) -> BTreeMap<&'a str, VerdictKind> {
    let mut out = BTreeMap::new();
    for diff in diffs.filter(|d| d.verdict.fails()) {
        let kind = diff.verdict.kind();
        out.entry(&*diff.cluster).and_modify(|known: &mut VerdictKind| *known = kind.min(*known)).or_insert(kind);
    }
    out
}

/// The names of the clusters that are rejected, break or aren't planned, as before the change.
fn failing_as_before(diffs: &[ClusterDiff]) -> BTreeSet<&str> {
    let failing = diffs.iter().filter(|d| d.is_unchanged && d.verdict.fails());
    failing.map(|d| &*d.cluster).collect()
}

impl<'a> Review<'a> {
    /// The review of what differs in clusters, `compared` of which were examined. `existing_count` says whether
    /// findings count that the side before has, too.
    pub fn of(diffs: &'a [ClusterDiff], compared: usize, all: &'a [Finding], existing_count: bool) -> Self {
        let standing: Vec<&Finding> = all.iter().filter(|f| f.is_existing).collect();
        let differing: Vec<&ClusterDiff> = diffs.iter().filter(|c| !c.is_empty()).collect();
        let entries = entries(&differing);
        let mut review = Self {
            level: Level::Good,
            entries,
            groups: groups::of(&differing),
            added: lines(all.iter().filter(|f| !f.is_existing).map(|f| (f, f.clusters().collect()))),
            removed: lines(differing.iter().flat_map(|d| d.findings_removed.iter().map(|f| (f, vec![&*d.cluster])))),
            compared,
            verdicts: failing_verdicts(diffs.iter()),
            failing: failing_as_before(diffs),
            existing_count,
            unknown_before: differing
                .iter()
                .filter(|d| !d.is_rejected() && d.rejected_before.is_some())
                .map(|d| &*d.cluster)
                .collect(),
            standing,
            counts: Counts::of(diffs).with_findings(all),
        };
        review.level = review.judged();
        review
    }

    /// The review of an upgrade: the changes of each step, each reported once. `compared` clusters were examined.
    pub fn of_steps(steps: &'a [(String, Vec<ClusterDiff>)], compared: usize) -> Self {
        let mut counts = Counts::default();
        for (_, diffs) in steps {
            counts = counts.plus(Counts::of(diffs));
        }
        let names: BTreeSet<&str> = steps
            .iter()
            .flat_map(|(_, diffs)| diffs.iter().filter(|d| !d.is_empty()))
            .map(|diff| &*diff.cluster)
            .collect();
        counts.differing = names.len();
        let mut review = Self {
            level: Level::Good,
            entries: upgrade::entries(steps),
            groups: Vec::new(),
            added: upgrade::added(steps),
            removed: Vec::new(),
            compared,
            verdicts: failing_verdicts(steps.iter().flat_map(|(_, diffs)| diffs)),
            failing: BTreeSet::new(),
            existing_count: true,
            unknown_before: BTreeSet::new(),
            standing: Vec::new(),
            counts,
        };
        review.counts.errors_added = upgrade::errors(&review.added);
        review.level = review.judged();
        review
    }

    fn judged(&self) -> Level {
        let new = self.added.iter().map(|line| Level::from(line.finding.severity));
        let effects = self.entries.iter().map(|e| level_of(&e.effect));
        let before = self.errors_before() > 0 || !self.failing.is_empty();
        let standing = before.then_some(if self.existing_count { Level::Bad } else { Level::Warn });
        let worst = new.chain(effects).chain(standing).min();
        let any = match self.counts.differing {
            _ if !self.unknown_before.is_empty() || self.compared == 0 => Level::Warn,
            0 => Level::Good,
            _ => Level::Calm,
        };
        worst.map_or(any, |worst| worst.min(any))
    }

    /// The entry that the verdict is about.
    fn worst(&self) -> Option<&Entry<'a>> {
        let first = self.entries.first()?;
        (first.effect.impact <= Impact::Security).then_some(first)
    }

    /// A word for programs: `no-changes`, `changes`, `errors`, or the worst that follows, as in
    /// `data-loss`.
    pub fn word(&self) -> &'static str {
        match self.worst().map(|e| &e.effect) {
            Some(e) if e.certain && e.impact <= Impact::BootFailure => e.impact.as_str(),
            _ if self.counts.errors_added > 0 => "errors",
            _ if self.existing_count && (self.errors_before() > 0 || !self.failing.is_empty()) => "errors",
            Some(e) => e.impact.as_str(),
            None if self.counts.differing > 0 => "changes",
            None => "no-changes",
        }
    }

    /// The verdict, without a full stop: `data loss in 3 of 12 clusters; 2 new errors`.
    pub fn verdict(&self) -> String {
        if self.compared == 0 {
            return "no HyperConverged was planned".to_owned() + &self.brought();
        }
        let all = names::count_of(self.compared, "cluster");
        let Some(worst) = self.worst() else {
            return match self.counts.differing {
                0 if !self.failing.is_empty() => {
                    let n = self.failing.len();
                    format!("no changes in {all}, {n} of which can't work, as before") + &self.brought()
                }
                0 => format!("no changes in {all}") + &self.brought(),
                n if !self.unknown_before.is_empty() => {
                    let unknown = self.unknown_before.len();
                    format!("changes in {n} of {all}, {unknown} of which rejected before") + &self.brought()
                }
                n => match self.brought() {
                    new if new.is_empty() => {
                        format!("changes in {n} of {all}, none of them known to break anything")
                    }
                    new => format!("changes in {n} of {all}{new}"),
                },
            };
        };
        let effect = &worst.effect;
        let alike =
            self.entries.iter().filter(|e| (e.effect.impact, e.effect.certain) == (effect.impact, effect.certain));
        let clusters: BTreeSet<&str> = alike.flat_map(|e| e.clusters.iter().copied()).collect();
        let of = |kind| clusters.iter().filter(|name| self.verdicts.get(*name) == Some(&kind)).count();
        let failing = [
            (of(VerdictKind::Rejected), "rejected"),
            (of(VerdictKind::Breaks), "operator fails"),
            (of(VerdictKind::NotPlanned), "not planned"),
        ];
        if effect.impact == Impact::Stops && failing.iter().any(|(n, _)| *n > 0) {
            let parts = failing.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} in {n} of {all}"));
            return format!("{}{}", parts.collect::<Vec<_>>().join(", "), self.brought());
        }
        let possible = if effect.certain { "" } else { "possible " };
        let (title, n) = (effect.impact.title(), clusters.len());
        format!("{possible}{title} in {n} of {all}{}", self.brought())
    }

    /// What findings add to the verdict.
    fn brought(&self) -> String {
        let mut out = match (self.counts.errors_added, self.counts.warnings_added) {
            (0, 0) => String::new(),
            (0, n) => format!("; {}", names::count_of(n, "new warning")),
            (n, _) => format!("; {}", names::count_of(n, "new error")),
        };
        let before = self.errors_before();
        if before > 0 {
            out.push_str(&format!("; {} from before", names::count_of(before, "error")));
        }
        out
    }

    /// Of the findings that were there before, those that are shown again: errors, and what says that
    /// something was not read, not trusted or not planned, without which the view would seem whole. Of the
    /// latter the first few of a rule.
    pub fn shown_again(&self) -> Vec<&'a Finding> {
        let mut of_rule: BTreeMap<&str, usize> = BTreeMap::new();
        let mut is_shown = |finding: &Finding| {
            if finding.severity == Severity::Error {
                return true;
            }
            let shown = of_rule.entry(finding.rule.name).or_default();
            *shown += 1;
            finding.cluster.is_none() && *shown <= MOST_OF_A_RULE
        };
        let standing = self.standing.iter().copied();
        standing.filter(|finding| is_shown(finding)).collect()
    }

    /// The same as lines.
    pub fn shown_again_as_lines(&self) -> Vec<FindingLine<'a>> {
        lines(self.shown_again().into_iter().map(|f| (f, f.clusters().collect())))
    }

    fn errors_before(&self) -> usize {
        let standing = self.standing.iter();
        standing.filter(|f| f.severity == Severity::Error).count()
    }

    /// The verdict and the worst that follows, in one line of at most so many characters.
    pub fn summary(&self, most: usize) -> String {
        let text = match self.worst() {
            Some(worst) => format!("{}: {}", self.verdict(), worst.sentence(3)),
            None => self.verdict(),
        };
        // Masks before cutting: half a secret can't be recognised by its form.
        let text = InputText::new(&text).line();
        match text.char_indices().nth(most) {
            Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
            None => text.into_owned(),
        }
    }

    /// The numbers, as the last line has them.
    pub fn totals(&self) -> String {
        let Counts { add, change, remove, differing, noise, .. } = self.counts;
        let left_out = match noise {
            0 => String::new(),
            n => format!(" ({n} more without effect)"),
        };
        let all = names::count_of(self.compared, "cluster");
        format!("{add} to add, {change} to change, {remove} to remove in {differing} of {all}{left_out}")
    }

    /// The entries of an upgrade as a checklist: what has to be done, what to expect, what only
    /// happens where it applies, and the rest.
    pub fn checklist(&self) -> [(&'static str, Vec<&Entry<'a>>); 7] {
        let part = |task: Task| {
            let found = self.entries.iter().filter(move |e| e.effect.certain);
            found.filter(move |e| e.effect.task == task).collect::<Vec<_>>()
        };
        [
            ("Repairs before the upgrade", part(Task::Mend)),
            ("Patches to change or remove", part(Task::Patch)),
            ("Values to write down to keep them", part(Task::Write)),
            ("Lines to remove afterwards", part(Task::TakeOut)),
            ("Effects to expect", [part(Task::Restart), self.known(true)].concat()),
            ("Possible effects", self.entries.iter().filter(|e| !e.effect.certain).collect()),
            ("Other effects", self.known(false)),
        ]
    }

    /// What is certain and makes no work: what is grave, or the rest.
    fn known(&self, grave: bool) -> Vec<&Entry<'a>> {
        let entries = self
            .entries
            .iter()
            .filter(|e| e.effect.certain && e.effect.task == Task::Know && (e.effect.impact <= Impact::Alert) == grave);
        entries.collect()
    }

    /// What brings about everything that has a cause, where that is one thing.
    pub fn only_cause(&self) -> Option<InputDifference<'a>> {
        let fields = |line: &ObjectLine<'a>| -> Vec<InputDifference<'a>> {
            line.because.iter().chain(line.fields.iter().flat_map(|f| &f.because)).cloned().collect()
        };
        let of_objects = self.groups.iter().flat_map(|g| g.lines.iter().flat_map(fields));
        let mut all = self.entries.iter().flat_map(|e| &e.because).cloned().chain(of_objects);
        let mut cause = all.next()?;
        for other in all {
            if other.what != cause.what {
                return None;
            }
            cause.places.extend(other.places);
        }
        let mut known = BTreeSet::new();
        cause.places.retain(|place| known.insert((place.file.path(), place.start())));
        Some(cause)
    }
}

/// How an effect is to be taken.
pub fn level_of(effect: &Effect) -> Level {
    match (effect.impact, effect.certain) {
        (Impact::Stops | Impact::DataLoss | Impact::BootFailure, true) => Level::Bad,
        (Impact::Better, _) => Level::Good,
        (Impact::Images | Impact::Behaviour, _) => Level::Calm,
        _ => Level::Warn,
    }
}

impl Entry<'_> {
    /// From which `--fail-on` on it fails a run; a rejection or a failing operator does so by itself.
    pub fn severity(&self) -> Option<Severity> {
        level_of(&self.effect).severity()
    }

    /// The sentence, with at most so many subjects by name; it has no full stop.
    pub fn sentence(&self, most: usize) -> String {
        let effect = &self.effect;
        let text = if effect.subjects.is_empty() {
            effect.text.clone()
        } else {
            let names = list(&effect.subjects, most);
            match effect.subjects.len() {
                1 => effect.text.replace("{}", &names),
                _ => about_several(&effect.text, &names),
            }
        };
        match effect.machines.as_slice() {
            [] => text,
            machines => format!("{text}; in this repository: {}", list(machines, most)),
        }
    }
}

/// A sentence of ours about several things instead of one: the words before and behind the names.
fn about_several(text: &str, names: &str) -> String {
    const WITHIN: [(&str, &str); 8] = [
        (" for it", " for them"),
        (" behind it", " behind them"),
        ("the volume of its own name", "the volumes of their own names"),
        ("a volume of its own name", "volumes of their own names"),
        (" of its name with", "s of their names with"),
        ("the DataSource leads", "the DataSources lead"),
        ("its DataSource,", "their DataSources,"),
        ("DataSource and last disk stay", "DataSources and last disks stay"),
    ];
    const BEHIND: [(&str, &str); 10] = [
        (" stops ", " stop "),
        (" is ", " are "),
        (" leads ", " lead "),
        (" moves ", " move "),
        (" goes", " go"),
        (" appears", " appear"),
        (" changes: others get its", " change: others get their"),
        (" grants ", " grant "),
        (" allows ", " allow "),
        (" starts ", " start "),
    ];
    let Some((before, behind)) = text.split_once("{}") else {
        return text.to_owned();
    };
    // `the golden image {}`: several are `the golden images`.
    let noun = before.rsplit(' ').nth(1).unwrap_or_default();
    let nouns = ["image", "DataSource", "name", "feature", "gate", "alert", "binding", "role", "device"];
    let before = match noun {
        "policy" => before.replace("policy ", "policies "),
        noun if nouns.contains(&noun) => format!("{}s ", before.trim_end()),
        _ => before.to_owned(),
    };
    let mut behind = behind.to_owned();
    for (one, several) in WITHIN {
        behind = behind.replace(one, several);
    }
    for (one, several) in BEHIND {
        if let Some(rest) = behind.strip_prefix(one) {
            behind = format!("{several}{rest}");
            break;
        }
    }
    format!("{before}{names}{behind}")
}

fn entries<'a>(diffs: &[&'a ClusterDiff]) -> Vec<Entry<'a>> {
    let mut out: Vec<Entry<'a>> = Vec::new();
    for diff in diffs {
        for effect in diff.effects() {
            let because = because(diff, &effect.causes);
            let what = |all: &[InputDifference<'_>]| -> Vec<String> { all.iter().map(|b| b.what.to_owned()).collect() };
            let known = out.iter_mut().find(|e| {
                e.effect.is_like(&effect) && e.effect.subjects == effect.subjects && what(&e.because) == what(&because)
            });
            let Some(known) = known else {
                out.push(Entry { effect, clusters: vec![&diff.cluster], because, releases: Vec::new() });
                continue;
            };
            known.clusters.push(&diff.cluster);
            for (one, more) in known.because.iter_mut().zip(because) {
                one.places.extend(more.places);
            }
            for machine in effect.machines {
                if !known.effect.machines.contains(&machine) {
                    known.effect.machines.push(machine);
                }
            }
        }
    }
    // Stable: what is as bad stays in the clusters' order.
    out.sort_by_key(|e| (e.effect.rank(), std::cmp::Reverse(e.clusters.len())));
    out
}

/// The causes with these numbers.
fn because<'a>(diff: &'a ClusterDiff, causes: &[usize]) -> Vec<InputDifference<'a>> {
    let all = &diff.comparison.causes;
    let found = causes.iter().filter_map(|i| all.get(*i));
    let one = |cause: &'a hcoplan_explain::diff::Cause| InputDifference {
        what: &cause.what,
        gone: cause.gone,
        places: cause.place.iter().collect(),
    };
    found.map(one).collect()
}

fn file_of(finding: &Finding) -> Option<&camino::Utf8Path> {
    finding.location.as_ref().map(|place| place.file.path())
}

/// Findings with their clusters, those that say the same as one line, the worst first.
fn lines<'a>(all: impl Iterator<Item = (&'a Finding, Vec<&'a str>)>) -> Vec<FindingLine<'a>> {
    let mut out: Vec<FindingLine<'a>> = Vec::new();
    let mut known = BTreeMap::new();
    for (finding, clusters) in all {
        // Findings about no cluster are distinguished by their file only.
        let file = clusters.is_empty().then(|| file_of(finding));
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
    out.sort_by_key(|line| std::cmp::Reverse(line.finding.severity));
    out
}
