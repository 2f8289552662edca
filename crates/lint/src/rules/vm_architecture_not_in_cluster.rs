//! A virtual machine of an architecture that no node has.

use hcoplan_planner::inventory::ARCHITECTURE_LABEL;

use super::prelude::*;
use crate::GUEST_ARCHITECTURES;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let workload = &cx.topology().workload_architectures;
    if workload.is_empty() {
        return;
    }
    for boot in cx.boots() {
        let (vm, guest) = (&boot.vm, &boot.guest);
        let cells = boot.answer.by_architecture.iter();
        let mut absent =
            cells.filter(|(name, cell)| !workload.contains(name) || cell.barrier == Some(NodeBarrier::Architecture));
        let Some((name, cell)) = absent.next() else {
            continue;
        };
        // `vm-rejected` reports architectures that KubeVirt doesn't support. If guests are emulated, any node can run
        // them.
        let is_guest = GUEST_ARCHITECTURES.contains(&name.as_str());
        let is_barred = cell.barrier.is_some_and(|barrier| barrier < NodeBarrier::Storage);
        if !is_guest || !is_barred && !cx.crosses_architectures() {
            continue;
        }
        let is_certain = boot.answer.by_architecture.len() == 1;
        let is = if is_certain { "is" } else { "may be" };
        // HCO counts nodes by their architecture, and pods select them by its label.
        let nodes = if workload.contains(name) {
            format!("the workload nodes of it lack the label {ARCHITECTURE_LABEL}")
        } else {
            format!("workload nodes are {}", and(workload))
        };
        let message = format!("{vm} {is} {name}, but {nodes}");
        let (place, label) = match vm.architecture() {
            Some(_) => (vm.place("architecture"), "no workload node has it".to_owned()),
            None => (vm.name_place(), format!("{name}, as {}", guest.reason())),
        };
        let is_error = is_barred && is_certain;
        let finding = vm
            .finding(cx, message)
            .at(place)
            .label(label)
            .severity(error_if(is_error))
            .help(format!("make the virtual machine {}, or add a node that is {name}", or(workload)));
        out.report(with_nodes(finding, cx, workload));
    }
}
