//! A node with an architecture that SSP doesn't know.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "node-arch-unsupported-by-ssp",
    group: Group::Heterogeneous,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError(
        "cluster validation error: invalid workload architecture: unknown architecture: ppc64le",
    ),
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    summary: "a workload or control-plane node has an architecture that SSP doesn't know",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(refusal) = cx.ssp_refusal() else {
        return;
    };
    let known = &cx.release().ssp().architectures;
    let unknown = |n: &NodeRef<'_>| {
        let architecture = &n.node.architecture;
        !architecture.is_empty() && !known.contains(architecture)
    };
    // SSP's webhook looks at the workload nodes first.
    let worker = cx.workload_nodes().find(unknown);
    let Some(node) = worker.or_else(|| cx.control_plane_nodes().find(unknown)) else {
        return;
    };
    let architecture = &node.node.architecture;
    let role = if worker.is_some() { "workload" } else { "control-plane" };
    let message = format!("SSP doesn't know the architecture {architecture} of a {role} node");
    let mut finding = Finding::new(&RULE, message)
        .at(node.architecture_place().unwrap_or_else(|| cx.whole_location()))
        .label(format!("SSP's webhook: {refusal}"));
    finding = match worker {
        Some(_) => finding.help(format!(
            "exclude {architecture} nodes with a required node affinity on kubernetes.io/arch in \
             the workload placement, or take the worker role away from them"
        )),
        None => finding.help("SSP can't be deployed on a cluster with such a control plane"),
    };
    let placement = cx.field("workloads.nodePlacement");
    if worker.is_some() && placement.is_set() {
        finding = finding.related(placement.key_place(), "this workload placement selects the node");
    }
    finding.fixes.extend(excluded(cx));
    out.explain(Incident::SspRefusal, finding);
}

/// Keeps workloads on nodes that SSP knows, where SSP then has nothing to refuse.
fn excluded(cx: &Context<'_>) -> Option<Fix> {
    let known = &cx.release().ssp().architectures;
    let mut kept = cx.topology().workload_architectures.clone();
    kept.retain(|a| known.contains(a));
    let fix = cx.keep_workloads_on(&kept).filter(|_| !kept.is_empty())?;
    let ssp = cx.planned_with(&fix)?.ssp?;
    ssp.admission.accepted.then_some(fix)
}
