//! Fewer than two workload nodes with KVM.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let nodes: Vec<_> = cx.workload_nodes().collect();
    let (without, with): (Vec<NodeRef<'_>>, Vec<NodeRef<'_>>) = nodes.iter().partition(|n| n.node.kvm == Some(false));
    if without.is_empty()
        || with.len() > 1
        || cx.rendered_kubevirt("configuration.developerConfiguration.useEmulation") == true
    {
        return;
    }
    let finding = match with.len() {
        0 => cx.finding("no workload node has KVM: no virtual machine can be started").error(),
        _ => cx.finding(format!("only one of {} workload nodes has KVM: nothing can be migrated", nodes.len())),
    };
    // Nodes of a pool have one place.
    let mut places: Vec<_> = without.iter().filter_map(NodeRef::name_place).collect();
    places.dedup_by_key(|place| place.span);
    let mut places = places.into_iter();
    let finding = finding
        .at(places.next().unwrap_or_else(|| cx.whole_location()))
        .label("no KVM here")
        .help("switch on hardware virtualization, or select other nodes with a workload placement");
    out.report(with_related(finding, places, "nor here"));
}
