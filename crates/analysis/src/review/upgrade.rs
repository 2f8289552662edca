//! An upgrade over several releases: reports the effects of every step once, with its release.

use super::{Entry, FindingLine, Review};
use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_explain::diff::ClusterDiff;

/// The steps of an upgrade, each with its target release and the changes of the clusters.
#[derive(Debug)]
pub struct Steps {
    /// The steps, in order.
    pub steps: Vec<(String, Vec<ClusterDiff>)>,
    /// Number of clusters examined.
    pub compared: usize,
    /// Clusters that already run the last release or a later one.
    pub already_there: Vec<String>,
}

impl Steps {
    /// The review of all steps.
    pub fn review(&self) -> Review<'_> {
        Review::of_steps(&self.steps, self.compared)
    }
}

/// The consequences of the steps. One entry covers several releases, and several clusters with the same releases.
pub(super) fn entries(steps: &[(String, Vec<ClusterDiff>)]) -> Vec<Entry<'_>> {
    let mut out: Vec<Entry<'_>> = Vec::new();
    for name in clusters(steps) {
        for entry in of_cluster(steps, name) {
            let known = out.iter_mut().find(|e| {
                e.effect.is_like(&entry.effect)
                    && e.effect.subjects == entry.effect.subjects
                    && e.releases == entry.releases
            });
            match known {
                Some(known) => known.clusters.push(name),
                None => out.push(entry),
            }
        }
    }
    out.sort_by_key(|e| (e.effect.rank(), std::cmp::Reverse(e.clusters.len())));
    out
}

fn of_cluster<'a>(steps: &'a [(String, Vec<ClusterDiff>)], name: &'a str) -> Vec<Entry<'a>> {
    let mut out: Vec<Entry<'a>> = Vec::new();
    for (release, diffs) in steps {
        for diff in diffs.iter().filter(|d| d.cluster == name) {
            for effect in diff.effects() {
                let known = out.iter_mut().find(|e| e.effect.is_like(&effect) && e.effect.subjects == effect.subjects);
                match known {
                    Some(known) => known.releases.push(release),
                    None => out.push(Entry {
                        effect,
                        clusters: vec![name],
                        // The cause is always the release.
                        because: Vec::new(),
                        releases: vec![release],
                    }),
                }
            }
        }
    }
    out
}

/// The findings at the end that didn't exist at the start, and all errors in between.
pub(super) fn added(steps: &[(String, Vec<ClusterDiff>)]) -> Vec<FindingLine<'_>> {
    let same = |a: &Finding, b: &Finding| (a.rule.name, &a.message) == (b.rule.name, &b.message);
    let mut out: Vec<FindingLine<'_>> = Vec::new();
    for name in clusters(steps) {
        let mut found: Vec<&Finding> = Vec::new();
        for (_, diffs) in steps {
            for diff in diffs.iter().filter(|d| d.cluster == name) {
                let goes = |f: &&Finding| {
                    let gone = diff.findings_removed.iter().any(|gone| same(gone, f));
                    gone && f.severity < Severity::Error
                };
                found.retain(|f| !goes(f));
                found.extend(&diff.findings_added);
            }
        }
        for finding in found {
            match out.iter_mut().find(|line| same(line.finding, finding)) {
                Some(line) if line.clusters.last() == Some(&name) => {}
                Some(line) => line.clusters.push(name),
                None => out.push(FindingLine { finding, clusters: vec![name] }),
            }
        }
    }
    out.sort_by_key(|line| std::cmp::Reverse(line.finding.severity));
    out
}

/// Number of errors among the findings.
pub(super) fn errors(lines: &[FindingLine<'_>]) -> usize {
    let errors = lines.iter().filter(|line| line.finding.severity == Severity::Error);
    errors.map(|line| line.clusters.len()).sum()
}

/// The names of the clusters, in the order of the first step with each.
fn clusters(steps: &[(String, Vec<ClusterDiff>)]) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for diff in steps.iter().flat_map(|(_, diffs)| diffs) {
        if !out.contains(&&*diff.cluster) {
            out.push(&diff.cluster);
        }
    }
    out
}
