//! Workloads prefer an architecture but don't require it.

use super::prelude::*;

const LABEL: &str = "kubernetes.io/arch";

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let field = cx.field(Pods::Workload.field());
    let placement = field.node()?;
    if cx.has_nodes() && cx.topology().workload_architectures.len() < 2 {
        return None;
    }
    let affinity = placement.below("affinity.nodeAffinity")?;
    let terms = affinity.list_at(REQUIRED_TERMS);
    let selector = placement.get("nodeSelector");
    let is_required =
        selector.is_some_and(|s| s.get(LABEL).is_some()) || terms.iter().any(|t| requirement(t).is_some());
    if is_required {
        return None;
    }
    let preferred = affinity.list_at(PREFERRED).iter().enumerate();
    let found = preferred.filter_map(|(i, p)| {
        let (j, requirement) = requirement(p.get("preference")?)?;
        Some(((i, j), requirement))
    });
    let (indexes, found) = found.into_iter().next()?;
    let values: Vec<&str> = strings(found.list_at("values")).collect();
    let what = if values.is_empty() { "an architecture".to_owned() } else { and(&values) };
    let message = format!("the workload placement only prefers {what}: HCO counts the nodes of every architecture");
    let place = found.get("key").unwrap_or(found);
    let mut finding = cx.finding(message).at(cx.location(place.span)).label("only a preference");
    if cx.is_multi_arch() {
        finding = finding.info();
    }
    Some(finding.remedy(REQUIRE, require(cx, indexes, found, terms.len())))
}

const REQUIRE: &str = "move it to requiredDuringSchedulingIgnoredDuringExecution";

/// Moves the preferred term's `at.1`th expression to all required terms.
fn require(cx: &Context<'_>, at: (usize, usize), found: &Node, terms: usize) -> Option<Fix> {
    let affinity = cx.field(Pods::Workload.field()).path()?;
    let affinity = affinity.below("affinity.nodeAffinity");
    let document = cx.document();
    let preferred = affinity.key(PREFERRED);
    let preference = preferred.index(at.0);
    let expressions = preference.below("preference.matchExpressions");
    let count = |path: &Path| items(document.root.at(path)).len();
    let gone = match (count(&expressions), count(&preferred)) {
        (2.., _) => expressions.index(at.1),
        (_, 2..) => preference,
        _ => preferred,
    };
    let list = affinity.key(REQUIRED).key("nodeSelectorTerms");
    let requirement = found.to_json();
    let mut changes: Vec<Change> =
        (0..terms).map(|i| Change::Append(list.index(i).key("matchExpressions"), requirement.clone())).collect();
    if changes.is_empty() {
        let term = json!([{"matchExpressions": [requirement]}]);
        changes.push(Change::Set(list, term));
    }
    changes.push(Change::Remove(gone));
    cx.fix(REQUIRE, Applicability::Unsafe, &changes)
}

/// A term's requirement on the architecture, and its index.
fn requirement(term: &Node) -> Option<(usize, &Node)> {
    let mut expressions = term.list_at("matchExpressions").iter().enumerate();
    expressions.find(|(_, r)| r.text_at("key") == Some(LABEL))
}
