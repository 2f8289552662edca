//! A virtual machine that no node may run.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "vm-placement-matches-no-node",
    Group::Placement,
    "no declared node that runs virtual machines matches a virtual machine's placement",
)
.predicts(alert!("VirtualMachineStuckInUnhealthyState"))
.confidence(Confidence::Medium)
.needs(Needs::Nodes);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.nodes().next().is_none() {
        return;
    }
    for vm in cx.virtual_machines() {
        let Some(nodes) = cx.nodes_for(&vm) else {
            continue;
        };
        let selects = cx.selects_workload_nodes();
        let runs = |index: usize| !selects || cx.workload_nodes().any(|n| n.index == index);
        if nodes.iter().any(|n| runs(n.index)) || !keys(&vm.placement()).all(|k| cx.shows_label(k)) {
            continue;
        }
        let selector =
            if vm.get("nodeSelector").is_some_and(|n| !n.entries().is_empty()) { "nodeSelector" } else { "affinity" };
        let (message, label) = if nodes.is_empty() {
            ("no declared node matches the placement of", "matches no node")
        } else {
            (
                "the workload placement leaves out every node that is selected by",
                "matches only nodes without virt-handler",
            )
        };
        let mut finding = Finding::new(&RULE, format!("{message} {}", vm.display_name()))
            .at(vm.key_place(selector))
            .object(object_of(vm.document))
            .label(label)
            .help("select what nodes have, or correct the inventory");
        if !nodes.is_empty() {
            let placement = cx.field("workloads.nodePlacement").key_place();
            finding = finding.related(placement, "virt-handler runs where this says");
        }
        out.report(finding);
    }
}

/// The labels that a placement looks at.
fn keys(placement: &serde_json::Value) -> impl Iterator<Item = &str> {
    let required = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let terms = placement.pointer(required).and_then(|r| r["nodeSelectorTerms"].as_array());
    let expressions = terms.into_iter().flatten().filter_map(|t| t["matchExpressions"].as_array()).flatten();
    let labels = placement["nodeSelector"].as_object().into_iter().flatten();
    labels.map(|(k, _)| k.as_str()).chain(expressions.filter_map(|e| e["key"].as_str()))
}
