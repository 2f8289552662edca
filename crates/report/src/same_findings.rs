//! Groups equal findings of several clusters or objects, so that people read them once.

use crate::prelude::*;
use std::collections::HashMap;

/// Equal findings of several clusters or objects.
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
        all.flat_map(Finding::clusters).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The properties that equal findings share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key<'a> {
    rule: &'static str,
    severity: Severity,
    message: Vec<&'a str>,
    words: [Option<&'a str>; 4],
    related: Vec<&'a str>,
    fixes: Vec<(&'a str, Applicability)>,
    is_silent: bool,
    number: usize,
}

/// Groups equal findings of different clusters, in the order of the first of each group; `of_objects`: also those that
/// differ by their object's name only.
pub(super) fn group_alike(findings: &[Finding], of_objects: bool) -> Vec<Alike<'_>> {
    let mut out: Vec<Alike<'_>> = Vec::new();
    let mut known: HashMap<Key<'_>, usize> = HashMap::new();
    let mut seen: HashMap<(Key<'_>, Option<&str>, Option<&str>), usize> = HashMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let alone = || Alike { indexes: vec![index], first: finding, others: Vec::new() };
        // A finding of no cluster, or of several through one file, is already unique.
        if finding.cluster.is_none() || !finding.also.is_empty() {
            out.push(alone());
            continue;
        }
        let name = finding.object_name().filter(|_| of_objects);
        let mut key = Key {
            rule: finding.rule.name,
            severity: finding.severity,
            message: finding.message.split(' ').filter(|word| Some(*word) != name).collect(),
            words: [
                finding.label.as_deref(),
                if of_objects { finding.kind_of_object() } else { finding.object.as_deref() },
                finding.help.as_deref(),
                finding.runbook.as_deref(),
            ],
            related: finding.related.iter().map(|r| &*r.message).collect(),
            fixes: finding.fixes.iter().map(|f| (&*f.title, f.applicability)).collect(),
            is_silent: finding.is_silent,
            number: 0,
        };
        // The second such finding of an object is grouped with the second ones of others.
        let before = seen.entry((key.clone(), finding.cluster.as_deref(), finding.object.as_deref())).or_default();
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
        let groups = group_alike(&findings, true);
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
        let of = |name: &str| {
            finding("c/a", &format!("the machine {name} is old")).object(format!("VirtualMachine x/{name}"))
        };
        let findings = [of("a"), of("ache"), finding("c/a", "the machine b is old")];
        let counts = |of_objects| group_alike(&findings, of_objects).iter().map(|g| g.others.len()).collect::<Vec<_>>();
        assert_eq!((counts(true), counts(false)), (vec![1, 0], vec![0, 0, 0]));
    }
}
