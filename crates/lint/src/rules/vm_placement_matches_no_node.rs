//! A virtual machine whose placement no node matches.

use super::prelude::*;
use crate::Boot;
use crate::context::required_terms;

pub(super) fn find(cx: &Context<'_>, boot: &Boot<'_>) -> Option<Finding> {
    let vm = &boot.vm;
    let is_kept_away =
        matches!(boot.answer.cause, Some(BootCause::NoNode(NodeBarrier::Placement | NodeBarrier::Workload)));
    // `architecture-alias` reports the correct name, `vm-rejected` a placement that can't be.
    let parts = ["affinity", "nodeSelector"].map(|part| vm.path(part));
    let is_part = |path: &Path| parts.iter().any(|part| path.starts_with(part));
    let is_wrong = boot.verdict.causes.iter().any(|cause| is_part(&cause.path));
    if !is_kept_away || is_wrong || vm.has_architecture_alias() {
        return None;
    }
    let placement = cx.placement_of(vm);
    let mut nodes = cx.kinds_of_nodes().selected_by(&placement)?;
    // Nodes of other architectures don't count; `vm-placement-contradicts-architecture` reports a placement that
    // selects these alone.
    let is_empty = nodes.is_empty();
    let own = boot.guest.possible.names();
    nodes.retain(|n| n.node.architecture.is_empty() || own.contains(&n.node.architecture.as_str()));
    let workload = &cx.topology().workload_nodes;
    if nodes.is_empty() != is_empty || nodes.iter().any(|n| workload.binary_search(&n.index).is_ok()) {
        return None;
    }

    let required = required(&placement);
    let required = if required.is_empty() { required } else { format!(": {required}") };
    let workloads = cx.field("workloads.nodePlacement");
    let is_placed = !nodes.is_empty() && workloads.node().is_some();
    let (message, label, help) = if nodes.is_empty() {
        let message = format!("no declared node matches the placement of {vm}{required}");
        (message, "matches no node", "select labels that nodes have, or correct the inventory")
    } else if is_placed {
        let message = format!("the workload placement excludes every node that {vm} selects{required}");
        (message, "matches only nodes without virt-handler", "let both select the same node")
    } else {
        let message = format!("only nodes without virt-handler match the placement of {vm}{required}");
        (message, "matches no workload node", "select labels that workload nodes have")
    };
    let finding = vm.finding(cx, message).at(vm.placement_place()).label(label).help(help);
    let place = is_placed.then(|| workloads.key_place());
    Some(with_related(finding, place, "virt-handler runs where this says"))
}

/// What a placement requires of labels.
fn required(placement: &Json) -> String {
    let selected = members(&placement["nodeSelector"]);
    let selected = selected.map(|(key, value)| json!({"key": key, "operator": "In", "values": [value]}));
    let expressions = required_terms(placement).flat_map(|term| elements(&term["matchExpressions"])).cloned();
    let shown = selected.chain(expressions).map(|requirement| {
        let [key, operator] = ["key", "operator"].map(|field| text(&requirement[field]));
        let values = joined(texts(&requirement["values"]), " or ");
        if operator == "In" { format!("{key}={values}") } else { format!("{key} {operator} {values}") }
    });
    joined(shown, ", ")
}
