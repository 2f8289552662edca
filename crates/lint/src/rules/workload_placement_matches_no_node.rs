//! A workload placement that no declared node matches.

use super::prelude::*;
use crate::Placement;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let placement = cx.placement(Pods::Workload).filter(|_| cx.places_nowhere())?;
    cx.nodes().next()?;
    let parts = placement.unmatched(cx);
    // Inventories don't have the labels of virt-handler.
    let of_virt_handler = parts.iter().find(|part| part.key.as_deref().is_some_and(is_of_virt_handler));
    let Some(part) = of_virt_handler.filter(|_| parts.len() == 1) else {
        return (of_virt_handler.is_some() || placement.is_known(cx)).then(|| unmatched(cx, &placement));
    };
    let message = format!(
        "the workload placement selects by a label that virt-handler sets: no node {} before it runs there",
        part.wanted
    );
    let finding = cx.finding(message).warning().at(part.place.clone()).label("set by what it places");
    Some(finding.help("select by a label that nodes have from the start"))
}

/// Whether virt-handler sets labels with this key. Source: KubeVirt `pkg/virt-handler` (its heartbeat, and the node
/// labeller).
fn is_of_virt_handler(key: &str) -> bool {
    key.starts_with("kubevirt.io/") || key.contains(".node.kubevirt.io/") || key == "cpumanager"
}

/// Findings about the parts of a placement that no declared node matches.
pub(super) fn unmatched<'a>(cx: &Context<'a>, placement: &Placement<'a>) -> Finding {
    let parts = placement.unmatched(cx);
    let wanted = and(parts.iter().map(|part| format!("none {}", part.wanted)));
    let message = format!("the {} placement selects no declared node: {wanted}", placement.pods.as_str());
    let meant: Option<(Vec<_>, Vec<_>)> = parts.iter().map(|part| part.meant.clone()).collect();
    let fix = meant.and_then(|(labels, changes)| {
        cx.suggest(format!("select the nodes labelled {} instead of none", and(labels)), &changes.concat())
    });
    let help = "select labels that nodes of the inventory have, or correct the inventory";
    let mut finding = cx.finding(message).remedy(help, fix);
    for (i, part) in parts.into_iter().enumerate() {
        finding = match i {
            0 => finding.at(part.place).label("matches no node"),
            _ => finding.related(part.place, "matches no node, either"),
        };
    }
    finding = with_related(finding, cx.nodes().next().and_then(|n| n.name_place()), "the nodes are declared here");
    finding
}
