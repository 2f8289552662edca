//! Where the operands' pods run: node selectors, affinities and tolerations in words, and the nodes that pods leave.
//! Source: Kubernetes' scheduler; a toleration and a preference exclude no node.

use super::Change;
use super::said::say;
use super::said::{Said, list, selector};
use crate::diff::consequence::Consequence;
use crate::prelude::*;
use hcoplan_planner::topology::{Selection, Tolerations};

/// The pods that a placement is about.
struct Pods {
    /// `virt-handler runs`.
    run: &'static str,
    /// What is wrong on a node without them, and when it shows; `None` if any node will do.
    missed: Option<Said>,
    changed: Said,
}

fn pods(kind: &str, path: &str) -> Pods {
    let pods = |run, missed: Option<&str>, changed| Pods { run, missed: missed.map(say), changed: say(changed) };
    match (kind, path.contains("workload")) {
        ("KubeVirt", true) => pods("virt-handler runs", Some("virt-handler-leaves"), "virt-handler-runs-elsewhere"),
        ("NetworkAddonsConfig", true) => {
            pods("the network plugins run", Some("network-plugins-leave"), "runs-elsewhere")
        }
        (_, true) => pods("importer pods run", None, "imports-elsewhere"),
        ("KubeVirt", false) => pods("virt-api and virt-controller", None, "rolled-out-elsewhere"),
        ("NetworkAddonsConfig", false) => pods("the network components", None, "rolled-out-elsewhere"),
        ("CDI", false) => pods("CDI's components", None, "rolled-out-elsewhere"),
        _ => pods("AAQ's components", None, "rolled-out-elsewhere"),
    }
}

pub(super) fn placement(change: &Change<'_>) -> Vec<Consequence> {
    let pods = pods(&change.object.id.kind, change.path);
    let (was, is) = (inner(change.before), inner(change.after));
    let (before, after) = (place(was), place(is));
    if let Some(missed) = pods.missed {
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
    if before == after { Vec::new() } else { vec![pods.changed.turns(after, before).about(pods.run)] }
}

/// The placement itself; KubeVirt has it in a section.
fn inner(value: &Value) -> &Value {
    value.get("nodePlacement").unwrap_or(value)
}

/// Whether pods with a placement run on a node.
fn admits(placement: &Value, node: &Node) -> bool {
    Selection::of(placement).is_none_or(|selection| selection.selects(node)) && Tolerations::of(placement).admit(node)
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
