//! One self-contained page.

use maud::{Markup, html};

use super::{Changes, brief, causes, consequence, shown, shown_values, shown_yaml};
use crate::diff::semantic::{Impact, ObjectChange};
use crate::diff::{ClusterDiff, Kind, VerdictChange, unified};
use crate::report::page::{self, Lead, Section, Tone};
use crate::report::plural;
use crate::report::text::printable;

pub(super) fn page(changes: &Changes<'_>) -> String {
    let sections = [Section {
        anchor: "changes",
        name: "Changes",
        count: None,
        content: section(changes),
    }];
    page::page("hcoplan diff", &lead(changes), &sections)
}

/// The worst that follows from the changes.
fn lead(changes: &Changes<'_>) -> Lead {
    let differing = changes.clusters.iter().filter(|c| !c.is_empty()).count();
    let stops = |c: &ClusterDiff| {
        let all = [
            &c.comparison.verdict,
            &c.comparison.reconcile,
            &c.comparison.ssp,
        ];
        c.broken.is_some()
            || all
                .iter()
                .any(|v| v.as_ref().is_some_and(|v| v.after.is_some()))
    };
    let impacts = changes.clusters.iter().flat_map(|c| {
        let consequences = c.comparison.consequences().into_iter();
        consequences.map(|(consequence, _, _)| consequence.impact)
    });
    let worst = impacts.min();
    let refused = changes.clusters.iter().filter(|c| stops(c)).count();
    let counts = changes.counts();
    let tone = match (refused, worst, differing) {
        (0, _, 0) => Tone::Good,
        (0, Some(worst), _) => tone(worst),
        (0, None, _) => Tone::Calm,
        _ => Tone::Bad,
    };
    let of = plural(changes.compared, "cluster");
    Lead {
        tone,
        verdict: match (refused, differing) {
            (0, 0) => "No changes".to_owned(),
            (0, _) => format!(
                "{} to add, {} to change, {} to remove",
                counts.add, counts.change, counts.remove
            ),
            (n, _) => format!("{} would stop working", plural(n, "cluster")),
        },
        sentence: match worst {
            Some(worst) => format!(
                "in {differing} of {of}. The worst that follows: {}.",
                worst.title()
            ),
            None => format!("in {differing} of {of}."),
        },
        figures: Vec::new(),
    }
}
/// The section of a page that tells what changes.
pub(in crate::report) fn section(changes: &Changes<'_>) -> Markup {
    let differing: Vec<_> = changes.clusters.iter().filter(|c| !c.is_empty()).collect();
    html! {
        p.sides { "from " code { (changes.left) } " to " code { (changes.right) } }
        p.totals { (changes.totals()) }
        @for cluster in differing { (one(changes, cluster)) }
    }
}

fn one(changes: &Changes<'_>, cluster: &ClusterDiff) -> Markup {
    let comparison = &cluster.comparison;
    let verdicts: [(&str, &Option<VerdictChange>); 3] = [
        ("Refused", &comparison.verdict),
        ("The reconcile stops", &comparison.reconcile),
        ("SSP is refused", &comparison.ssp),
    ];
    html! {
        article {
            h3 {
                (printable(&cluster.cluster))
                @match (cluster.whole, &cluster.moved_from) {
                    (Some(Kind::Add), _) => small { " new" },
                    (Some(Kind::Remove), _) => small { " no longer there" },
                    (_, Some(from)) => small { " before at " (printable(from)) },
                    _ => {},
                }
            }
            @if let Some(broken) = &cluster.broken {
                p.bad { "Can't be rendered in " (if broken.left { changes.left } else { changes.right })
                    ": " (printable(&broken.why)) }
            }
            @for (what, verdict) in verdicts {
                @if let Some(why) = verdict.as_ref().and_then(|v| v.after.as_ref()) {
                    p.bad { (what) ": " (printable(why)) }
                }
            }
            @if !comparison.alerts_added.is_empty() {
                p.bad { "Alerts that begin to fire: " (comparison.alerts_added.join(", ")) }
            }
            @if !comparison.alerts_removed.is_empty() {
                p.good { "Alerts that fall silent: " (comparison.alerts_removed.join(", ")) }
            }
            @if cluster.whole.is_none() { (impacts(cluster)) }
            @if !cluster.notes.is_empty() {
                ul.notes {
                    @for note in &cluster.notes {
                        li.(tone(note.impact).class()) {
                            (printable(&note.text))
                            @if let Some(help) = &note.help { br; small { (printable(help)) } }
                            @if let Some(place) = &note.place { br; code { (printable(&changes.place(place))) } }
                        }
                    }
                }
            }
            @for change in shown(cluster) { (object(changes, cluster, change)) }
            @let findings = cluster.findings_added.iter().map(|f| ("new", f))
                .chain(cluster.findings_removed.iter().map(|f| ("gone", f)));
            ul.findings {
                @for (word, finding) in findings {
                    li class=(if word == "gone" { "good" } else { finding.severity.as_str() }) {
                        b { (word) " " (finding.severity.as_str()) " " }
                        code { (finding.rule.name) } " " (printable(&finding.message))
                    }
                }
            }
        }
    }
}

fn tone(impact: Impact) -> Tone {
    match impact {
        Impact::DataLoss | Impact::BootFailure => Tone::Bad,
        Impact::Disruption | Impact::Scheduling | Impact::Security => Tone::Warn,
        Impact::Images | Impact::Behaviour => Tone::Calm,
    }
}

fn impacts(cluster: &ClusterDiff) -> Markup {
    let mut told: Vec<(Impact, &str)> = Vec::new();
    for (consequence, _, _) in cluster.comparison.consequences() {
        let line = (consequence.impact, consequence.text);
        if !told.contains(&line) {
            told.push(line);
        }
    }
    html! {
        @if !told.is_empty() {
            ul.impacts {
                @for (impact, text) in told {
                    li.(tone(impact).class()) { b { (impact.title()) } ": " (text) }
                }
            }
        }
    }
}

fn object(changes: &Changes<'_>, cluster: &ClusterDiff, change: &ObjectChange) -> Markup {
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
                span class=(class) { (word) } " " (printable(&change.id.to_string()))
                @if let Some(instead) = &change.instead_of { small { " in the place of " (printable(&instead.name)) } }
            }
            @if change.kind == Kind::Change {
                div.scroll tabindex="0" role="group" aria-label="fields" { table {
                    thead { tr {
                        @for name in ["field", "before", "after", "why"] { th scope="col" { (name) } }
                    } }
                    tbody { @for (index, field) in fields {
                        tr {
                            th scope="row" { code { (printable(&field.step.label)) }
                                @if let Some(told) = consequence(change, index) {
                                    br; small.(tone(told.impact).class()) { (told.text) }
                                } }
                            @let (before, after) = shown_values(&field.step);
                            td { (brief(before.as_ref(), 200)) }
                            td { (brief(after.as_ref(), 200)) }
                            td { @for cause in causes(cluster, &field.causes) {
                                div { (printable(&cause.what))
                                    @if let Some(place) = &cause.place { br; code { (printable(&changes.place(place))) } } }
                            } }
                        }
                    } }
                } }
            } @else {
                @for cause in causes(cluster, &change.causes) {
                    p { "because of " (printable(&cause.what))
                        @if let Some(place) = &cause.place { " " code { (printable(&changes.place(place))) } } }
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
