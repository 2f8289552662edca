//! Where the operands' pods run: node selectors, affinities and tolerations in words, and the nodes that pods leave.
//! Source: Kubernetes' scheduler; a toleration and a preference exclude no node.

use super::Change;
use super::shown::{list, selector};
use crate::prelude::*;
use hcoplan_planner::topology::{Selection, admits};

/// Where pods run before and after a change, in words.
pub(super) struct Places {
    pub(super) is: String,
    pub(super) was: String,
    /// The nodes that the pods leave, and whether that is only possible, as the nodes aren't known.
    pub(super) left: Option<(String, bool)>,
}

impl Places {
    /// `unset` is where pods run without a placement.
    pub(super) fn of(change: &Change<'_>, unset: Option<&str>) -> Self {
        let (was, is) = (inner(change.before), inner(change.after));
        let needs = |placement| Selection::of(placement).map(|selection| selection.needs());
        let left = change.sides.nodes.iter().filter(|node| admits(was, node) && !admits(is, node));
        let left: Vec<&str> = left.map(|node| node.name.as_str()).collect();
        let left = match (change.sides.nodes, left.as_slice()) {
            ([], _) if needs(is).is_some() && needs(is) != needs(was) => Some(("some nodes".to_owned(), true)),
            (_, []) => None,
            (_, left) => Some((list(left), false)),
        };
        let default = |value: &Value| unset.filter(|_| value.get("nodePlacement").is_none()).map(str::to_owned);
        let is = default(change.after).unwrap_or_else(|| place(is));
        Self { is, was: default(change.before).unwrap_or_else(|| place(was)), left }
    }
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
    let required: Vec<String> = elements(required).map(terms).collect();
    let mut with = selector(&placement["nodeSelector"]);
    with.extend((!required.is_empty()).then(|| required.join(" or ")));
    let mut out =
        vec![if with.is_empty() { "on any node".to_owned() } else { format!("on nodes with {}", with.join(", ")) }];
    let preferred = elements(&nodes["preferredDuringSchedulingIgnoredDuringExecution"]);
    let preferred: Vec<String> = preferred.map(|one| terms(&one["preference"])).collect();
    out.extend((!preferred.is_empty()).then(|| format!("preferably with {}", preferred.join(", "))));
    let by_pods =
        ["podAffinity", "podAntiAffinity"].iter().any(|key| affinity[*key].as_object().is_some_and(|m| !m.is_empty()));
    out.extend(by_pods.then(|| "near or far from other pods".to_owned()));
    let tolerations = elements(&placement["tolerations"]);
    let tolerated: Vec<&str> = tolerations.map(|one| one["key"].as_str().unwrap_or("every taint")).collect();
    out.extend((!tolerated.is_empty()).then(|| format!("tolerating {}", tolerated.join(", "))));
    out.join(", ")
}
