//! A virtual machine of an architecture that no node has.

use hcoplan_planner::boot::ArchitectureBoot;
use hcoplan_planner::inventory::ARCHITECTURE_LABEL;

use super::prelude::*;
use crate::Boot;
use crate::GUEST_ARCHITECTURES;

pub(super) fn find(cx: &Context<'_>, boot: &Boot<'_>) -> Option<Finding> {
    let workload = &cx.topology().workload_architectures;
    let mut cells = boot.answer.by_architecture.iter();
    let is_absent =
        |name, cell: &ArchitectureBoot| !workload.contains(name) || cell.barrier == Some(NodeBarrier::Architecture);
    let (name, cell) = cells.find(|(name, cell)| is_absent(name, cell))?;
    // `vm-rejected` reports architectures that KubeVirt doesn't support. If guests are emulated, any node can run
    // them.
    let is_guest = GUEST_ARCHITECTURES.contains(&name.as_str());
    let is_barred = cell.barrier.is_some_and(|barrier| barrier < NodeBarrier::Storage);
    if workload.is_empty() || !is_guest || !is_barred && !cx.crosses_architectures() {
        return None;
    }
    let is_certain = boot.answer.by_architecture.len() == 1;
    let is = if is_certain { "is" } else { "may be" };
    // HCO counts nodes by their architecture, and pods select them by its label.
    let nodes = if workload.contains(name) {
        format!("the workload nodes of it lack the label {ARCHITECTURE_LABEL}")
    } else {
        format!("workload nodes are {}", and(workload))
    };
    let message = format!("{} {is} {name}, but {nodes}", boot.vm);
    let (place, label) = boot.architecture_place(name, "no workload node has it");
    let finding = boot
        .vm
        .finding(cx, message)
        .at(place)
        .label(label)
        .severity(error_if(is_barred && is_certain))
        .help(format!("make the virtual machine {}, or add a node that is {name}", or(workload)));
    Some(with_nodes(finding, cx, workload))
}
