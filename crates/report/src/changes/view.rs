//! Builds the document of a change: verdict, clusters, consequences, findings, objects; the worst first.
//!
//! Content shared by several clusters, or with one cause, is printed once.

use std::collections::BTreeMap;

use crate::document::{Block, Cell, DiffLine, Entry as Row, Layout, Level, Sign, Table, Text};
use similar::{ChangeTag, TextDiff};

use super::super::{finding_label, plural};
use super::{Changes, places, shown_pair, value_on_a_line};
use hcoplan_analysis::review::{
    Entry, FieldLine, FindingLine, Group, InputDifference, ObjectLine, Review, cluster_names, clusters, level_of, list,
};
use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_explain::diff::semantic::EffectTime;
use hcoplan_explain::diff::{ClusterDiff, Kind};
use hcoplan_planner::inventory::UpdateMethod;
use hcoplan_planner::verdict::VerdictKind;

/// Maximum lines of consequences, findings, objects and fields without `--verbose`.
const MAX_LINES: usize = 36;
const MIN_LINES: usize = 10;

/// Maximum rows of the table of clusters without `--verbose`.
const MAX_CLUSTERS: usize = 12;

/// Maximum names or causes in a line; the rest is counted.
const MAX_NAMES: usize = 4;
const MAX_CAUSES: usize = 3;

/// Maximum length of a value printed in one line with its replacement, in characters.
const SHORT_VALUE: usize = 50;

/// Maximum length of a value without `--verbose`, in characters.
const MAX_VALUE_CHARS: usize = 600;

/// Builds the blocks of one comparison.
pub(crate) struct View<'a> {
    pub(super) changes: &'a Changes<'a>,
    pub(super) review: &'a Review<'a>,
    cause: Option<InputDifference<'a>>,
    /// The clusters of most entries; empty if no set is common.
    usual: Vec<&'a str>,
    /// The changes of clusters with the same change, below their names.
    groups: Vec<(Text, Vec<DiffLine>)>,
}

impl<'a> View<'a> {
    pub(crate) fn new(changes: &'a Changes<'a>, review: &'a Review<'a>) -> Self {
        let usual = if review.compared > 1 { usual_clusters(review) } else { Vec::new() };
        let mut view = Self { changes, review, cause: review.only_cause(), usual, groups: Vec::new() };
        view.groups = review.groups.iter().filter_map(|group| view.group(group)).collect();
        view
    }

    /// Whether `--verbose` is given.
    fn is_verbose(&self) -> bool {
        self.changes.terminal.verbose
    }

    /// Number of lines of objects and fields.
    fn line_count(&self) -> usize {
        self.groups.iter().map(|(_, lines)| lines.len()).sum()
    }

    /// The verdict at the top.
    pub(crate) fn verdict(&self) -> (Level, Text) {
        (self.review.level, self.review.verdict().into())
    }

    /// The last line: verdict, counts and next command.
    pub(crate) fn last(&self) -> (Level, Text) {
        let mut text = Text::new().strong(self.review.verdict()).plain(format!("; {}", self.review.totals()));
        if let Some(next) = self.next() {
            text = text.plain(format!("; next: `{next}`"));
        }
        (self.review.level, text)
    }

    /// The most useful next command.
    fn next(&self) -> Option<String> {
        let found = self.review.added.iter().map(|line| line.finding).chain(self.review.shown_again());
        let is_worth_a_look = found.into_iter().any(|f| f.severity >= Severity::Warning);
        if is_worth_a_look {
            return Some("hcoplan lint".to_owned());
        }
        (self.line_count() > self.room()).then(|| format!("{} --verbose", self.changes.command))
    }

    /// The two sides, and how the manifest is applied if not as `kubectl apply` does.
    pub(crate) fn sides(&self) -> Block {
        let mut text = format!("from {} to {}", self.changes.before, self.changes.after);
        for method in UpdateMethod::ALL.into_iter().filter(|method| *method != UpdateMethod::default()) {
            let of = |diff: &'a ClusterDiff| {
                diff.update.as_ref().filter(|(m, _)| *m == method).map(|(_, by)| (&*diff.cluster, &**by))
            };
            let (names, mut sources): (Vec<_>, Vec<_>) =
                self.changes.clusters.iter().filter(|diff| diff.whole.is_none()).filter_map(of).unzip();
            if names.is_empty() {
                continue;
            }
            sources.dedup();
            let how = match method {
                UpdateMethod::Replace => "with replace",
                _ => method.as_str(),
            };
            let is_one = self.changes.compared == 1;
            let place = if is_one { String::new() } else { format!(" in {}", clusters(&names)) };
            text.push_str(&format!(", applied {how}{place} ({})", list(&sources, 1)));
        }
        Block::Paragraph(Text::new().soft(text))
    }

    /// The sections of consequences.
    pub(crate) fn consequences(&self) -> Vec<Block> {
        let mut out = self.hoisted();
        let mut rest: Vec<&Entry<'_>> = self.review.entries.iter().collect();
        // Sections are sorted by their worst entry.
        while let Some(impact) = rest.first().map(|entry| entry.effect.impact) {
            let (section, others) = rest.into_iter().partition(|entry| entry.effect.impact == impact);
            rest = others;
            self.section(impact.heading(), &section, &mut out);
        }
        out
    }

    /// The sections of an upgrade's checklist.
    pub(crate) fn checklist(&self) -> Vec<Block> {
        let mut out = self.hoisted();
        for (heading, entries) in self.review.checklist() {
            self.section(heading, &entries, &mut out);
        }
        out
    }

    /// Facts that hold for everything below.
    fn hoisted(&self) -> Vec<Block> {
        let mut out = Vec::new();
        if let Some(cause) = &self.cause {
            out.push(Block::Paragraph(Text::new().soft("because of ").then(self.because(cause))));
        }
        if !self.usual.is_empty() {
            let is_always = self.review.entries.iter().all(|e| e.clusters == self.usual);
            let others = if is_always { "" } else { ", unless others are named" };
            out.push(Block::Paragraph(Text::new().soft("in ").then(self.names(&self.usual)).soft(others)));
        }
        out
    }

    fn names(&self, names: &[&str]) -> Text {
        if self.is_verbose() { cluster_names(names).into() } else { clusters(names).into() }
    }

    fn section(&self, heading: &str, entries: &[&Entry<'_>], out: &mut Vec<Block>) {
        if !entries.is_empty() {
            out.push(Block::Heading(1, heading.into()));
            out.push(Block::Entries(Layout::Brief, entries.iter().map(|entry| self.entry(entry)).collect()));
        }
    }

    fn entry(&self, entry: &Entry<'_>) -> Row {
        let effect = &entry.effect;
        let level = level_of(effect);
        let label = match (entry.releases.as_slice(), effect.certain) {
            ([], true) => String::new(),
            ([], false) => "possibly".to_owned(),
            (releases, _) => format!("{} {}", releases.join(", "), effect.impact.title()),
        };
        let most = if self.is_verbose() { usize::MAX - 1 } else { MAX_NAMES };
        let mut row = Row::new(level, Text::new().level(level, label), entry.sentence(most));
        if self.review.compared > 1 && entry.clusters != self.usual {
            row.place = self.names(&entry.clusters);
        }
        if effect.when != EffectTime::Now {
            row.note("", effect.when.as_str());
        }
        if let Some(action) = &effect.action {
            row.note("do", action.as_str());
        }
        match (&effect.place, entry.because.as_slice()) {
            (Some(place), _) => row.note("at", Text::new().code(self.changes.place(place))),
            (None, because) if self.cause.is_none() && !because.is_empty() => {
                row.note("because of", self.causes(because));
            }
            _ => {}
        }
        row
    }

    fn because(&self, because: &InputDifference<'_>) -> Text {
        let place = places(self.changes, because);
        let was = if because.gone { " formerly at " } else { " at " };
        let what = Text::new().code(because.what);
        place.map_or(what.clone(), |place| what.soft(was).code(place))
    }

    fn causes(&self, because: &[InputDifference<'_>]) -> Text {
        let shown = Text::join(because.iter().take(MAX_CAUSES).map(|one| self.because(one)), ", ");
        match because.len().checked_sub(MAX_CAUSES).filter(|more| *more > 0) {
            Some(more) => shown.plain(format!(" and {}", plural(more, "more difference"))),
            None => shown,
        }
    }

    /// The table of clusters with their verdicts; equal ones share a row.
    pub(crate) fn table(&self, diffs: &'a [ClusterDiff]) -> Option<Block> {
        // Sorted by verdict and counts, failures first.
        let mut rows: BTreeMap<(bool, usize), (&ClusterDiff, String, Vec<&str>)> = BTreeMap::new();
        let mut known: BTreeMap<(VerdictKind, [usize; 3]), (bool, usize)> = BTreeMap::new();
        let mut quiet = self.review.compared.saturating_sub(diffs.len());
        for (index, diff) in diffs.iter().enumerate() {
            if diff.is_empty() && !diff.verdict.fails() {
                quiet += 1;
                continue;
            }
            let kind = diff.verdict.kind();
            let objects = || diff.comparison.objects.iter().filter(|change| !change.is_noise());
            let counts = [Kind::Add, Kind::Change, Kind::Remove].map(|k| objects().filter(|o| o.kind == k).count());
            let place = *known.entry((kind, counts)).or_insert((kind == VerdictKind::Accepted, index));
            let [add, change, remove] = counts;
            let row = rows.entry(place).or_insert_with(|| (diff, format!("+{add} ~{change} -{remove}"), Vec::new()));
            row.2.push(&diff.cluster);
        }
        if self.review.compared < 2 || rows.is_empty() {
            return None;
        }
        let shown = if self.is_verbose() { rows.len() } else { MAX_CLUSTERS };
        let more: usize = rows.values().skip(shown).map(|(.., names)| names.len()).sum();
        let mut table = Table {
            caption: "clusters".to_owned(),
            header: ["cluster", "verdict", "objects"].map(Text::from).to_vec(),
            ..Table::default()
        };
        for (diff, counts, names) in rows.values().take(shown) {
            let level = if diff.verdict.kind() == VerdictKind::Accepted { Level::Good } else { Level::Bad };
            let verdict = Cell { level: Some(level), ..diff.verdict.kind().as_str().into() };
            table.rows.push(vec![self.names(names).into(), verdict, counts.as_str().into()]);
        }
        if more > 0 {
            table.rows.push(vec![format!("{more} more").into(), "".into(), "".into()]);
        }
        if quiet > 0 {
            table.rows.push(vec![plural(quiet, "cluster").into(), "unchanged".into(), "".into()]);
        }
        Some(Block::Table(table))
    }

    /// Added, removed, and important existing findings.
    pub(crate) fn findings(&self) -> Vec<Block> {
        let mut rows = Vec::new();
        let standing: Vec<FindingLine<'_>> = self.review.shown_again_as_lines();
        let added = self.review.added.iter().map(|line| ("new", line));
        let removed = self.review.removed.iter().map(|line| ("gone", line));
        for (word, line) in standing.iter().map(|line| ("", line)).chain(added).chain(removed) {
            rows.push(self.finding(word, line));
        }
        let mut out = Vec::new();
        if !rows.is_empty() {
            out.push(Block::Heading(1, "Findings".into()));
            out.push(Block::Entries(Layout::Brief, rows));
        }
        out.extend(self.rest().map(|rest| Block::Paragraph(Text::new().soft(rest))));
        out
    }

    fn finding(&self, word: &str, line: &FindingLine<'_>) -> Row {
        let finding = line.finding;
        let is_gone = word == "gone";
        let level = if is_gone { Level::Good } else { finding.severity.into() };
        let word = if word.is_empty() { String::new() } else { format!("{word} ") };
        let label = Text::new().level(level, word).then(finding_label(finding, level));
        let mut row = Row::new(level, label, finding.message.as_str());
        let place = finding.location.as_ref().filter(|_| !is_gone);
        row.place = match (place, line.clusters.len()) {
            (Some(place), 0 | 1) => Text::new().code(self.changes.place(place)),
            (Some(place), _) => {
                Text::new().code(self.changes.place(place)).plain(" · ").then(self.names(&line.clusters))
            }
            (None, 0) => Text::new(),
            (None, _) => self.names(&line.clusters),
        };
        row
    }

    /// The number of existing findings not shown.
    fn rest(&self) -> Option<String> {
        let shown = self.review.shown_again();
        let of = |severity| {
            let of = |findings: &[&Finding]| findings.iter().filter(|f| f.severity == severity).count();
            of(&self.review.standing) - of(&shown)
        };
        let counts = [Severity::Warning, Severity::Info].map(|severity| (of(severity), severity));
        let counts =
            counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, severity)| crate::finding_report::counted(n, severity));
        let counts: Vec<String> = counts.collect();
        (!counts.is_empty()).then(|| format!("{} from before, shown by `hcoplan lint`", counts.join(" and ")))
    }

    /// The changed objects; clusters with the same change share a part.
    pub(crate) fn objects(&self) -> Option<Block> {
        let most = self.room();
        let mut blocks: Vec<Block> = Vec::new();
        let mut left = most;
        for (title, lines) in &self.groups {
            if left == 0 {
                break;
            }
            blocks.push(Block::Heading(2, title.clone()));
            let shown: Vec<DiffLine> = lines.iter().take(left).cloned().collect();
            left = left.saturating_sub(shown.len());
            if !shown.is_empty() {
                blocks.push(Block::Diff(shown));
            }
        }
        if let Some(more) = self.line_count().checked_sub(most).filter(|more| *more > 0) {
            let text = format!("{} not shown; `--verbose` shows all", plural(more, "more line"));
            blocks.push(Block::Paragraph(Text::new().soft(text)));
        }
        (!blocks.is_empty()).then(|| Block::Folded(format!("Objects: {}", self.review.totals()).into(), blocks))
    }

    /// Number of lines of objects and fields that fit.
    fn room(&self) -> usize {
        let others = 2 * (self.review.entries.len() + self.review.added.len());
        if self.is_verbose() { usize::MAX } else { MAX_LINES.saturating_sub(others).max(MIN_LINES) }
    }

    fn group(&self, group: &Group<'_>) -> Option<(Text, Vec<DiffLine>)> {
        let first = group.clusters.first()?;
        let moved = first.moved_from.as_ref().filter(|_| group.clusters.len() == 1);
        if group.lines.is_empty() && moved.is_none() {
            return None;
        }
        let note = match (first.whole, moved) {
            (Some(Kind::Add), _) if first.rejected_before.is_some() => " (as a new one)".to_owned(),
            (Some(Kind::Add), _) => " (new)".to_owned(),
            (Some(Kind::Remove), _) => " (no longer there)".to_owned(),
            (_, Some(from)) => format!(" (before at {from})"),
            _ => String::new(),
        };
        let names: Vec<&str> = group.clusters.iter().map(|c| &*c.cluster).collect();
        let lines = match first.whole {
            Some(kind) => vec![self.counted(kind, group)],
            None => group.lines.iter().flat_map(|line| self.object(line)).collect(),
        };
        Some((self.names(&names).plain(note), lines))
    }

    /// A cluster that is added or removed as a whole.
    fn counted(&self, kind: Kind, group: &Group<'_>) -> DiffLine {
        let mut counts = BTreeMap::<&str, usize>::new();
        for line in &group.lines {
            *counts.entry(line.object_kind).or_default() += line.names.len();
        }
        let total: usize = counts.values().sum();
        let kinds: Vec<String> =
            counts.iter().map(|(kind, n)| if *n == 1 { (*kind).to_owned() } else { format!("{n} {kind}") }).collect();
        let each = if group.clusters.len() > 1 { " each" } else { "" };
        line(sign(kind), 0, format!("{}{each}: {}", plural(total, "object"), kinds.join(", ")))
    }

    fn object(&self, object: &ObjectLine<'_>) -> Vec<DiffLine> {
        let kind = object.object_kind;
        let title = match (object.names.as_slice(), object.namespace) {
            ([one], None) => format!("{kind} {one}"),
            ([one], Some(namespace)) => format!("{kind} {namespace}/{one}"),
            (many, None) => format!("{} {kind}: {}", many.len(), list(many, MAX_NAMES)),
            (many, Some(namespace)) => format!("{} {kind} in {namespace}: {}", many.len(), list(many, MAX_NAMES)),
        };
        let instead = match object.instead_of.as_slice() {
            [] => String::new(),
            [one] => format!(" in the place of {one}"),
            _ => " each in the place of one without the architecture in its name".to_owned(),
        };
        let mut out = vec![line(sign(object.kind), 0, format!("{title}{instead}"))];
        if object.kind != Kind::Change {
            out.extend(self.note(&object.because, 0));
            return out;
        }
        let what = |f: &FieldLine<'_>| f.because.iter().map(|b| b.what.to_owned()).collect::<Vec<_>>();
        for (index, field) in object.fields.iter().enumerate() {
            out.extend(self.field(field));
            // Print a cause shared by consecutive fields once, below the last.
            if object.fields.get(index + 1).is_none_or(|next| what(next) != what(field)) {
                out.extend(self.note(&field.because, 1));
            }
        }
        out
    }

    fn note(&self, because: &[InputDifference<'_>], depth: usize) -> Option<DiffLine> {
        let is_said = because.is_empty() || self.cause.is_some();
        (!is_said).then(|| DiffLine {
            sign: Sign::Note,
            depth,
            text: Text::new().soft("because of ").then(self.causes(because)),
        })
    }

    fn field(&self, field: &FieldLine<'_>) -> Vec<DiffLine> {
        let each = if field.varies { " (each its own)" } else { "" };
        let (before, after) = shown_pair(field.path, field.before, field.after);
        let lines = |text: Option<&serde_json::Value>| {
            text.and_then(serde_json::Value::as_str).filter(|t| t.contains('\n')).map(str::to_owned)
        };
        if let (Some(a), Some(b)) = (lines(before.as_ref()), lines(after.as_ref())) {
            return self.text(&format!("{}{each}", field.label), &a, &b);
        }
        let shown = |value: Option<&serde_json::Value>| value.map(|v| self.cut(value_on_a_line(v)));
        match (shown(before.as_ref()), shown(after.as_ref())) {
            (None, None) => vec![line(Sign::Change, 1, format!("{}{each}", field.label))],
            (None, Some(after)) => vec![line(Sign::Add, 1, format!("{}: {after}{each}", field.label))],
            (Some(before), None) => vec![line(Sign::Remove, 1, format!("{}: {before}{each}", field.label))],
            (Some(before), Some(after)) if before.len() + after.len() <= SHORT_VALUE => {
                vec![line(Sign::Change, 1, format!("{}: {before} → {after}{each}", field.label))]
            }
            (Some(before), Some(after)) => vec![
                line(Sign::Remove, 1, format!("{}: {before}", field.label)),
                line(Sign::Add, 1, format!("{}: {after}{each}", field.label)),
            ],
        }
    }

    /// The changed lines of a multi-line text.
    fn text(&self, label: &str, before: &str, after: &str) -> Vec<DiffLine> {
        let mut out = vec![line(Sign::Change, 1, format!("{label}:"))];
        for change in TextDiff::from_lines(before, after).iter_all_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => continue,
                ChangeTag::Delete => Sign::Remove,
                ChangeTag::Insert => Sign::Add,
            };
            out.push(line(sign, 2, change.value().trim_end()));
        }
        out
    }

    /// Cuts a long value unless `--verbose` is given.
    fn cut(&self, value: String) -> String {
        let count = value.chars().count();
        if self.is_verbose() || count <= MAX_VALUE_CHARS {
            return value;
        }
        let shown: String = value.chars().take(MAX_VALUE_CHARS).collect();
        format!("{shown} … {} more characters", count - MAX_VALUE_CHARS)
    }
}

/// The clusters of most entries, if several entries share them.
fn usual_clusters<'a>(review: &Review<'a>) -> Vec<&'a str> {
    let mut counts: BTreeMap<&[&str], usize> = BTreeMap::new();
    for entry in &review.entries {
        *counts.entry(&entry.clusters).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(names, count)| (*count, names.len()));
    let names = most.filter(|(_, count)| *count > 1 || review.entries.len() == 1).map(|(names, _)| names.to_vec());
    names.unwrap_or_default()
}

fn line(sign: Sign, depth: usize, text: impl Into<Text>) -> DiffLine {
    DiffLine { sign, depth, text: text.into() }
}

fn sign(kind: Kind) -> Sign {
    match kind {
        Kind::Add => Sign::Add,
        Kind::Change => Sign::Change,
        Kind::Remove => Sign::Remove,
    }
}
