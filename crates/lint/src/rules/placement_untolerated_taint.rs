//! A taint of selected nodes that the placement doesn't tolerate.

use hcoplan_planner::inventory::Taint;
use hcoplan_yaml::edit::inline;

use super::prelude::*;
use crate::Placement;
use crate::context::closes;

/// Maximum number of tolerations added by a fix.
const MAX_ADDED: usize = 64;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pods in Pods::ALL {
        let placement = cx.placement(pods);
        let nodes: Vec<NodeRef<'_>> = match (pods, &placement) {
            (Pods::Workload, _) => cx.workload_nodes().collect(),
            (Pods::Infra, Some(placement)) => placement.nodes(cx),
            // The operands' default placement fits the control plane.
            (Pods::Infra, None) => continue,
        };
        if let Some(finding) = closed(cx, pods, placement.as_ref(), &nodes) {
            out.report(finding);
        }
    }
}

fn closed(cx: &Context<'_>, pods: Pods, placement: Option<&Placement<'_>>, nodes: &[NodeRef<'_>]) -> Option<Finding> {
    let tolerated = placement.map(Placement::tolerations);
    let closing = |node: &NodeRef<'_>| {
        let taints = node.node.taints.iter();
        taints.filter(|t| closes(t, tolerated.as_ref())).cloned().collect()
    };
    let taints: Vec<Vec<Taint>> = nodes.iter().map(closing).collect();
    let all = !nodes.is_empty() && taints.iter().all(|t| !t.is_empty());
    let selects = placement.is_some_and(Placement::selects_nodes);
    // HCO counts a workload architecture although no node of it accepts virt-handler.
    let architecture = |node: &NodeRef<'_>| node.node.architecture.clone();
    let is_closed = |name: &String| nodes.iter().zip(&taints).all(|(n, t)| architecture(n) != *name || !t.is_empty());
    let mut architectures = nodes.iter().map(architecture).filter(|name| !name.is_empty());
    let closed = architectures.find(is_closed).filter(|_| !all && pods == Pods::Workload);
    if !all && !selects && closed.is_none() {
        return None;
    }
    let counted: Vec<(&NodeRef<'_>, Vec<&Taint>)> = nodes
        .iter()
        .zip(&taints)
        .map(|(node, taints)| (node, taints.iter().filter(|t| all || !is_control_planes(t)).collect::<Vec<_>>()))
        .filter(|(node, taints)| !taints.is_empty() && closed.as_ref().is_none_or(|name| architecture(node) == *name))
        .collect();
    let (first, taint) = counted.first().and_then(|(n, t)| Some((n, *t.first()?)))?;
    let names: BTreeSet<String> = counted.iter().flat_map(|(_, t)| t.iter()).map(ToString::to_string).collect();

    let which = |node: &str| match placement {
        Some(_) => format!("{node} that the {} placement selects", pods.as_str()),
        None => format!("{} {node}", pods.as_str()),
    };
    let how_many = match (&closed, all, nodes.len()) {
        (Some(name), ..) => format!("no {name} node that runs workloads accepts pods"),
        (None, true, 1) => format!("the only {} accepts no pods", which("node")),
        (None, true, count) => format!("none of the {count} {} accepts pods", which("nodes")),
        (None, false, count) => {
            let accept = if counted.len() == 1 { "accepts" } else { "accept" };
            format!("{} of the {count} {} {accept} no pods", counted.len(), which("nodes"))
        }
    };
    let mut finding = cx
        .finding(format!("{how_many}: nothing tolerates {}", and(&names)))
        .label("has no toleration for it")
        .help(format!("add the toleration {}", inline(&toleration(taint))))
        .at(match placement {
            Some(placement) => placement.field.key_place(),
            None => cx.whole_location(),
        });
    // A pool may be closed on purpose.
    let is_left_out = !all && closed.is_none();
    if is_left_out {
        let help = format!("leave them out; where pods are meant to run, tolerate {taint}");
        finding = finding.info().help(help);
    } else if !all {
        finding = finding.warning();
    }
    // Virtual machines can't be scheduled only if no workload node accepts them.
    finding.is_silent = !all || pods == Pods::Infra;
    finding = with_related(finding, first.name_place(), format!("has the taint {taint}"));
    let tolerated = counted.iter().flat_map(|(_, t)| t.iter().copied());
    let fix = if is_left_out { None } else { tolerations(cx, pods, tolerated) };
    Some(finding.fixes(fix))
}

/// Adds a toleration for each of the taints.
fn tolerations<'t>(cx: &Context<'_>, pods: Pods, taints: impl Iterator<Item = &'t Taint>) -> Option<Fix> {
    let list = cx.field(pods.field()).path()?.key("tolerations");
    let mut seen = BTreeSet::new();
    let taints = taints.filter(|t| seen.insert((&t.key, &t.value, &t.effect)));
    let tolerations: Vec<Json> = taints.map(toleration).collect();
    let changes: Vec<Change> = match items(cx.root().at(&list)).len() {
        0 => vec![Change::Set(list, tolerations.into())],
        // Each is tried with the ones before.
        _ if tolerations.len() > MAX_ADDED => {
            cx.leave_untried();
            return None;
        }
        _ => tolerations.into_iter().map(|t| Change::Append(list.clone(), t)).collect(),
    };
    cx.suggest_change(" to tolerate the taint", &changes)
}

fn is_control_planes(taint: &Taint) -> bool {
    matches!(taint.key.as_str(), "node-role.kubernetes.io/control-plane" | "node-role.kubernetes.io/master")
}

fn toleration(taint: &Taint) -> Json {
    let mut toleration = json!({"key": taint.key, "operator": "Exists", "effect": taint.effect});
    if !taint.value.is_empty() {
        toleration["operator"] = "Equal".into();
        toleration["value"] = taint.value.as_str().into();
    }
    toleration
}
