//! Prints an upgrade: a checklist of all steps, before, during and after it, then the change itself.

use super::View;
use crate::changes::Changes;
use crate::document::{Block, Document, Level, Text};
use crate::document::{Entry as Row, Table};
use crate::plural;
use crate::prelude::*;
use hcoplan_analysis::review::{Checklist, Entry, ValueRow};
use hcoplan_explain::diff::KeptLine;

/// The steps of an upgrade, for a screen.
pub(crate) struct UpgradeView<'a>(pub(crate) &'a Steps);

impl<'a> UpgradeView<'a> {
    /// `Upgrade to 1.19 via 1.18 (on it or later already: clusters/lab)`.
    fn title(&self) -> String {
        let names: Vec<&str> = self.0.already_there.iter().map(String::as_str).collect();
        match names.len() {
            0 => self.path(),
            n if n == self.0.compared => {
                format!("{}: all run it or a later release already", self.path())
            }
            _ => format!("{} (on it or later already: {})", self.path(), clusters(&names)),
        }
    }

    /// `Upgrade to 1.19 via 1.18`; the last release of each distribution with its clusters.
    fn path(&self) -> String {
        let steps = &self.0.steps;
        let ends: BTreeMap<&str, &str> =
            steps.iter().flat_map(|(name, diffs)| diffs.iter().map(|diff| (&*diff.cluster, &**name))).collect();
        let lasts: Vec<&str> =
            steps.iter().map(|(name, _)| &**name).filter(|n| ends.values().any(|e| e == n)).collect();
        let end = |last: &&str| {
            let is_own = |cluster: &str| ends.get(cluster) == Some(last);
            let on_it = |diffs: &[ClusterDiff]| diffs.iter().any(|diff| is_own(&diff.cluster));
            let via = steps.iter().filter(|(name, diffs)| name != last && on_it(diffs)).map(|(name, _)| &**name);
            let via = joined(via, ", ");
            let via = if via.is_empty() { via } else { format!(" via {via}") };
            let names: Vec<&str> = ends.keys().copied().filter(|name| lasts.len() > 1 && is_own(name)).collect();
            let place = if names.is_empty() { String::new() } else { format!(" ({})", clusters(&names)) };
            format!(" to {last}{via}{place}")
        };
        format!("Upgrade{}", joined(lasts.iter().map(end), " and"))
    }

    /// The checklist, then the change unless that is empty.
    pub(super) fn screen(&self, title: String, changes: &Changes<'a>, before: &View<'_>, objects: bool) -> Document {
        let (review, upgrade) = (self.0.review(), self.changes(changes));
        let view = View::new(&upgrade, &review);
        let named =
            |(level, text): (Level, Text)| (level, Text::new().strong(format!("{}: ", self.title())).then(text));
        let mut blocks = self.clusters();
        blocks.extend(view.counts().filter(|_| !objects));
        blocks.extend(parts(&view));
        let rules = review.entries().flat_map(|entry| entry.rules.iter().copied());
        let all = rules.chain(review.added.iter().map(|line| line.finding));
        let said: BTreeSet<_> = all.map(|f| (f.rule.name, &f.message)).collect();
        let is_known = |f: &&Finding| said.contains(&(f.rule.name, &f.message));
        let mut worse = None;
        let is_quiet = before.review.counts.differing == 0 && before.review.added.is_empty();
        if !is_quiet || !before.review.shown_again().iter().all(is_known) {
            let (level, verdict) = before.verdict();
            worse = Some((level, verdict.clone())).filter(|(level, _)| *level < view.verdict().0);
            blocks.push(Block::Heading(1, "The change before the upgrade".into()));
            blocks.push(Block::Verdict(level, verdict));
            blocks.push(before.sides());
            blocks.extend(before.stories(objects));
        }
        let whole = |(level, text): (Level, Text)| match &worse {
            Some((level, before)) => named((*level, text.plain("; before it: ").then(before.clone()))),
            None => named((level, text)),
        };
        let verdict = if objects { view.verdict() } else { view.headline() };
        Document { title, verdict: Some(whole(verdict)), blocks, last: Some(whole(view.last())) }
    }

    /// The checklist as part of a page.
    pub(crate) fn checklist(&self, changes: &Changes<'a>) -> Vec<Block> {
        let (review, upgrade) = (self.0.review(), self.changes(changes));
        let view = View::new(&upgrade, &review);
        let (level, verdict) = view.verdict();
        let verdict = Block::Verdict(level, Text::new().plain(format!("{}: ", self.title())).then(verdict));
        // Section headings would mix with the page's.
        let inner = parts(&view).into_iter().map(|block| match block {
            Block::Heading(_, text) => Block::Heading(2, text),
            other => other,
        });
        std::iter::once(verdict).chain(inner).collect()
    }

    /// The clusters that are upgraded, if several are compared.
    fn clusters(&self) -> Vec<Block> {
        let mut names: Vec<&str> = self.0.steps.iter().flat_map(|(_, diffs)| diffs).map(|d| &*d.cluster).collect();
        names.sort_unstable();
        names.dedup();
        let text = format!("in {}", clusters(&names));
        if self.0.compared > 1 && !names.is_empty() { vec![Block::soft(text)] } else { Vec::new() }
    }

    pub(super) fn changes(&self, of: &Changes<'a>) -> Changes<'a> {
        Changes {
            before: "what runs now",
            after: self.0.steps.last().map_or("", |(name, _)| name),
            clusters: &[],
            compared: self.0.compared,
            findings: &[],
            ..*of
        }
    }
}

/// The three parts of the checklist.
fn parts(view: &View<'_>) -> Vec<Block> {
    let review = view.review;
    let list = Checklist::of(review);
    let mut out = Vec::new();
    let rows = |entries: &[&Entry<'_>]| entries.iter().map(|entry| row(view, entry)).collect::<Vec<_>>();
    let mut part = |heading: &str, table: Vec<Block>, rows: Vec<Row>, empty: &str| {
        out.push(Block::Heading(2, heading.into()));
        if table.is_empty() && rows.is_empty() {
            out.push(Block::soft(empty));
        }
        out.extend(Block::story(rows));
        out.extend(table);
    };
    let shown = |severity| severity > Severity::Info || view.is_verbose();
    let findings = review.stories.iter().flat_map(|story| &story.findings);
    let findings = findings.filter(|line| shown(line.finding.severity));
    // Errors come before the upgrade, as does the warning that a release isn't modelled.
    let is_first = |f: &Finding| f.is_error() || f.rule.name == "release-not-modelled";
    let (first, findings): (Vec<_>, Vec<_>) = findings.partition(|line| is_first(line.finding));
    let mut before = rows(&list.before);
    before.extend(first.into_iter().map(|line| view.upgrade_finding(line)));
    part("Before", values(review, &list.values), before, "nothing to do");
    part("During", Vec::new(), rows(&list.during), "nothing is restarted");
    let mut after = rows(&list.after);
    after.extend(findings.into_iter().map(|line| view.upgrade_finding(line)));
    let mut tail = Vec::new();
    if view.is_verbose() {
        tail.extend(Block::story(rows(&list.quiet)));
    } else if !list.quiet.is_empty() {
        let text = format!("{} without action: `--verbose` lists them", plural(list.quiet.len(), "more effect"));
        tail.push(Block::soft(text));
    }
    part("After", tail, after, "nothing to do");
    out
}

/// An entry with its releases and clusters, unless these are all.
fn row(view: &View<'_>, entry: &Entry<'_>) -> Row {
    let mut row = view.entry(entry);
    let place = entry.rules.first().and_then(|finding| finding.location.as_ref());
    if let Some(place) = place.filter(|_| entry.effect.place.is_none()) {
        row.note("at", view.changes.place(place));
    }
    view.in_clusters(row, &entry.clusters, view.review.counts.differing)
}

/// The values to decide on, and the lines that keep today's.
fn values(review: &Review<'_>, rows: &[ValueRow<'_>]) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table {
        caption: "values to decide on".to_owned(),
        header: ["value", "today", "afterwards", "from", "clusters"].map(Text::from).to_vec(),
        ..Table::default()
    };
    let plain = |value: &str| value.trim_matches('"').to_owned();
    // The API versions name the sections of a field differently.
    let mut grouped: Vec<([String; 4], Vec<&str>)> = Vec::new();
    for ValueRow { value, entry } in rows {
        let release = entry.releases.first().copied().unwrap_or_default().to_owned();
        let key = [short_field(&value.field), plain(&value.before), plain(&value.after), release];
        match grouped.iter_mut().find(|(known, _)| *known == key) {
            Some((_, names)) => names.extend(&entry.clusters),
            None => grouped.push((key, entry.clusters.clone())),
        }
    }
    grouped.sort();
    for (cells, mut names) in grouped {
        names.sort_unstable();
        let all = names.len() == review.counts.differing;
        let names = if all { "all".to_owned() } else { clusters(&names) };
        table.rows.push(cells.into_iter().chain([names]).map(|cell| cell.as_str().into()).collect());
    }
    let mut out = vec![Block::Table(table)];
    let keep = |is_later: bool| {
        let lines = rows.iter().filter(|row| row.value.is_later == is_later).filter_map(|row| row.value.keep.as_ref());
        // Manifests in different API versions may need the same line.
        let mut once: BTreeMap<&str, &KeptLine> = BTreeMap::new();
        for line in lines {
            let known = once.entry(&line.text).or_insert(line);
            *known = if known.is_only_in_v1 { known } else { line };
        }
        Text::join(once.into_values().map(|line| Text::new().code(line.to_string())), ", ")
    };
    for (is_later, words) in
        [(false, "to keep today's value, write "), (true, "to keep today's value, set in the commit that upgrades: ")]
    {
        let lines = keep(is_later);
        if !lines.is_empty() {
            out.push(Block::List(vec![Text::new().soft(words).then(lines)]));
        }
    }
    out
}

/// A field's last part, with the name of its list entry.
fn short_field(field: &str) -> String {
    let leaf = hcoplan_explain::diff::short_name(field);
    let entry = field.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    let name = entry.and_then(|entry| entry.split_once('=')).map(|(_, name)| name);
    match name.filter(|_| !leaf.contains(']')) {
        Some(name) => format!("{leaf} of {name}"),
        None => leaf.to_owned(),
    }
}
