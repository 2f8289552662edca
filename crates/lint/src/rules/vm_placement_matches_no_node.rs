//! A virtual machine whose placement no node matches.

use std::collections::HashSet;

use hcoplan_planner::boot::NodeBarrier;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let is_workload: HashSet<usize> = cx.workload_nodes().map(|n| n.index).collect();
    for boot in cx.boots() {
        let vm = &boot.vm;
        let is_kept_away =
            matches!(boot.answer.cause, Some(BootCause::NoNode(NodeBarrier::Placement | NodeBarrier::Workload)));
        // `architecture-alias` reports the correct name, `vm-rejected` a placement that can't be.
        let parts = ["affinity", "nodeSelector"].map(|part| vm.path(part));
        let is_part = |path: &Path| parts.iter().any(|part| path.starts_with(part));
        let is_wrong = boot.verdict.causes.iter().any(|cause| is_part(&cause.path));
        if !is_kept_away || is_wrong || vm.has_architecture_alias() {
            continue;
        }
        let Some(nodes) = cx.kinds_of_nodes().selected_by(vm) else {
            continue;
        };
        if nodes.iter().any(|n| is_workload.contains(&n.index)) {
            continue;
        }

        let (message, label) = if nodes.is_empty() {
            ("no declared node matches the placement of", "matches no node")
        } else {
            (
                "the workload placement leaves out every node that is selected by",
                "matches only nodes without virt-handler",
            )
        };
        let mut finding = vm
            .finding(cx, format!("{message} {vm}"))
            .at(vm.placement_place())
            .label(label)
            .help("select labels that nodes have, or correct the inventory");
        if !nodes.is_empty() {
            let placement = cx.field("workloads.nodePlacement").key_place();
            finding = finding.related(placement, "virt-handler runs where this says");
        }
        out.report(finding);
    }
}
