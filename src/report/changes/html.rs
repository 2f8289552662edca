//! One self-contained page.

use maud::{Markup, html};

use super::{Changes, brief, causes, consequence, places, sentence, shown_values, shown_yaml};
use crate::diff::semantic::EffectTime;
use crate::diff::{ClusterDiff, Kind, unified};
use crate::report::page::{self, PageHeader, Section, SeverityColour};
use crate::report::text::printable;
use crate::review::{Entry, Group, InputDifference, Level, ObjectLine, Review, clusters, list};

pub(super) fn page(changes: &Changes<'_>) -> String {
    let review = changes.review();
    let sections = [Section { anchor: "changes", name: "Changes", count: None, content: section(changes, &review) }];
    page::page("hcoplan: what changes", &lead(changes, &review), &sections)
}

/// A page of an upgrade: the checklist, then the change that comes before it.
pub(super) fn upgrade(changes: &Changes<'_>, upgrade: &Changes<'_>, review: &Review<'_>, title: &str) -> String {
    let before = changes.review();
    let lead = PageHeader {
        source: html! {},
        tone: tone(review.level),
        verdict: sentence_case(&review.verdict()),
        sentence: format!("{title}."),
        figures: Vec::new(),
        content: html! {
            @for (title, entries) in review.checklist() { (part(upgrade, review, title, &entries)) }
        },
    };
    let sections = [
        Section { anchor: "findings", name: "Findings", count: None, content: findings(upgrade, review) },
        Section {
            anchor: "changes",
            name: "The change before it",
            count: None,
            content: html! { (entries(changes, &before)) (section(changes, &before)) },
        },
    ];
    page::page("hcoplan plan", &lead, &sections)
}

/// The checklist of an upgrade, as a section.
pub(super) fn checklist(changes: &Changes<'_>, review: &Review<'_>, title: &str) -> Markup {
    html! {
        p.totals { (title) ": " (review.verdict()) }
        @for (title, entries) in review.checklist() { (part(changes, review, title, &entries)) }
        (findings(changes, review))
    }
}

/// The verdict, and what follows.
fn lead(changes: &Changes<'_>, review: &Review<'_>) -> PageHeader {
    PageHeader {
        source: html! {},
        tone: tone(review.level),
        verdict: sentence_case(&review.verdict()),
        sentence: format!("From {} to {}.", changes.left, changes.right),
        figures: Vec::new(),
        content: entries(changes, review),
    }
}

/// The same with a capital.
pub(in crate::report) fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>());
    first.unwrap_or_default() + chars.as_str()
}

/// Names shown of what a consequence is about; the rest is counted.
const MOST_NAMES: usize = 6;

/// What follows from the changes, the worst first.
pub(in crate::report) fn entries(changes: &Changes<'_>, review: &Review<'_>) -> Markup {
    html! {
        @if let Some(cause) = review.only_cause() {
            p.soft { "Because of " (because_of(changes, cause)) }
        }
        @for (title, entries) in review.parts() { (part(changes, review, title, &entries)) }
    }
}

fn part(changes: &Changes<'_>, review: &Review<'_>, title: &str, entries: &[&Entry<'_>]) -> Markup {
    html! {
        @if !entries.is_empty() {
            h2.quiet { (title) }
            ul.entries { @for entry in entries { (one_entry(changes, review, entry)) } }
        }
    }
}

fn one_entry(changes: &Changes<'_>, review: &Review<'_>, entry: &Entry<'_>) -> Markup {
    let effect = &entry.effect;
    let tone = tone(Level::of(effect));
    html! {
        li.(tone.class()) {
            p { span.label.(tone.class()) { (effect.impact.title()) } " "
                (printable(&sentence_case(&entry.sentence(MOST_NAMES)))) "." }
            dl {
                @if !entry.releases.is_empty() { dt { "with" } dd { (entry.releases.join(", ")) } }
                @if review.compared > 1 {
                    dt { "where" }
                    dd title=(entry.clusters.join(", ")) { (printable(&clusters(&entry.clusters))) }
                }
                @if effect.when != EffectTime::Now { dt { "when" } dd { (effect.when.as_str()) } }
                @if let Some(action) = &effect.action { dt { "what to do" } dd { (printable(action)) } }
                @if review.only_cause().is_some() {
                } @else if !entry.because.is_empty() {
                    dt { "because of" }
                    dd { @for because in entry.because.iter().take(3) { div { (because_of(changes, because)) } }
                        @if entry.because.len() > 3 { div { "and " (entry.because.len() - 3) " more" } } }
                } @else if let Some(place) = &effect.place {
                    dt { "at" } dd { code { (printable(&changes.place(place))) } }
                }
            }
        }
    }
}

fn because_of(changes: &Changes<'_>, because: &InputDifference<'_>) -> Markup {
    html! {
        (printable(because.what))
        @if let Some(place) = places(changes, because) { " " code { (printable(&place)) } }
    }
}

/// The section of a page that tells what changes.
pub(in crate::report) fn section(changes: &Changes<'_>, review: &Review<'_>) -> Markup {
    html! {
        p.sides { "from " code { (changes.left) } " to " code { (changes.right) } }
        p.totals { (review.totals()) }
        @for group in &review.groups { (one(changes, group)) }
        (findings(changes, review))
    }
}

/// Clusters that change alike.
fn one(changes: &Changes<'_>, group: &Group<'_>) -> Markup {
    let names: Vec<&str> = group.clusters.iter().map(|c| &*c.cluster).collect();
    let Some(first) = group.clusters.first() else {
        return html! {};
    };
    let moved = first.moved_from.as_ref().filter(|_| names.len() == 1);
    html! {
        @if !group.lines.is_empty() || moved.is_some() { article {
            h3 {
                (printable(&clusters(&names)))
                @match (first.whole, moved) {
                    (Some(Kind::Add), _) if first.refused_before.is_some() => small { " as a new one" },
                    (Some(Kind::Add), _) => small { " new" },
                    (Some(Kind::Remove), _) => small { " no longer there" },
                    (_, Some(from)) => small { " before at " (printable(from)) },
                    _ => {},
                }
            }
            @if names.len() > 1 {
                details.more { summary { "the " (names.len()) " clusters" }
                    ul.places { @for name in &names { li { (printable(name)) } } } }
            }
            @for line in &group.lines { (object(changes, first, line)) }
        } }
    }
}

fn findings(changes: &Changes<'_>, review: &Review<'_>) -> Markup {
    let added = review.added.iter().map(|f| ("new", f));
    let removed = review.removed.iter().map(|f| ("gone", f));
    html! {
        @if !review.added.is_empty() || !review.removed.is_empty() {
            article {
                h3 { "Findings of this change" }
                ul.findings {
                    @for (word, line) in added.chain(removed) {
                        @let finding = line.finding;
                        li class=(if word == "gone" { "good" } else { finding.severity.as_str() }) {
                            b { (word) " " (finding.severity.as_str()) " " }
                            code { (finding.rule.name) } " " (printable(&finding.message))
                            @if review.compared > 1 { " " small { (printable(&clusters(&line.clusters))) } }
                            @if let Some(place) = finding.location.as_ref().filter(|_| word == "new") {
                                " " code { (printable(&changes.place(place))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(in crate::report) fn tone(level: Level) -> SeverityColour {
    match level {
        Level::Bad => SeverityColour::Bad,
        Level::Warn => SeverityColour::Warn,
        Level::Calm => SeverityColour::Calm,
        Level::Good => SeverityColour::Good,
    }
}

/// Objects that change alike: the first one in full.
fn object(changes: &Changes<'_>, cluster: &ClusterDiff, line: &ObjectLine<'_>) -> Markup {
    let change = line.first;
    let (class, word) = match change.kind {
        Kind::Add => ("good", "added"),
        Kind::Change => ("warn", "changed"),
        Kind::Remove => ("bad", "removed"),
    };
    let before = change.before.as_deref().map(shown_yaml).unwrap_or_default();
    let after = change.after.as_deref().map(shown_yaml).unwrap_or_default();
    let diff = unified(&before, &after, "before", "after");
    let fields = change.fields.iter().enumerate();
    let fields: Vec<_> = fields.filter(|(_, f)| f.step.noise.is_none()).collect();
    html! {
        details.object {
            summary {
                span class=(class) { (word) } " "
                @match line.names.as_slice() {
                    [_] => (printable(&change.id.to_string())),
                    names => {
                        (names.len()) " " (line.object_kind) " "
                        (printable(&list(names, MOST_NAMES)))
                    },
                }
                @if let Some(instead) = &change.instead_of { small { " in the place of " (printable(&instead.name)) } }
            }
            @if line.names.len() > 1 { p.soft { "The first of them:" } }
            @if change.kind == Kind::Change {
                div.scroll tabindex="0" role="group" aria-label="fields" { table {
                    thead { tr {
                        @for name in ["field", "before", "after", "why"] { th scope="col" { (name) } }
                    } }
                    tbody { @for (index, field) in fields {
                        tr {
                            th scope="row" { code { (printable(&field.step.label)) }
                                @if let Some(told) = consequence(change, index) {
                                    @let field = change.fields.get(index).map(|f| &f.step);
                                    br; small { (sentence(&told, change, field)) }
                                } }
                            @let (before, after) = shown_values(&field.step);
                            td { (brief(before.as_ref(), 200)) }
                            td { (brief(after.as_ref(), 200)) }
                            td { @for cause in causes(cluster, &field.causes) {
                                div { (printable(&cause.what))
                                    @if let Some(place) = &cause.place { br; code { (printable(&changes.place_of_cause(place, cause.gone))) } } }
                            } }
                        }
                    } }
                } }
            } @else {
                @for cause in causes(cluster, &change.causes) {
                    p { "because of " (printable(&cause.what))
                        @if let Some(place) = &cause.place { " " code { (printable(&changes.place_of_cause(place, cause.gone))) } } }
                }
            }
            pre.diff tabindex="0" {
                @for (index, line) in diff.lines().enumerate() {
                    @let class = match line.as_bytes().first() {
                        // The sides' names come first.
                        _ if index < 2 => "at",
                        Some(b'@') => "at",
                        Some(b'+') => "add",
                        Some(b'-') => "del",
                        _ => "",
                    };
                    span class=(class) { (printable(line)) "\n" }
                }
            }
        }
    }
}
