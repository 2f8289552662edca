//! Groups equal findings of several clusters, so that people read them once.

use crate::prelude::*;
use std::collections::HashMap;

/// Equal findings of several clusters.
#[derive(Debug)]
pub(super) struct Alike<'a> {
    /// Their indexes in the report's findings, in its order.
    pub(super) indexes: Vec<usize>,
    /// The first finding, which represents all.
    pub(super) first: &'a Finding,
    /// The others.
    pub(super) others: Vec<&'a Finding>,
}

impl<'a> Alike<'a> {
    /// Whether a predicate holds for all.
    pub(super) fn all(&self, is_so: impl Fn(&Finding) -> bool) -> bool {
        is_so(self.first) && self.others.iter().all(|f| is_so(f))
    }

    /// The clusters, sorted.
    pub(super) fn clusters(&self) -> Vec<&'a str> {
        let all = std::iter::once(self.first).chain(self.others.iter().copied());
        all.flat_map(Finding::clusters).collect()
    }
}

/// The properties that equal findings share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key<'a> {
    rule: &'static str,
    severity: Severity,
    words: [Option<&'a str>; 5],
    related: Vec<&'a str>,
    fixes: Vec<(&'a str, Applicability)>,
    is_silent: bool,
    number: usize,
}

/// Groups equal findings of different clusters, in the order of the first of each group.
pub(super) fn group_alike(findings: &[Finding]) -> Vec<Alike<'_>> {
    let mut out: Vec<Alike<'_>> = Vec::new();
    let mut known: HashMap<Key<'_>, usize> = HashMap::new();
    let mut seen: HashMap<(Key<'_>, Option<&str>), usize> = HashMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let alone = || Alike { indexes: vec![index], first: finding, others: Vec::new() };
        // A finding of no cluster, or of several through one file, is already unique.
        if finding.cluster.is_none() || !finding.also.is_empty() {
            out.push(alone());
            continue;
        }
        let mut key = Key {
            rule: finding.rule.name,
            severity: finding.severity,
            words: [
                Some(&*finding.message),
                finding.label.as_deref(),
                finding.object.as_deref(),
                finding.help.as_deref(),
                finding.runbook.as_deref(),
            ],
            related: finding.related.iter().map(|r| &*r.message).collect(),
            fixes: finding.fixes.iter().map(|f| (&*f.title, f.applicability)).collect(),
            is_silent: finding.is_silent,
            number: 0,
        };
        // The second such finding of a cluster is grouped with the second ones of others.
        let before = seen.entry((key.clone(), finding.cluster.as_deref())).or_default();
        key.number = *before;
        *before += 1;
        match known.get(&key).and_then(|at| out.get_mut(*at)) {
            Some(group) => {
                group.indexes.push(index);
                group.others.push(finding);
            }
            None => {
                known.insert(key, out.len());
                out.push(alone());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_same_finding_of_several_clusters_once() {
        let rule = hcoplan_lint::find("null-section").expect("a rule").rule;
        let finding = |cluster: &str, message: &str| {
            let mut finding = Finding::new(rule, message);
            finding.cluster = Some(cluster.into());
            finding
        };
        let findings = [
            finding("c/a", "one"),
            finding("c/a", "one"),
            finding("c/a", "two"),
            finding("c/b", "one"),
            finding("c/b", "one"),
            Finding::new(rule, "one"),
        ];
        let groups = group_alike(&findings);
        let groups: Vec<_> =
            groups.iter().map(|g| (&*g.first.message, clusters(&g.clusters()), g.indexes.clone())).collect();
        let both = || "2 clusters: a, b".to_owned();
        let expected = [
            ("one", both(), vec![0, 3]),
            ("one", both(), vec![1, 4]),
            ("two", "c/a".to_owned(), vec![2]),
            ("one", String::new(), vec![5]),
        ];
        assert_eq!(groups, expected);
    }
}
