//! Stories: what one cause does, in all clusters where it does the same.

use super::entry::{Entry, InputDifference, because};
use super::groups::{ObjectLine, object_lines};
use super::{FindingLine, Level, lines, sort_by_severity};
use crate::prelude::*;
use hcoplan_explain::diff::Task;

/// What one cause does: an edited line, a fact of the inventory, or several of them together.
#[derive(Debug, Default)]
pub struct Story<'a> {
    /// The causes; empty for a cluster as a whole, and for findings of no cluster.
    pub causes: Vec<InputDifference<'a>>,
    /// The clusters, in order; empty for findings of no cluster.
    pub clusters: Vec<&'a str>,
    /// Whether the clusters are added or removed as a whole.
    pub whole: Option<Kind>,
    /// The cluster's name before, if it changes.
    pub moved_from: Option<&'a str>,
    /// The consequences, the worst first.
    pub effects: Vec<Entry<'a>>,
    /// Findings that no consequence covers, the worst first.
    pub findings: Vec<FindingLine<'a>>,
    /// Findings that end, and that no consequence covers.
    pub removed: Vec<FindingLine<'a>>,
    /// The changed objects.
    pub objects: Vec<ObjectLine<'a>>,
}

impl<'a> Story<'a> {
    /// Its worst level.
    pub fn worst(&self) -> Level {
        let effects = self.effects.iter().map(Entry::level);
        let findings = self.findings.iter().map(|line| Level::from(line.finding.severity));
        effects.chain(findings).min().unwrap_or(Level::Calm)
    }

    /// Whether nothing follows but changed objects.
    pub fn is_plain(&self) -> bool {
        self.effects.is_empty() && self.findings.is_empty() && self.removed.is_empty()
    }

    /// The consequences that no finding of the same severity reports, as findings; `known` are findings that report a
    /// refusal already.
    pub fn consequences(&self, known: &[Finding]) -> impl Iterator<Item = Finding> {
        // A removed line is in the old text.
        let first = self.causes.iter().min_by_key(|cause| cause.gone).and_then(|cause| cause.places.first());
        let is_known = |entry: &Entry<'_>| {
            let errors = || known.iter().filter(|f| f.is_error() && says(&entry.effect, f));
            let is_refused = |name: &&str| errors().any(|f| f.clusters().any(|cluster| cluster == *name));
            entry.effect.is_refusal && entry.clusters.iter().all(is_refused)
        };
        let new = self.effects.iter().filter(move |entry| !is_known(entry));
        new.filter_map(move |entry| entry.as_finding(first.copied()))
    }

    /// The sort key: the level, then the worst effect.
    fn order(&self) -> impl Ord + use<> {
        (self.worst(), self.effects.first().map(|e| e.effect.rank()), self.is_plain())
    }

    /// What the stories of one edit share: its lines, or its values where it has no line.
    fn edit(&self) -> String {
        let one = |cause: &InputDifference<'a>| {
            let place = cause.places.first().map(|place| (place.file.path(), place.start().line));
            let values = place.is_none().then_some((cause.before, cause.after));
            format!("{} {} {place:?} {values:?}", cause.what, cause.gone)
        };
        if self.whole.is_some() || self.causes.is_empty() {
            return self.key();
        }
        joined(std::iter::once(format!("{:?}", self.moved_from)).chain(self.causes.iter().map(one)), "\n")
    }

    /// What equal stories of several clusters share: everything but values and locations.
    fn key(&self) -> String {
        let causes = self.causes.iter().map(|c| format!("{} {}", c.what, c.gone));
        let effects = self.effects.iter().map(Entry::key);
        let findings = self.findings.iter().map(|line| format!("+{}", line.key()));
        let removed = self.removed.iter().map(|line| format!("-{}", line.key()));
        let objects = self.objects.iter().map(ObjectLine::signature);
        let parts = causes.chain(effects).chain(findings).chain(removed).chain(objects);
        joined(std::iter::once(format!("{:?} {:?}", self.whole, self.moved_from)).chain(parts), "\n")
    }

    /// Adds the story of another cluster: what is the same in both, and what only one of them has.
    fn merge(&mut self, other: Self) {
        self.clusters.extend(other.clusters);
        for (cause, more) in self.causes.iter_mut().zip(other.causes) {
            for place in more.places {
                if !cause.places.iter().any(|known| known.is_same(place)) {
                    cause.places.push(place);
                }
            }
        }
        add(&mut self.effects, other.effects, Entry::key, Entry::merge);
        self.effects.sort_by_key(|entry| entry.effect.rank());
        for (lines, more) in [(&mut self.findings, other.findings), (&mut self.removed, other.removed)] {
            add(lines, more, FindingLine::key, |line, more| line.clusters.extend(more.clusters));
            sort_by_severity(lines);
        }
        add(&mut self.objects, other.objects, ObjectLine::signature, |line, more| {
            line.clusters.extend(more.clusters);
            line.note_other(&more.fields);
        });
    }
}

/// Joins lines with the known ones of the same key, of which each is joined with one at most; adds the others.
pub(super) fn add<T>(known: &mut Vec<T>, more: Vec<T>, key: impl Fn(&T) -> String, join: impl Fn(&mut T, T)) {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, line) in known.iter().enumerate().rev() {
        places.entry(key(line)).or_default().push(at);
    }
    for line in more {
        match places.get_mut(&key(&line)).and_then(Vec::pop).and_then(|at| known.get_mut(at)) {
            Some(same) => join(same, line),
            None => known.push(line),
        }
    }
}

/// Merges the stories with the same key.
fn merged<'a>(stories: impl Iterator<Item = Story<'a>>, key: impl Fn(&Story<'a>) -> String) -> Vec<Story<'a>> {
    let mut out: Vec<Story<'a>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for story in stories {
        let at = *known.entry(key(&story)).or_insert(out.len());
        match out.get_mut(at) {
            Some(same) => same.merge(story),
            None => out.push(story),
        }
    }
    out
}

/// The stories of clusters, the worst first; `all` are the findings after the change.
pub(super) fn of<'a>(diffs: &[&'a ClusterDiff], all: &'a [Finding]) -> Vec<Story<'a>> {
    // One edit may do more in some clusters than in others; the same edit of several files has to do the same.
    let of_edits = merged(diffs.iter().flat_map(|diff| of_cluster(diff)), Story::edit);
    let mut out = merged(of_edits.into_iter(), Story::key);
    let told = |f: &&Finding| f.clusters().any(|name| diffs.iter().any(|d| d.cluster == name));
    let mut others = lines(all.iter().filter(|f| !f.is_existing && !told(f)));
    others.retain(|line| !out.iter_mut().any(|story| covers(&mut story.effects, line, false)));
    if !others.is_empty() {
        out.push(Story { findings: others, ..Story::default() });
    }
    // A stable sort keeps the order of the causes.
    out.sort_by_key(Story::order);
    out
}

/// The stories of a cluster by their causes.
struct Parts<'a> {
    diff: &'a ClusterDiff,
    everything: Vec<usize>,
    stories: BTreeMap<Vec<usize>, Story<'a>>,
}

impl<'a> Parts<'a> {
    /// The story of some causes; what has no known cause comes from all that change the plan together.
    fn of(&mut self, causes: &[usize]) -> &mut Story<'a> {
        let causes = if causes.is_empty() { self.everything.clone() } else { causes.to_vec() };
        let diff = self.diff;
        self.stories.entry(causes).or_insert_with_key(|causes| Story {
            causes: because(diff, causes),
            clusters: vec![&diff.cluster],
            ..Story::default()
        })
    }
}

fn of_cluster(diff: &ClusterDiff) -> Vec<Story<'_>> {
    let (inputs, all) = (diff.comparison.inputs(), diff.comparison.causes.len());
    let everything = if inputs.is_empty() { 0..all } else { inputs }.collect();
    let mut parts = Parts { diff, everything, stories: BTreeMap::new() };
    for effect in diff.effects() {
        let causes = effect.causes.clone();
        parts.of(&causes).effects.push(Entry::new(effect, vec![&diff.cluster]));
    }
    let line = |finding| FindingLine { finding, clusters: vec![&*diff.cluster] };
    for finding in &diff.findings_added {
        parts.of(diff.causes_of(finding)).findings.push(line(finding));
    }
    for finding in &diff.findings_removed {
        parts.of(diff.causes_of(finding)).removed.push(line(finding));
    }
    for (causes, object) in object_lines(diff) {
        parts.of(&causes).objects.push(object);
    }
    if let Some(from) = &diff.moved_from {
        parts.of(&[]).moved_from = Some(from);
    }
    let mut out: Vec<Story<'_>> = parts.stories.into_values().collect();
    for story in &mut out {
        story.whole = diff.whole;
        story.cover_findings();
    }
    out
}

/// Whether a finding says the same as a consequence: by its rule, its alert, its machine, or as the refusal that it is.
pub(super) fn says(effect: &Effect, finding: &Finding) -> bool {
    let object = finding.object.as_deref().unwrap_or_default();
    let machine = object.strip_prefix("VirtualMachine ").unwrap_or_default();
    let fails = effect.is_of_machine || effect.impact == Impact::BootFailure && finding.is_error();
    let is_of_machine = fails && effect.machines.iter().any(|m| m == machine);
    let alert = finding.alert().filter(|_| finding.severity == Severity::Info);
    let raises = |(name, _)| effect.is_alert() && effect.subjects.iter().any(|s| s == name);
    let is_there = effect.place.as_ref().zip(finding.location.as_ref()).is_some_and(|(a, b)| a.is_same(b));
    let refuses = effect.is_refusal && (finding.rejection || is_there && finding.is_error());
    effect.rule == Some(finding.rule.name) || is_of_machine || refuses || alert.is_some_and(raises)
}

/// Adds a finding to the consequence that says the same, if one does. What is gone is like an improvement only.
fn covers<'a>(effects: &mut [Entry<'a>], line: &FindingLine<'a>, is_gone: bool) -> bool {
    let mut entries = effects.iter_mut().filter(|e| (e.effect.impact == Impact::Better) == is_gone);
    let entry = entries.find(|e| says(&e.effect, line.finding));
    entry.map(|entry| entry.rules.push(line.finding)).is_some()
}

impl Story<'_> {
    /// Moves findings to the consequence that says the same: its rule, its alert, or its machine.
    pub(super) fn cover_findings(&mut self) {
        self.findings.retain(|line| !covers(&mut self.effects, line, false));
        self.removed.retain(|line| !covers(&mut self.effects, line, true));
        // A note about a line that a finding is about says the same.
        let line = |place: &Location| (place.file.path().to_owned(), place.start().line);
        let told: BTreeSet<_> = self.findings.iter().filter_map(|f| f.finding.location.as_ref().map(line)).collect();
        self.effects.retain(|Entry { effect, .. }| {
            let is_note = matches!(effect.task, Task::Remove | Task::Note) && effect.action.is_none();
            !(is_note && effect.place.as_ref().is_some_and(|place| told.contains(&line(place))))
        });
        if self.effects.len() > 1 || !self.findings.is_empty() {
            self.effects.retain(|entry| !entry.effect.is_unknown);
        }
        if self.findings.iter().any(|line| line.finding.is_error()) {
            self.effects.retain(|entry| !entry.effect.needs_acceptance);
        }
        sort_by_severity(&mut self.findings);
    }
}
