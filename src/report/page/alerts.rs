//! The alerts that would fire: those that HCO's gauges would raise, and those that rules predict.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::clusters::ClusterRow;
use super::{findings, folded};
use crate::finding::{Finding, Severity};
use crate::release::{Distribution, version_parts};
use crate::report::plural;
use crate::report::text::printable;

/// Where upstream's runbooks are.
const RUNBOOKS: &str = "https://kubevirt.io/monitoring/runbooks";

/// Clusters shown of an alert.
const CLUSTERS: usize = 5;

/// An alert.
#[derive(Debug, Default)]
pub(super) struct Alert<'a> {
    runbook: String,
    /// Whether a gauge of HCO's raises it.
    measured: bool,
    clusters: BTreeSet<&'a str>,
    /// Rules that predict it, with the severity of their findings.
    rules: BTreeSet<(&'static str, Severity)>,
}

/// The alerts by name.
pub(super) fn of<'a>(rows: &'a [ClusterRow], found: &'a [Finding]) -> BTreeMap<&'static str, Alert<'a>> {
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
            alert.rules.insert((finding.rule.name, finding.severity));
        }
    }
    out
}

/// Where the distribution that a cluster runs publishes an alert's runbook, else upstream.
fn runbook(row: &ClusterRow, alert: &str) -> String {
    let release = row.matrix.as_ref().and_then(|m| version_parts(&m.release));
    let distribution = release.and_then(|(line, _)| Distribution::of_line(&line));
    let own = distribution.filter(|d| !d.is_upstream());
    let own = own.and_then(|d| d.runbook(alert));
    own.unwrap_or_else(|| format!("{RUNBOOKS}/{alert}.html"))
}

/// The content of the section.
pub(super) fn section(alerts: &BTreeMap<&'static str, Alert<'_>>) -> Markup {
    html! {
        @if alerts.is_empty() {
            p.good { "No alert is predicted." }
        } @else {
            div.scroll tabindex="0" role="group" aria-label="alerts" { table {
                caption { "What would fire once this is in the clusters." }
                thead { tr {
                    th scope="col" { "alert" } th scope="col" { "clusters" } th scope="col" { "because of" }
                } }
                tbody { @for (name, alert) in alerts { (one(name, alert)) } }
            } }
        }
    }
}

fn one(name: &str, alert: &Alert<'_>) -> Markup {
    let clusters: Vec<Markup> = alert.clusters.iter().map(|c| html! { (printable(c)) }).collect();
    html! {
        tr {
            th scope="row" {
                (name) br;
                a href=(alert.runbook) rel="noreferrer" { "runbook" }
            }
            td { (plural(clusters.len(), "cluster")) (folded(&clusters, CLUSTERS, "clusters")) }
            td {
                @for (rule, severity) in &alert.rules {
                    a href={ "#" (findings::anchor(rule, *severity)) } { (rule) } br;
                }
                @if alert.measured { small { "the operator's own gauge would raise it" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::ClusterMatrix;
    use crate::verdict::Verdict;

    #[test]
    fn a_runbook_is_the_distributions_own() {
        let row = |release: &str| ClusterRow {
            cluster: "c".to_owned(),
            verdict: Verdict::Accepted,
            alerts: vec!["HCOInstallationIncomplete"],
            unfinished: Vec::new(),
            matrix: Some(ClusterMatrix {
                cluster: "c".to_owned(),
                release: release.to_owned(),
                multi_arch: false,
                architectures: Vec::new(),
                obstacle: Some(crate::matrix::Obstacle::NoSsp),
                images: Vec::new(),
                machines: Vec::new(),
            }),
        };
        for (release, address) in
            [("1.18", "https://kubevirt.io/"), ("4.20.3", "https://github.com/openshift/runbooks/")]
        {
            let rows = [row(release)];
            let alerts = of(&rows, &[]);
            let runbook = &alerts["HCOInstallationIncomplete"].runbook;
            assert!(runbook.starts_with(address), "{release}: {runbook}");
        }
    }
}
