//! The whole plan on one page: `hcoplan report`.

use super::changes::{UpgradeView, View};
use super::findings;
use super::matrix::{self, MatrixPage, PAIRS};
use crate::changes::Changes;
use crate::document::{Block, Document, Level, Text};
use crate::document::{Cell, Table};
use crate::prelude::*;
use crate::{Report, plural};
use hcoplan_analysis::matrix::{ClusterMatrix, counts};
use hcoplan_analysis::review::level_of;
use hcoplan_diagnostics::source::Commit;
use hcoplan_explain::diff::semantic::Impact;
use hcoplan_planner::release::{Distribution, version_parts};
use hcoplan_planner::verdict::{Verdict, VerdictKind};

/// The address of upstream's runbooks.
const RUNBOOKS: &str = "https://kubevirt.io/monitoring/runbooks";

/// Characters of an abbreviated commit, as many as GitHub shows.
const SHORT: usize = 10;

/// The content of the page.
#[derive(Debug)]
pub struct PlanPage<'a> {
    /// The findings.
    pub report: &'a Report<'a>,
    /// The repository and commits.
    pub source: &'a Source,
    /// The clusters, in their order.
    pub clusters: &'a [ClusterRow],
    /// The changes; `None` without a base to compare with.
    pub changes: Option<&'a Changes<'a>>,
    /// The upgrade; `None` unless requested.
    pub upgrade: Option<&'a Steps>,
}

/// The repository and commits of a page; without a time, so that equal input gives equal pages.
#[derive(Debug, Default)]
pub struct Source {
    /// The repository's name; `None` outside of one.
    pub repository: Option<String>,
    /// The commit checked out.
    pub head: Option<Commit>,
    /// The commit compared with.
    pub base: Option<Commit>,
}

/// A cluster of a run.
#[derive(Debug)]
pub struct ClusterRow {
    /// Its name.
    pub cluster: String,
    /// The verdict on its HyperConverged.
    pub verdict: Verdict,
    /// The alerts that HCO's metrics would raise.
    pub alerts: Vec<&'static str>,
    /// HCO's enabled feature gates that aren't GA, with their phase.
    pub unfinished: Vec<(String, String)>,
    /// Its golden images; `None` if it isn't planned.
    pub matrix: Option<ClusterMatrix>,
}

impl Source {
    fn text(&self) -> Text {
        let commit = |name: &str, commit: &Commit| {
            let short = commit.name.get(..SHORT).unwrap_or(&commit.name);
            Text::new().soft(format!("{name} ")).code(short).plain(format!(" {}", commit.time.replacen('T', " ", 1)))
        };
        let name = self.repository.iter().map(|name| Text::new().soft("repository ").plain(name));
        let head = self.head.iter().map(|head| commit("commit", head));
        let base = self.base.iter().map(|base| commit("base", base));
        Text::join(name.chain(head).chain(base), " · ")
    }
}

/// The page.
pub fn plan_page(plan: &PlanPage<'_>) -> Document {
    let matrices: Vec<ClusterMatrix> = plan.clusters.iter().filter_map(|c| c.matrix.clone()).collect();
    let alerts = alerts(plan.clusters, plan.report.findings);
    let review = plan.changes.map(Changes::review);
    let view = plan.changes.zip(review.as_ref()).map(|(changes, review)| View::new(changes, review));
    let counted = counts(&matrices);
    let mut blocks = vec![
        Block::Paragraph(plan.source.text()),
        Block::List(vec![
            format!("{} of {} {PAIRS} covered", counted.covered, counted.wanted()).into(),
            format!("{}, {} predicted", plural(plan.report.findings.len(), "finding"), plural(alerts.len(), "alert"))
                .into(),
        ]),
    ];
    let mut section = |name: &str, content: Vec<Block>| {
        blocks.push(Block::Heading(1, name.into()));
        blocks.extend(content);
    };
    let changes = match &view {
        Some(view) => std::iter::once(view.sides()).chain(view.stories(false)).collect(),
        None => vec![Block::Paragraph(
            Text::new().plain("There is nothing to compare with: ").code("--against REV").plain(" names a revision."),
        )],
    };
    section("Changes", changes);
    section("Clusters", vec![Block::Table(cluster_table(plan, review.as_ref(), &alerts))]);
    // What a consequence says isn't said again.
    let told: BTreeSet<(&str, &str)> = review
        .iter()
        .flat_map(Review::entries)
        .flat_map(|entry| &entry.rules)
        .map(|f| (f.rule.name, f.message.as_str()))
        .collect();
    let is_left = |f: &Finding| !told.contains(&(f.rule.name, f.message.as_str()));
    let mut found = vec![Block::Paragraph(plan.report.totals().into())];
    found.extend(findings::blocks(plan.report, is_left, |file| plan.report.path(file)));
    section("Findings", found);
    section("Alerts", vec![alert_block(&alerts)]);
    let matrix = MatrixPage { clusters: &matrices, problems: false, terminal: plan.report.terminal };
    section("Matrix", matrix::blocks(&matrix, false));
    if let (Some(steps), Some(changes)) = (plan.upgrade, plan.changes) {
        section("Upgrade", UpgradeView(steps).checklist(changes));
    }
    let verdict = view.as_ref().map_or_else(|| verdict(plan), View::verdict);
    Document { title: "hcoplan report".to_owned(), verdict: Some(verdict), blocks, last: None }
}

/// The verdict without a base to compare with.
fn verdict(plan: &PlanPage<'_>) -> (Level, Text) {
    let works = |row: &ClusterRow| matches!(row.verdict.kind(), VerdictKind::Accepted | VerdictKind::Removed);
    let level = if plan.clusters.iter().all(works) { findings::level(plan.report) } else { Level::Bad };
    (level, plan.report.totals().into())
}

/// The table of clusters, the worst first.
fn cluster_table(
    plan: &PlanPage<'_>,
    review: Option<&Review<'_>>,
    alerts: &BTreeMap<&'static str, Alert<'_>>,
) -> Table {
    let (rows, found) = (plan.clusters, plan.report.findings);
    let changes = plan.changes.map(|c| c.clusters);
    let diffs: BTreeMap<&str, &ClusterDiff> = changes.into_iter().flatten().map(|d| (d.cluster.as_str(), d)).collect();
    let any_unfinished = rows.iter().any(|row| !row.unfinished.is_empty());
    let mut header = vec!["cluster", "release", "verdict", "workload nodes", "errors", "warnings", "info", "alerts"];
    header.push("images covered");
    header.extend(changes.is_some().then_some("objects"));
    header.extend(any_unfinished.then_some("unfinished gates"));
    let mut sorted: Vec<(Cell, &ClusterRow)> =
        rows.iter().map(|row| (verdict_cell(row, plan.report, review), row)).collect();
    sorted.sort_by_key(|(verdict, row)| (verdict.level, row.verdict.kind()));
    let mut counted: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
    for finding in found {
        for cluster in finding.clusters() {
            *counted.entry((cluster, finding.severity)).or_default() += 1;
        }
    }
    let row = |(verdict, row): (Cell, &ClusterRow)| {
        let of = |severity| counted.get(&(row.cluster.as_str(), severity)).copied().unwrap_or_default();
        let release = row.matrix.as_ref().map_or("", |m| &m.release);
        let mut cells: Vec<Cell> = vec![row.cluster.as_str().into(), release.into(), verdict, nodes(row).into()];
        cells.extend(Severity::ALL.map(|s| of(s).to_string().into()));
        cells.push(alerts.values().filter(|a| a.clusters.contains(&*row.cluster)).count().to_string().into());
        cells.push(covered(row).into());
        cells.extend(changes.is_some().then(|| changed(diffs.get(row.cluster.as_str()).copied()).into()));
        cells.extend(any_unfinished.then(|| unfinished(row).into()));
        cells
    };
    Table {
        caption: "clusters".to_owned(),
        header: header.into_iter().map(Text::from).collect(),
        rows: sorted.into_iter().map(row).collect(),
        sortable: true,
    }
}

/// The verdict; of an accepted cluster the worst consequence, if it breaks something.
fn verdict_cell(row: &ClusterRow, report: &Report<'_>, review: Option<&Review<'_>>) -> Cell {
    let verdict = &row.verdict;
    let of_cluster = review.into_iter().flat_map(Review::entries).filter(|e| e.clusters.contains(&&*row.cluster));
    let worst = of_cluster.filter(|e| level_of(&e.effect) == Level::Bad).map(|e| e.effect.impact).min();
    let is_own = |f: &&Finding| f.is_error() && !report.is_folded(f) && f.clusters().any(|name| name == row.cluster);
    let (level, word) = match verdict.kind() {
        VerdictKind::Accepted if worst.is_some() => (Level::Bad, worst.map_or("", Impact::title)),
        VerdictKind::Accepted if report.findings.iter().any(|f| is_own(&f)) => (Level::Bad, "accepted, with errors"),
        VerdictKind::Accepted => (Level::Good, "accepted"),
        VerdictKind::Rejected => (Level::Bad, "rejected"),
        VerdictKind::Breaks => (Level::Bad, "accepted, and the operator fails"),
        VerdictKind::NotPlanned => (Level::Bad, "not planned"),
        VerdictKind::Removed => (Level::Warn, "removed"),
    };
    let reason = match verdict {
        Verdict::NotPlanned(why) => Some(why.to_string()),
        _ => None,
    };
    Cell { text: word.into(), level: Some(level), reason }
}

fn nodes(row: &ClusterRow) -> String {
    let all = row.matrix.iter().flat_map(|m| &m.architectures);
    let workload = all.filter(|a| a.workload_nodes > 0);
    joined(workload.map(|a| format!("{} × {}", a.workload_nodes, a.name)), ", ")
}

fn unfinished(row: &ClusterRow) -> String {
    joined(row.unfinished.iter().map(|(gate, known)| format!("{gate} ({known})")), "; ")
}

fn covered(row: &ClusterRow) -> String {
    let counted = counts(row.matrix.as_slice());
    match counted.wanted() {
        0 => "–".to_owned(),
        wanted => format!("{} of {wanted}", counted.covered),
    }
}

fn changed(diff: Option<&ClusterDiff>) -> String {
    let Some(diff) = diff else {
        return "0".to_owned();
    };
    let count = diff.comparison.objects.iter().filter(|o| !o.is_noise()).count();
    match diff.whole {
        Some(Kind::Add) if diff.rejected_before.is_some() => format!("{count}, as a new one"),
        Some(Kind::Add) => format!("{count}, new"),
        _ => count.to_string(),
    }
}

/// A predicted alert.
#[derive(Debug, Default)]
struct Alert<'a> {
    runbook: String,
    /// Whether an HCO metric raises it.
    measured: bool,
    clusters: BTreeSet<&'a str>,
    /// Rules that predict it, with the anchors of their findings.
    rules: BTreeMap<&'static str, String>,
}

/// The alerts by name: those raised by HCO's metrics, and those predicted by rules.
fn alerts<'a>(rows: &'a [ClusterRow], found: &'a [Finding]) -> BTreeMap<&'static str, Alert<'a>> {
    let mut out: BTreeMap<&'static str, Alert<'a>> = BTreeMap::new();
    for row in rows {
        for name in &row.alerts {
            let alert = out.entry(name).or_default();
            alert.measured = true;
            alert.clusters.insert(&row.cluster);
            if alert.runbook.is_empty() {
                alert.runbook = runbook(row, name);
            }
        }
    }
    for finding in found {
        if let Some((name, runbook)) = finding.alert() {
            let alert = out.entry(name).or_default();
            runbook.clone_into(&mut alert.runbook);
            alert.clusters.extend(finding.clusters());
            alert.rules.insert(finding.rule.name, findings::anchor(finding));
        }
    }
    out
}

/// The address of an alert's runbook, from the cluster's distribution if it publishes one, else from upstream.
fn runbook(row: &ClusterRow, alert: &str) -> String {
    let release = row.matrix.as_ref().and_then(|m| version_parts(&m.release));
    let distribution = release.and_then(|(line, _)| Distribution::of_line(&line));
    let own = distribution.filter(|d| !d.is_upstream()).and_then(|d| d.runbook(alert));
    own.unwrap_or_else(|| format!("{RUNBOOKS}/{alert}.html"))
}

fn alert_block(alerts: &BTreeMap<&'static str, Alert<'_>>) -> Block {
    if alerts.is_empty() {
        return Block::Paragraph(Text::new().level(Level::Good, "No alert is predicted."));
    }
    let row = |(name, alert): (&&'static str, &Alert<'_>)| {
        let names: Vec<&str> = alert.clusters.iter().copied().collect();
        let rules = alert.rules.iter().map(|(rule, anchor)| Text::new().link(*rule, format!("#{anchor}")));
        let gauge = alert.measured.then(|| Text::new().soft("the operator's own gauge raises it"));
        let name = Text::new().strong(*name).plain(" ").address("runbook", &alert.runbook);
        vec![name.into(), clusters(&names).into(), Text::join(rules.chain(gauge), ", ").into()]
    };
    Block::Table(Table {
        caption: "alerts that fire once this is in the clusters".to_owned(),
        header: ["alert", "clusters", "because of"].map(Text::from).to_vec(),
        rows: alerts.iter().map(row).collect(),
        sortable: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(release: &str) -> ClusterRow {
        ClusterRow {
            cluster: "c".to_owned(),
            verdict: Verdict::Accepted,
            alerts: vec!["HCOInstallationIncomplete"],
            unfinished: Vec::new(),
            matrix: Some(ClusterMatrix {
                cluster: "c".to_owned(),
                release: release.to_owned(),
                basis: hcoplan_repository::repo::ReleaseBasis::Stated,
                multi_arch: false,
                architectures: Vec::new(),
                states_nodes: true,
                obstacle: Some(hcoplan_analysis::matrix::Obstacle::NoSsp),
                images: Vec::new(),
                machines: Vec::new(),
            }),
        }
    }

    #[test]
    fn links_the_runbook_of_the_distribution() {
        for (release, address) in
            [("1.18", "https://kubevirt.io/"), ("4.20.3", "https://github.com/openshift/runbooks/")]
        {
            let rows = [row(release)];
            let alerts = alerts(&rows, &[]);
            let runbook = &alerts["HCOInstallationIncomplete"].runbook;
            assert!(runbook.starts_with(address), "{release}: {runbook}");
        }
    }

    #[test]
    fn names_unfinished_gates() {
        let mut one = row("1.18");
        one.unfinished = vec![("objectGraph".to_owned(), "alpha".to_owned())];
        assert_eq!(unfinished(&one), "objectGraph (alpha)");
    }
}
