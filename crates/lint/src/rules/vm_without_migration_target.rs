//! A virtual machine that requires migration but fits only one node, or nodes with different CPUs.

use super::prelude::*;
use crate::Candidate;

const STRATEGY: &str = "evictionStrategy";

pub(super) fn find(cx: &Context<'_>, (vm, verdict): &(VirtualMachine<'_>, &Verdict)) -> Option<Finding> {
    let strategy = text(&verdict.spec[STRATEGY]);
    // `eviction-strategy-needs-two-nodes` reports the strategy that the HyperConverged has in writing.
    let is_written = cx.topology().workload_nodes.len() < 2 && cx.field(STRATEGY).text() == Some("LiveMigrate");
    let is_reported = is_written && vm.get(STRATEGY).is_none();
    if !matches!(strategy, "LiveMigrate" | "LiveMigrateIfPossible") || vm.is_halted() || is_reported {
        return None;
    }
    let launcher = &verdict.launcher;
    let candidates = cx.schedulable_nodes(vm, verdict);
    let nodes: Vec<_> = candidates.iter().filter(|node| node.barrier.is_none()).collect();
    if let [only] = nodes[..]
        && only.is_alone
    {
        let message = format!("{vm} can't be migrated: only one declared node fits it");
        return Some(finding(cx, vm, message, strategy, only, "the only node that fits it"));
    }
    // Of nodes of one kind each is the others' target.
    let stuck = nodes.iter().filter(|source| source.is_alone).find_map(|source| {
        let targets = || nodes.iter().filter(|target| !std::ptr::eq(**target, *source));
        let unmet = |target: &&Candidate<'_>| launcher.unmet_after(source.node.node, target.node.node);
        let first = targets().find_map(unmet)?;
        targets().all(|target| unmet(target).is_some()).then_some((source, first))
    });
    let (source, what) = stuck?;
    let message = format!(
        "{vm} can't be migrated from {}: no other node that it fits supports the host model or feature {what}",
        source.node.node.name
    );
    Some(finding(cx, vm, message, strategy, source, "a node with another CPU"))
}

fn finding(
    cx: &Context<'_>,
    vm: &VirtualMachine<'_>,
    message: String,
    strategy: &str,
    node: &Candidate<'_>,
    what: &'static str,
) -> Finding {
    let placed = ["nodeSelector", "affinity", STRATEGY, "architecture"];
    let place = placed.iter().find(|field| vm.get(field).is_some());
    let place = place.map_or_else(|| vm.name_place(), |field| vm.key_place(field));
    let finding = vm
        .finding(cx, message)
        .at(place)
        .label(format!("a drain waits for a migration ({strategy})"))
        .help("let it run on a second node, or set `evictionStrategy: None`, so that a drain stops it");
    with_related(finding, node.node.name_place(), what)
}
