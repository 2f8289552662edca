//! Where the operands' pods run: node selectors, affinities and tolerations in words, and the nodes that pods leave.
//! Source: Kubernetes' scheduler; a toleration and a preference exclude no node.

use super::Change;
use super::said::Said;
use super::shown::{list, selector};
use crate::diff::consequence::Consequence;
use crate::prelude::*;
use hcoplan_planner::topology::{Selection, admits};

/// `missed` is about nodes that pods leave which they need, `changed` about another placement.
pub(super) fn placement(change: &Change<'_>, missed: Option<Said>, changed: Said) -> Vec<Consequence> {
    let (was, is) = (inner(change.before), inner(change.after));
    let (before, after) = (place(was), place(is));
    if let Some(missed) = missed {
        let needs = |placement| Selection::of(placement).map(|selection| selection.needs());
        let left = change.sides.nodes.iter().filter(|node| admits(was, node) && !admits(is, node));
        let left: Vec<&str> = left.map(|node| node.name.as_str()).collect();
        let missed = match (change.sides.nodes, left.as_slice()) {
            ([], _) if needs(is).is_some() && needs(is) != needs(was) => {
                Some((Said { possibly: true, ..missed }, "some nodes".to_owned()))
            }
            (_, []) => None,
            (_, left) => Some((missed, list(left))),
        };
        if let Some((said, nodes)) = missed {
            return vec![said.fill(&[("nodes", &nodes), ("is", &after), ("was", &before)])];
        }
    }
    let subject = changed.about.unwrap_or_default();
    if before == after { Vec::new() } else { vec![changed.turns(after, before).about(subject)] }
}

/// The placement itself; KubeVirt has it in a section.
fn inner(value: &Value) -> &Value {
    value.get("nodePlacement").unwrap_or(value)
}

/// `on nodes with zone=a, tolerating gpu`
fn place(placement: &Value) -> String {
    let affinity = &placement["affinity"];
    let nodes = &affinity["nodeAffinity"];
    let terms =
        |term: &Value| [selector(&term["matchExpressions"]), selector(&term["matchFields"])].concat().join(", ");
    let required = &nodes["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    let required: Vec<String> = required.as_array().into_iter().flatten().map(terms).collect();
    let mut with = selector(&placement["nodeSelector"]);
    with.extend((!required.is_empty()).then(|| required.join(" or ")));
    let mut out =
        vec![if with.is_empty() { "on any node".to_owned() } else { format!("on nodes with {}", with.join(", ")) }];
    let preferred = nodes["preferredDuringSchedulingIgnoredDuringExecution"].as_array().into_iter().flatten();
    let preferred: Vec<String> = preferred.map(|one| terms(&one["preference"])).collect();
    out.extend((!preferred.is_empty()).then(|| format!("preferably with {}", preferred.join(", "))));
    let by_pods =
        ["podAffinity", "podAntiAffinity"].iter().any(|key| affinity[*key].as_object().is_some_and(|m| !m.is_empty()));
    out.extend(by_pods.then(|| "near or far from other pods".to_owned()));
    let tolerations = placement["tolerations"].as_array().into_iter().flatten();
    let tolerated: Vec<&str> = tolerations.map(|one| one["key"].as_str().unwrap_or("every taint")).collect();
    out.extend((!tolerated.is_empty()).then(|| format!("tolerating {}", tolerated.join(", "))));
    out.join(", ")
}
