//! No declared node is a workload node.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let topology = cx.topology();
    // virt-handler runs without that label, too, but HCO reads the architectures of golden images from labelled nodes.
    let has_no_images = cx.is_openshift() && cx.is_multi_arch() && topology.workload_architectures.is_empty();
    // Another rule reports a placement that matches no node.
    if cx.selects_workload_nodes() || !topology.workload_nodes.is_empty() && !has_no_images {
        return;
    }
    let mut finding = cx
        .finding("no declared node is labelled as a worker")
        .at(cx.whole_location())
        .label("has no workload placement, so HCO looks for workers")
        .help(
            "give nodes the role worker (label node-role.kubernetes.io/worker), or select them \
             with a workload placement",
        );
    finding = with_related(finding, cx.nodes().next().and_then(|n| n.name_place()), "the nodes are declared here");
    out.report(finding);
}
