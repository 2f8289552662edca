//! Workload nodes of several architectures without multi-arch golden images: the importing node decides the
//! architecture.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let hc = cx.hyperconverged()?;
    let architectures = &cx.topology().workload_architectures;
    if hc.multi_arch() || architectures.len() < 2 || cx.golden_images().is_empty() {
        return None;
    }
    let message = format!(
        "workload nodes are {}, but golden images are imported once, for the architecture of the node that imports them",
        and(architectures)
    );
    let mut finding =
        cx.finding(message).at(cx.multi_arch_switch()).label("multi-arch golden images are off").help(format!(
            "switch multi-arch golden images on{}, or keep virtual machines to nodes of one \
             architecture",
            cx.multi_arch_prospects()
        ));
    for node in cx.node_per_architecture() {
        let message = format!("{} workload nodes are declared here", node.node.architecture);
        finding = with_related(finding, node.architecture_place(), message);
    }
    Some(finding.fixes(cx.switch_multi_arch(true)).fixes(one_architecture(cx)))
}

/// The runbook's other remedy: restrict workloads to one architecture, preferably the control plane's, which common
/// templates use.
fn one_architecture(cx: &Context<'_>) -> Option<Fix> {
    let topology = cx.topology();
    let workload = &topology.workload_architectures;
    let mut served = topology.control_plane_architectures.iter().chain(workload);
    let only = served.find(|a| workload.contains(a))?;
    let only = std::slice::from_ref(only);
    if cx.would_keep_workloads_on(only) { cx.keep_workloads_on(only) } else { None }
}
