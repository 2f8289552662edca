//! One self-contained page.

use maud::{Markup, html};

use super::{Changes, brief, causes, consequence, shown};
use crate::diff::semantic::{Impact, ObjectChange};
use crate::diff::{ClusterDiff, Kind, VerdictChange, unified};
use crate::report::page;
use crate::yaml;

pub(super) fn page(changes: &Changes<'_>) -> String {
    page::page("hcoplan diff", &[("changes", "Changes", section(changes))])
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
                (cluster.cluster)
                @match (cluster.whole, &cluster.moved_from) {
                    (Some(Kind::Add), _) => small { " new" },
                    (Some(Kind::Remove), _) => small { " no longer there" },
                    (_, Some(from)) => small { " before at " (from) },
                    _ => {},
                }
            }
            @if let Some(broken) = &cluster.broken {
                p.bad { "Can't be rendered in " (if broken.left { changes.left } else { changes.right })
                    ": " (broken.why) }
            }
            @for (what, verdict) in verdicts {
                @if let Some(why) = verdict.as_ref().and_then(|v| v.after.as_ref()) {
                    p.bad { (what) ": " (why) }
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
                        li class=(tone(note.impact)) {
                            (note.text)
                            @if let Some(help) = &note.help { br; small { (help) } }
                            @if let Some(place) = &note.place { br; code { (changes.place(place)) } }
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
                        code { (finding.rule.name) } " " (finding.message)
                    }
                }
            }
        }
    }
}

fn tone(impact: Impact) -> &'static str {
    match impact {
        Impact::DataLoss | Impact::BootFailure => "bad",
        Impact::Disruption | Impact::Scheduling | Impact::Security => "warn",
        Impact::Images | Impact::Behaviour => "calm",
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
                    li class=(tone(impact)) { b { (impact.title()) } ": " (text) }
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
    let text = |body: &serde_json::Value| yaml::emit(body);
    let before = change.before.as_deref().map(text).unwrap_or_default();
    let after = change.after.as_deref().map(text).unwrap_or_default();
    let diff = unified(&before, &after, "before", "after");
    let fields = change.fields.iter().enumerate();
    let fields: Vec<_> = fields.filter(|(_, f)| f.step.noise.is_none()).collect();
    html! {
        details.object {
            summary {
                span class=(class) { (word) } " " (change.id)
                @if let Some(instead) = &change.instead_of { small { " in the place of " (instead.name) } }
            }
            @if change.kind == Kind::Change {
                div.scroll { table {
                    thead { tr { th { "field" } th { "before" } th { "after" } th { "why" } } }
                    tbody { @for (index, field) in fields {
                        tr {
                            td { code { (field.step.label) }
                                @if let Some(told) = consequence(change, index) {
                                    br; small class=(tone(told.impact)) { (told.text) }
                                } }
                            td { (brief(field.step.before.as_ref(), 200)) }
                            td { (brief(field.step.after.as_ref(), 200)) }
                            td { @for cause in causes(cluster, &field.causes) {
                                div { (cause.what)
                                    @if let Some(place) = &cause.place { br; code { (changes.place(place)) } } }
                            } }
                        }
                    } }
                } }
            } @else {
                @for cause in causes(cluster, &change.causes) {
                    p { "because of " (cause.what)
                        @if let Some(place) = &cause.place { " " code { (changes.place(place)) } } }
                }
            }
            pre.diff {
                @for line in diff.lines() {
                    @let class = match line.as_bytes().first() { Some(b'+') => "add", Some(b'-') => "del", _ => "" };
                    span class=(class) { (line) "\n" }
                }
            }
        }
    }
}
