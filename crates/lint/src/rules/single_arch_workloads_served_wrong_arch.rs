//! Common templates for an architecture that no workload node has.
//!
//! Images aren't affected: without a platform they have the architecture of the importing workload node.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let topology = cx.topology();
    let workload = &topology.workload_architectures;
    let hc = cx.hyperconverged().filter(|hc| !hc.multi_arch())?;
    let mut all = topology.control_plane_architectures.iter().chain(workload);
    let served = all.next().filter(|a| !workload.contains(a))?;
    // no-workload-nodes reports a cluster without workload nodes.
    let images = cx.data_sources().chain(cx.import_crons()).count();
    if workload.is_empty() || images == 0 {
        return None;
    }
    let message = format!("common templates are made for {served}, but workload nodes are {}", and(workload));
    let finding = cx
        .finding(message)
        .at(cx.multi_arch_switch())
        .label(format!("multi-arch golden images are off: only {served} is served"))
        .help(format!("switch multi-arch golden images on{}", cx.multi_arch_prospects()));
    let node = cx.control_plane_nodes().find(|n| n.node.architecture == *served);
    let place = node.and_then(|node| node.architecture_place());
    let finding = with_related(finding, place, "SSP serves the control plane's first architecture");
    let placement = cx.field("workloads.nodePlacement");
    let is_placed = cx.selects_workload_nodes() && placement.is_set() && hc.get("deployment").is_some();
    let message = format!("keeps workloads on {} nodes", and(workload));
    let finding = with_related(finding, is_placed.then(|| placement.key_place()), message);
    Some(finding.fixes(cx.switch_multi_arch(true)))
}
