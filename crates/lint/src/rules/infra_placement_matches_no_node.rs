//! The infra placement selects no declared node.

use super::prelude::*;
use super::workload_placement_matches_no_node::unmatched;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    let placement = cx.placement(Pods::Infra).filter(|p| p.selects_nodes() && p.nodes(cx).is_empty())?;
    cx.nodes().next().filter(|_| placement.is_known(cx)).map(|_| unmatched(cx, &placement))
}
