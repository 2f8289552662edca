//! Golden images are imported for an architecture that no workload node has.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "single-arch-workloads-served-wrong-arch",
    Group::Heterogeneous,
    "multi-arch golden images are off, and the one architecture served is no workload \
              node's",
)
.silent(
    "golden images and templates are for an architecture that no workload node has, so \
         virtual machines made of them don't boot",
)
.needs(Needs::Nodes)
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let topology = cx.topology();
    let workload = &topology.workload_architectures;
    let Some(hc) = cx.hyperconverged().filter(|hc| !hc.multi_arch()) else {
        return;
    };
    let mut all = topology.control_plane_architectures.iter().chain(workload);
    let Some(served) = all.next().filter(|a| !workload.contains(a)) else {
        return;
    };
    // Without a workload node there is no right architecture: no-workload-nodes says so.
    let images = cx.data_sources().chain(cx.import_crons()).count();
    if workload.is_empty() || images == 0 {
        return;
    }
    let message =
        format!("golden images and templates are made for {served}, but workload nodes are {}", and(workload));
    let mut finding = Finding::new(&RULE, message)
        .at(cx.multi_arch_switch())
        .label(format!("multi-arch golden images are off: only {served} is served"))
        .help(format!("switch multi-arch golden images on{}", cx.multi_arch_prospects()));
    if pinned_to(workload, cx.import_crons()) {
        finding = finding.severity(Severity::Info);
    }
    let control_plane = cx.control_plane_nodes();
    if let Some(node) = control_plane.into_iter().find(|n| n.node.architecture == *served)
        && let Some(place) = node.architecture_place()
    {
        finding = finding.related(place, "the control plane's first architecture is what SSP serves");
    }
    let placement = cx.field("workloads.nodePlacement");
    if cx.selects_workload_nodes() && placement.is_set() && hc.get("deployment").is_some() {
        let message = format!("keeps workloads on {} nodes", and(workload));
        finding = finding.related(placement.key_place(), message);
    }
    out.report(finding.fixes(cx.switch_multi_arch(true)));
}

/// Whether every cron imports for an architecture of the workload nodes by its own word.
fn pinned_to<'r>(workload: &[String], crons: impl Iterator<Item = &'r Rendered>) -> bool {
    const PIN: &str = "/spec/template/spec/source/registry/platform/architecture";
    let mut crons = crons.peekable();
    crons.peek().is_some()
        && crons.all(|cron| {
            let pin = cron.object.body.pointer(PIN).and_then(|p| p.as_str());
            pin.is_some_and(|p| workload.iter().any(|w| w == p))
        })
}
