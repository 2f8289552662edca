//! The whole plan on one page: `hcoplan report`.

use std::io::{self, Write};

use maud::{Markup, html};

use super::clusters::ClusterRow;
use super::{PageHeader, Section, SeverityColour, alerts, clusters, findings, page};
use crate::finding::Severity;
use crate::matrix::{ClusterMatrix, counts};
use crate::report::changes::{self, Changes, Steps};
use crate::report::matrix::{self, MatrixPage};
use crate::report::text::printable;
use crate::report::{Report, plural};
use crate::review::Review;
use crate::source::Commit;
use crate::verdict::VerdictKind;

/// Everything that the page tells.
#[derive(Debug)]
pub struct PlanPage<'a> {
    /// The findings.
    pub report: &'a Report<'a>,
    /// What was read.
    pub source: &'a Source,
    /// The clusters, in their order.
    pub clusters: &'a [ClusterRow],
    /// What changes; `None` where there is nothing to compare with.
    pub changes: Option<&'a Changes<'a>>,
    /// What an upgrade does; `None` where none is asked for.
    pub upgrade: Option<&'a Steps>,
}

/// What the page was made from: nothing of it moves with the clock.
#[derive(Debug, Default)]
pub struct Source {
    /// What the repository is called; `None` outside one.
    pub repository: Option<String>,
    /// The commit that is checked out.
    pub head: Option<Commit>,
    /// The commit that it is compared with.
    pub base: Option<Commit>,
}

impl Source {
    fn shown(&self) -> Markup {
        let commit = |name: &str, commit: &Commit| {
            html! {
                dt { (name) }
                dd { code { (commit.name.get(..SHORT).unwrap_or(&commit.name)) }
                    " " time datetime=(commit.time) { (commit.time.replacen('T', " ", 1)) } }
            }
        };
        html! {
            @if self.repository.is_some() || self.head.is_some() {
                dl.source {
                    @if let Some(name) = &self.repository { dt { "repository" } dd { (printable(name)) } }
                    @if let Some(head) = &self.head { (commit("commit", head)) }
                    @if let Some(base) = &self.base { (commit("base", base)) }
                }
            }
        }
    }
}

/// So many letters of a commit's name are shown: as many as GitHub shows, and more than git's least.
const SHORT: usize = 10;

/// Prints the page.
///
/// # Errors
/// When the writer fails.
pub fn write_plan(plan: &PlanPage<'_>, out: &mut dyn Write) -> io::Result<()> {
    let found = plan.report.findings;
    let matrices: Vec<ClusterMatrix> = plan.clusters.iter().filter_map(|c| c.matrix.clone()).collect();
    let matrix = MatrixPage { clusters: &matrices, problems: false, terminal: plan.report.terminal };
    let fires = alerts::of(plan.clusters, found);
    let compared = plan.changes.map(|c| c.clusters);
    let review = plan.changes.map(Changes::review);
    let mut sections = vec![
        Section {
            anchor: "clusters",
            name: "Clusters",
            count: Some(plan.clusters.len()),
            content: clusters::section(plan.clusters, found, compared),
        },
        Section { anchor: "matrix", name: "Golden images", count: None, content: matrix::section(&matrix) },
        Section {
            anchor: "findings",
            name: "Findings",
            count: Some(found.len()),
            content: findings::section(plan.report),
        },
        Section { anchor: "alerts", name: "Alerts", count: Some(fires.len()), content: alerts::section(&fires) },
        Section {
            anchor: "changes",
            name: "Changes",
            count: review.as_ref().map(changes::count),
            content: match plan.changes {
                Some(changes) => match &review {
                    Some(review) => changes::section(changes, review),
                    None => html! {},
                },
                None => html! { p {
                    "There is no output tree to compare with: " code { "hcoplan plan" }
                    " writes one, " code { "--against REV" } " compares with a revision."
                } },
            },
        },
    ];
    if let Some(steps) = plan.upgrade {
        let upgrade = Section {
            anchor: "upgrade",
            name: "Upgrade",
            count: None,
            content: changes::checklist(steps, plan.report),
        };
        sections.push(upgrade);
    }
    let mut lead = lead(plan, &matrices, fires.len());
    if let (Some(changes), Some(review)) = (plan.changes, &review) {
        changed(changes, review, &mut lead);
    }
    out.write_all(page("hcoplan report", &lead, &sections).as_bytes())
}

/// `; 2 errors`.
fn and_errors(errors: usize) -> String {
    if errors > 0 { format!("; {}", plural(errors, "error")) } else { String::new() }
}

fn lead(plan: &PlanPage<'_>, matrices: &[ClusterMatrix], fires: usize) -> PageHeader {
    let of = |severity| {
        let all = plan.report.findings.iter();
        all.filter(|f| f.severity == severity).count()
    };
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    let is = |kind| plan.clusters.iter().filter(|c| c.verdict.kind() == kind).count();
    let (refused, unplanned) = (is(VerdictKind::Rejected) + is(VerdictKind::Breaks), is(VerdictKind::NotPlanned));
    let all = plural(plan.clusters.len(), "cluster");
    let (tone, verdict) = match (refused, unplanned, errors, warnings) {
        (0, 0, 0, 0) => (SeverityColour::Good, "Nothing to complain about".to_owned()),
        (0, 0, 0, n) => (SeverityColour::Warn, plural(n, "warning")),
        (0, 0, n, _) => (SeverityColour::Bad, plural(n, "error")),
        (0, n, _, _) => (SeverityColour::Bad, format!("{n} of {all} not planned{}", and_errors(errors))),
        (n, _, _, _) => (SeverityColour::Bad, format!("{n} of {all} rejected or broken{}", and_errors(errors))),
    };
    let sentence = match (refused, unplanned) {
        (0, 0) => format!("in {all}; every HyperConverged would be accepted."),
        (_, 0) => "The others are accepted.".to_owned(),
        (0, _) => "The findings say why.".to_owned(),
        (_, n) => format!("{n} could not be planned."),
    };
    let counted = counts(matrices);
    let mut figures = vec![
        (
            format!("{} of {}", counted.covered, counted.wanted()),
            "pairs of golden image and architecture covered",
            "matrix",
        ),
        (plan.report.findings.len().to_string(), "findings", "findings"),
        (fires.to_string(), "alerts predicted", "alerts"),
    ];
    figures.push((plan.clusters.len().to_string(), "clusters", "clusters"));
    PageHeader { tone, verdict, sentence, figures, source: plan.source.shown(), content: html! {} }
}

/// Where something is compared, the change comes first: its verdict and what follows from it.
fn changed(changes: &Changes<'_>, review: &Review<'_>, lead: &mut PageHeader) {
    let n = review.counts;
    let text = format!("+{} ~{} −{}", n.add, n.change, n.remove);
    lead.figures.insert(0, (text, "objects added, changed, removed", "changes"));
    lead.verdict = changes::sentence_case(&review.verdict());
    lead.sentence = format!("From {} to {}.", changes.left, changes.right);
    lead.tone = changes::tone(review.level);
    lead.content = changes::entries(changes, review);
}
