//! A virtual machine restricted to nodes of another architecture.

use super::prelude::*;
use crate::Boot;

pub(super) fn find(cx: &Context<'_>, boot: &Boot<'_>) -> Option<Finding> {
    let (vm, guest) = (&boot.vm, &boot.guest);
    let is_kept_away = matches!(boot.answer.cause, Some(BootCause::NoNode(_)));
    let own = guest.possible.names();
    let nodes = cx.kinds_of_nodes().selected_by(&cx.placement_of(vm)).filter(|_| is_kept_away)?;
    let found = nodes.iter().map(|n| n.node.architecture.as_str());
    let found = distinct(found.filter(|a| !a.is_empty()));
    if found.is_empty() || found.iter().any(|a| own.contains(a)) {
        return None;
    }

    let reason = guest.reason();
    let message = format!("{vm} is {} ({reason}), but the nodes that it selects are {}", or(&own), and(&found));
    let mut finding =
        vm.finding(cx, message).at(vm.placement_place()).label(format!("selects {} nodes only", and(&found)));
    if vm.architecture().is_some() {
        finding = finding.related(vm.place("architecture"), "its architecture");
    }
    let fixes = found.iter().filter_map(|a| {
        let set = [Change::Set(vm.path("architecture"), (*a).into())];
        suggested(vm.document, format!("set `architecture: {a}`, as those nodes have it, or select others"), &set)
    });
    Some(finding.remedy("write the architecture of those nodes, or select others", fixes))
}
