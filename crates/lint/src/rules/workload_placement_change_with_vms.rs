//! A change of the workload placement that excludes nodes with virtual machines.

use hcoplan_planner::topology::admits;

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let before = cx.before()?;
    let [was, is] = [before, cx.object()].map(|object| placement_of(object).unwrap_or(&Json::Null));
    let left: Vec<NodeRef<'_>> = cx.nodes().filter(|n| admits(was, n.node) && !admits(is, n.node)).collect();
    if left.is_empty() {
        return None;
    }
    let kinds = cx.node_kinds(left.iter().copied());
    let machines = cx.virtual_machines();
    let may_be_there = |vm: &&VirtualMachine<'_>| {
        let own = cx.guest_architecture(vm).possible;
        let fits = |n: &NodeRef<'_>| n.node.architecture.is_empty() || !own.lacks(&n.node.architecture);
        kinds.selected_by(&cx.placement_of(vm)).unwrap_or_else(|| left.clone()).iter().any(fits)
    };
    let stranded: Vec<_> = machines.iter().filter(may_be_there).collect();
    let first = stranded.first()?;
    let names: Vec<&str> = left.iter().map(|n| n.node.name.as_str()).collect();
    let nodes = format!("{} {}", if names.len() == 1 { "node" } else { "nodes" }, list(&names, 3));
    let whom = match stranded.len() {
        1 => first.to_string(),
        several => format!("{several} virtual machines"),
    };
    let field = cx.field(Pods::Workload.field());
    let place = if field.is_set() { field.key_place() } else { cx.whole_location() };
    let mut finding = cx
        .finding(format!("the workload placement no longer selects {nodes}, where {whom} may be running"))
        .at(place)
        .label("virt-handler runs on the nodes that this selects")
        .help("widen the placement first, migrate the virtual machines, and narrow it then");
    finding = with_related(finding, stranded.iter().take(3).map(|vm| vm.name_place()), "may be running on one of them");
    Some(finding)
}

/// The workload placement of a HyperConverged in any version.
fn placement_of(object: &Json) -> Option<&Json> {
    let v1 = object.pointer("/spec/deployment/nodePlacements/workload");
    let v1beta1 = object.pointer("/spec/workloads/nodePlacement");
    v1.or(v1beta1)
}
