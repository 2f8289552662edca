//! The findings: by rule, the worst first; what several clusters share is told once.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::{SeverityColour, excerpt, folded};
use crate::finding::{Applicability, Finding, Severity};
use crate::report::text::printable;
use crate::report::{Report, plural, sarif};

/// Places shown of a finding that many clusters share.
const PLACES: usize = 5;

/// Above this many rules a table of them comes first.
const FEW_RULES: usize = 6;

/// The findings of a rule and a severity.
struct OfRule<'a> {
    severity: Severity,
    rule: &'static crate::finding::Rule,
    /// Those with the same words are together.
    alike: Vec<Vec<&'a Finding>>,
}

impl OfRule<'_> {
    fn all(&self) -> impl Iterator<Item = &Finding> {
        self.alike.iter().flatten().copied()
    }

    fn clusters(&self) -> usize {
        let names: BTreeSet<_> = self.all().flat_map(|f| f.clusters()).collect();
        names.len()
    }

    fn anchor(&self) -> String {
        anchor(self.rule.name, self.severity)
    }
}

/// Where the findings of a rule and a severity are.
pub(super) fn anchor(rule: &str, severity: Severity) -> String {
    format!("finding-{}-{rule}", severity.as_str())
}

pub(super) fn severity_colour(severity: Severity) -> SeverityColour {
    match severity {
        Severity::Error => SeverityColour::Bad,
        Severity::Warning => SeverityColour::Warn,
        Severity::Info => SeverityColour::Calm,
    }
}

fn label(severity: Severity) -> Markup {
    html! { span.label.(severity_colour(severity).class()) { (severity.as_str()) } }
}

/// The content of the section.
pub(super) fn section(report: &Report<'_>) -> Markup {
    let rules = by_rule(report.findings);
    html! {
        p.totals { (report.totals()) }
        @if rules.len() > FEW_RULES { (table(&rules)) }
        @for rule in &rules { (one(report, rule)) }
    }
}

fn by_rule(findings: &[Finding]) -> Vec<OfRule<'_>> {
    let mut out: Vec<OfRule<'_>> = Vec::new();
    for finding in findings {
        let is_it = |r: &&mut OfRule<'_>| r.severity == finding.severity && r.rule.name == finding.rule.name;
        let alike = match out.iter_mut().find(is_it) {
            Some(known) => &mut known.alike,
            None => {
                out.push(OfRule { severity: finding.severity, rule: finding.rule, alike: Vec::new() });
                match out.last_mut() {
                    Some(new) => &mut new.alike,
                    None => continue,
                }
            }
        };
        let same = |group: &&mut Vec<&Finding>| {
            let first = group.first();
            first.is_some_and(|f| f.message == finding.message && f.help == finding.help)
        };
        match alike.iter_mut().find(same) {
            Some(group) => group.push(finding),
            None => alike.push(vec![finding]),
        }
    }
    // Stable: rules of a severity stay in the findings' order.
    out.sort_by_key(|r| std::cmp::Reverse(r.severity));
    out
}

fn table(rules: &[OfRule<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="rules" { table {
            thead { tr {
                th scope="col" { "severity" } th scope="col" { "rule" }
                th.number scope="col" { "findings" } th.number scope="col" { "clusters" }
            } }
            tbody { @for rule in rules { tr {
                td { (label(rule.severity)) }
                th scope="row" { a href={ "#" (rule.anchor()) } { (rule.rule.name) } }
                td.number { (rule.all().count()) }
                td.number { (rule.clusters()) }
            } } }
        } }
    }
}

fn one(report: &Report<'_>, rule: &OfRule<'_>) -> Markup {
    let name = rule.rule.name;
    html! {
        article id=(rule.anchor()) {
            header {
                (label(rule.severity))
                h3 { a href=(sarif::page(name)) rel="noreferrer" { (name) } }
                @let n = rule.all().count();
                @if n > 1 { span.count { (plural(n, "finding")) } }
                @if rule.alike.len() > 1 { p { (rule.rule.summary) } }
            }
            @for group in &rule.alike { (shared(report, group)) }
        }
    }
}

/// A finding, and the other places where it is the same.
fn shared(report: &Report<'_>, group: &[&Finding]) -> Markup {
    let Some((first, others)) = group.split_first() else {
        return html! {};
    };
    html! {
        div.finding {
            h4 { (printable(&first.message)) }
            @if let Some(names) = first.shared_by() {
                p.soft { "clusters " (printable(&names)) }
            } @else if let Some(cluster) = first.cluster.as_ref().filter(|_| report.summary.clusters > 1) {
                p.soft { "cluster " (printable(cluster)) }
            }
            (excerpt::places(report, first, severity_colour(first.severity)))
            (notes(first))
            @if !others.is_empty() {
                p { "The same in:" }
                (folded(&others.iter().map(|f| place(report, f)).collect::<Vec<_>>(), PLACES, "places"))
            }
        }
    }
}

fn place(report: &Report<'_>, finding: &Finding) -> Markup {
    html! {
        @match &finding.location {
            Some(at) => {
                code { (printable(report.path(&at.file).as_str())) ":" (at.start().line) ":" (at.start().column) }
            }
            None => { (printable(finding.cluster.as_deref().unwrap_or_default())) }
        }
    }
}

fn notes(finding: &Finding) -> Markup {
    let fixes = finding.fixes.iter().map(|fix| {
        let how = match fix.applicability {
            Applicability::Safe => Some("hcoplan fix --write"),
            Applicability::Unsafe => Some("hcoplan fix --write --unsafe"),
            Applicability::Suggestion => None,
        };
        (printable(&fix.title), how)
    });
    html! {
        dl {
            @if let Some((name, runbook)) = finding.alert() {
                dt { "alert" } dd { a href=(runbook) rel="noreferrer" { (name) } }
            }
            @if let Some(what) = finding.consequence() { dt { "consequence" } dd { (what) } }
            @if let Some(help) = &finding.help { dt { "remedy" } dd { (printable(help)) } }
            @for (title, how) in fixes {
                dt { "fix" }
                dd { (title) @if let Some(how) = how { " (" code { (how) } ")" } }
            }
        }
    }
}
