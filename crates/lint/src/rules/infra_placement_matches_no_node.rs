//! The infra placement selects no declared node.

use super::prelude::*;
use super::workload_placement_matches_no_node::unmatched;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(placement) = cx.placement(Pods::Infra) else {
        return;
    };
    let declared = cx.nodes().next().is_some();
    if declared && placement.selects_nodes() && placement.nodes(cx).is_empty() && placement.is_known(cx) {
        out.report(unmatched(cx, &placement));
    }
}
