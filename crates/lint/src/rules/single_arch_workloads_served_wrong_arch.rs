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
    let mut finding = cx
        .finding(message)
        .at(cx.multi_arch_switch())
        .label(format!("multi-arch golden images are off: only {served} is served"))
        .help(format!("switch multi-arch golden images on{}", cx.multi_arch_prospects()));
    let control_plane = cx.control_plane_nodes();
    if let Some(node) = control_plane.into_iter().find(|n| n.node.architecture == *served)
        && let Some(place) = node.architecture_place()
    {
        finding = finding.related(place, "SSP serves the control plane's first architecture");
    }
    let placement = cx.field("workloads.nodePlacement");
    if cx.selects_workload_nodes() && placement.is_set() && hc.get("deployment").is_some() {
        let message = format!("keeps workloads on {} nodes", and(workload));
        finding = finding.related(placement.key_place(), message);
    }
    Some(finding.fixes(cx.switch_multi_arch(true)))
}
