//! The clusters, a line each.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::SeverityColour;
use crate::diff::{ClusterDiff, Kind};
use crate::finding::{Finding, Severity};
use crate::matrix::{ClusterMatrix, State};
use crate::report::text::printable;
use crate::verdict::{Verdict, VerdictKind};

/// A cluster of a run.
#[derive(Debug, Clone)]
pub struct ClusterRow {
    /// Its name.
    pub cluster: String,
    /// What becomes of its HyperConverged.
    pub verdict: Verdict,
    /// The alerts that HCO's gauges would raise.
    pub alerts: Vec<&'static str>,
    /// HCO's feature gates that are on and that aren't finished, with how far they are.
    pub unfinished: Vec<(String, String)>,
    /// Its golden images; `None` where nothing could be planned.
    pub matrix: Option<ClusterMatrix>,
}

/// A verdict as a badge.
fn shown(verdict: &Verdict) -> Markup {
    let (tone, word) = match verdict.kind() {
        VerdictKind::Accepted => (SeverityColour::Good, "accepted"),
        VerdictKind::Rejected => (SeverityColour::Bad, "rejected"),
        VerdictKind::Breaks => (SeverityColour::Bad, "accepted, and the operator fails"),
        VerdictKind::NotPlanned => (SeverityColour::Bad, "not planned"),
        VerdictKind::Removed => (SeverityColour::Warn, "removed"),
    };
    html! { span.state.(tone.class()) { (word) }
    @if let Verdict::NotPlanned(why) = verdict { br; (printable(&why.to_string())) } }
}

/// The clusters, those that can't work first.
fn worst_first(rows: &[ClusterRow]) -> Vec<&ClusterRow> {
    let mut out: Vec<&ClusterRow> = rows.iter().collect();
    out.sort_by_key(|row| row.verdict.kind());
    out
}

/// The content of the section.
pub(super) fn section(rows: &[ClusterRow], findings: &[Finding], changes: Option<&[ClusterDiff]>) -> Markup {
    let counted = counted(findings);
    let diffs: BTreeMap<&str, &ClusterDiff> = changes.into_iter().flatten().map(|d| (d.cluster.as_str(), d)).collect();
    let any_unfinished = rows.iter().any(|row| !row.unfinished.is_empty());
    html! {
        div.scroll tabindex="0" role="group" aria-label="clusters" { table {
            thead { tr {
                th scope="col" { "cluster" } th scope="col" { "release" } th scope="col" { "verdict" }
                th scope="col" { "workload nodes" }
                th.number scope="col" { "errors" } th.number scope="col" { "warnings" }
                th.number scope="col" { "info" } th.number scope="col" { "alerts" }
                th.number scope="col" { "images × architectures covered" }
                @if changes.is_some() { th.number scope="col" { "objects changed" } }
                @if any_unfinished { th scope="col" { "feature gates that aren’t finished" } }
            } }
            tbody { @for row in worst_first(rows) {
                @let count = counted.get(row.cluster.as_str()).copied().unwrap_or_default();
                tr {
                    th scope="row" { (printable(&row.cluster)) }
                    td { (row.matrix.as_ref().map_or("", |m| &m.release)) }
                    td { (shown(&row.verdict)) }
                    td.keep { (nodes(row)) }
                    @for n in count { td.number { (n) } }
                    td.number { (row.alerts.len()) }
                    td.number { (covered(row)) }
                    @if changes.is_some() {
                        td.number { (changed(diffs.get(row.cluster.as_str()).copied())) }
                    }
                    @if any_unfinished { td { (unfinished(row)) } }
                }
            } }
        } }
    }
}

/// Errors, warnings and info of each cluster.
fn counted(findings: &[Finding]) -> BTreeMap<&str, [usize; 3]> {
    let mut out: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for finding in findings {
        for cluster in finding.clusters() {
            let [errors, warnings, infos] = out.entry(cluster).or_default();
            *match finding.severity {
                Severity::Error => errors,
                Severity::Warning => warnings,
                Severity::Info => infos,
            } += 1;
        }
    }
    out
}

fn nodes(row: &ClusterRow) -> String {
    let all = row.matrix.iter().flat_map(|m| &m.architectures);
    let workload = all.filter(|a| a.workload_nodes > 0);
    let each = workload.map(|a| format!("{} × {}", a.workload_nodes, a.name));
    each.collect::<Vec<_>>().join(", ")
}

fn unfinished(row: &ClusterRow) -> String {
    let each = row.unfinished.iter();
    let each = each.map(|(gate, known)| format!("{gate} ({known})"));
    each.collect::<Vec<_>>().join("; ")
}

fn covered(row: &ClusterRow) -> String {
    let images = row.matrix.iter().flat_map(|m| &m.images);
    let (mut covered, mut wanted) = (0, 0);
    for cell in images.flat_map(|i| &i.cells) {
        covered += usize::from(cell.state == State::Covered);
        wanted += usize::from(cell.state == State::Covered || cell.state.is_problem());
    }
    match wanted {
        0 => "–".to_owned(),
        wanted => format!("{covered} of {wanted}"),
    }
}

fn changed(diff: Option<&ClusterDiff>) -> String {
    let Some(diff) = diff else {
        return "0".to_owned();
    };
    let objects = diff.comparison.objects.iter().filter(|o| !o.is_noise());
    let count = objects.count();
    match diff.whole {
        Some(Kind::Add) if diff.refused_before.is_some() => format!("{count}, as a new one"),
        Some(Kind::Add) => format!("{count}, new"),
        _ => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_that_are_not_finished_are_named() {
        let mut row = ClusterRow {
            cluster: "east".to_owned(),
            verdict: Verdict::Accepted,
            alerts: Vec::new(),
            unfinished: Vec::new(),
            matrix: None,
        };
        let page = |row: &ClusterRow| section(std::slice::from_ref(row), &[], None).into_string();
        assert!(!page(&row).contains("finished"));
        row.unfinished = vec![("objectGraph".to_owned(), "alpha".to_owned())];
        assert!(page(&row).contains("<td>objectGraph (alpha)</td>"), "{}", page(&row));
    }
}
