//! A virtual machine that requires migration but fits only one node.

use hcoplan_planner::machines::node_requirements;

use super::prelude::*;
use crate::{NodeOffer, offers};

pub(super) static RULE: Rule = Rule {
    name: "vm-without-migration-target",
    group: Group::Placement,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("the migration waits for a node, and the drain waits for the migration"),
    needs: Needs::Nodes,
    summary: "a virtual machine that a drain migrates fits only one declared node",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(cluster) = cx.machine_cluster() else {
        return;
    };
    // `eviction-strategy-needs-two-nodes` reports a cluster with one node.
    if cx.workload_nodes().count() < 2 {
        return;
    }
    for (vm, verdict) in cx.judged_machines() {
        let strategy = verdict.spec["evictionStrategy"].as_str().unwrap_or_default();
        let halted = vm.document.root.at(&vm.owner_path("runStrategy")).and_then(|n| n.as_str()) == Some("Halted");
        if !matches!(strategy, "LiveMigrate" | "LiveMigrateIfPossible") || halted {
            continue;
        }
        let asked = node_requirements(cluster, &verdict.spec);
        let fits = |n: &&crate::Candidate<'_>| {
            n.repelled_by.is_none() && asked.iter().all(|(_, d)| offers(n.node.node, d) != NodeOffer::No)
        };
        let candidates = cx.schedulable_nodes(&vm, &verdict.spec);
        let nodes: Vec<_> = candidates.iter().filter(fits).collect();
        let [only] = nodes[..] else {
            continue;
        };
        if !only.is_alone {
            continue;
        }
        let placed = ["nodeSelector", "affinity", "architecture", "evictionStrategy"];
        let place = placed.iter().find(|field| vm.get(field).is_some());
        let place = place.map_or_else(|| vm.name_place(), |field| vm.key_place(field));
        let message = format!("{} can't be migrated: only one declared node fits it", vm.display_name());
        let mut finding = Finding::new(&RULE, message)
            .at(place)
            .object(object_of(vm.document))
            .label(format!("a drain waits for a migration ({strategy})"))
            .help("let it run on a second node, or set `evictionStrategy: None`, so that a drain stops it");
        if let Some(place) = only.node.name_place() {
            finding = finding.related(place, "the only node that fits it");
        }
        out.report(finding);
    }
}
