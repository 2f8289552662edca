//! A control plane so small that KubeVirt runs one replica of each controller.

use hcoplan_diagnostics::words::plural;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let topology = cx.topology();
    let count = topology.control_plane_nodes;
    let release = cx.release();
    let two_are_enough = release.has("infra-replicas-by-node-count");
    let counts_arbiters = release.has("counts-arbiter-nodes");
    let roomy = if two_are_enough { count >= 2 } else { topology.control_plane_highly_available(counts_arbiters) };
    if count == 0 || roomy || cx.rendered_kubevirt("infra.replicas") != 1 {
        return;
    }
    let nodes = plural(count, "node");
    let message = format!("the control plane has {nodes}, so virt-api and virt-controller have one replica each");
    let wanted = match (two_are_enough, counts_arbiters) {
        (true, _) => "use two control-plane nodes",
        (false, true) => "use three control-plane nodes, or two and one labelled node-role.kubernetes.io/arbiter",
        (false, false) => "use three control-plane nodes",
    };
    let mut finding = cx.finding(message).help(wanted);
    let mut places = cx.control_plane_nodes().filter_map(|n| n.name_place());
    finding = finding.at(places.next().unwrap_or_else(|| cx.whole_location()));
    finding = with_related(finding, places, "and this one");
    let single = cx.inventory().nodes.len() == 1;
    if single {
        finding = finding.info();
    }
    out.report(finding.label("a control-plane node"));
}
