//! Rules for rejections that are explained by their reason alone.

use hcoplan_planner::admission::{GROUP, Reason as Rejected};
use hcoplan_planner::boot_images::ssp_stage::SspReason;
use hcoplan_planner::hyperconverged::version_of;

use super::prelude::*;
use super::tls_profile_invalid::{with_type, without_type};

pub(super) static RULES: &[RegisteredRule] = &[
    last(&ADMISSION_REJECTED, |cx, out| rejected(cx, out, |_| true, with_served_versions)),
    always(&HCO_API_V1_TOO_NEW, |cx, out| rejected(cx, out, is_unknown, api_too_new)),
    always(&HCO_KIND_UNKNOWN, |cx, out| rejected(cx, out, is_unknown, kind_unknown)),
    always(&HCO_NAMESPACE_MISMATCH, |cx, out| {
        rejected(cx, out, |reason| reason == Rejected::Namespace, namespace_mismatch);
    }),
    always(&NODE_ARCH_UNSUPPORTED_BY_SSP, |cx, out| explained(cx, out, Incident::SspRejection, unsupported_node)),
    always(&OPERATOR_PANICS, |cx, out| explained(cx, out, Incident::ReconcileError, panics)),
    always(&OPERATOR_UPDATE_REJECTED, |cx, out| out.report_all(update_rejected(cx))),
    last(&RECONCILE_FAILS, |cx, out| explained(cx, out, Incident::ReconcileError, reconcile_fails)),
    last(&SSP_REJECTED, |cx, out| explained(cx, out, Incident::SspRejection, ssp_rejected)),
];

fn explained(cx: &Context<'_>, out: &mut Sink, incident: Incident, find: fn(&Context<'_>) -> Option<Finding>) {
    if !out.is_explained(incident)
        && let Some(finding) = find(cx)
    {
        out.explain(incident, finding);
    }
}

/// The rejection with the explanation of its reason.
fn rejected(
    cx: &Context<'_>,
    out: &mut Sink,
    is_ours: fn(Rejected) -> bool,
    explain: fn(&Context<'_>, Finding) -> Option<Finding>,
) {
    if !out.is_explained(Incident::Rejection)
        && let Some(finding) = cx.rejected(is_ours).and_then(|finding| explain(cx, finding))
    {
        out.reject(finding);
    }
}

fn with_served_versions(cx: &Context<'_>, finding: Finding) -> Option<Finding> {
    if cx.admission().reason != Some(Rejected::UnknownKind) {
        return Some(finding);
    }
    let versions = cx.release().served_versions().iter().map(|version| format!("`{GROUP}/{version}`"));
    Some(finding.help(format!("write apiVersion {}", or(versions))))
}

fn is_unknown(reason: Rejected) -> bool {
    reason == Rejected::UnknownKind
}

fn api_too_new(cx: &Context<'_>, finding: Finding) -> Option<Finding> {
    let version = version_of(cx.object());
    let of_group = cx.api_version() == format!("{GROUP}/{version}") && cx.document().text("kind") == KIND;
    let siblings = cx.release().releases_of_distribution();
    let first = siblings.iter().find(|release| release.serves(version)).filter(|_| of_group)?.label();
    let finding =
        finding.at(cx.document().locate(&Path::dotted("apiVersion"))).label(format!("served from {first} on"));
    Some(finding.help(format!("write it in {} until the cluster runs {first}", and(cx.release().served_versions()))))
}

/// The only kind of the API group.
const KIND: &str = "HyperConverged";

fn kind_unknown(cx: &Context<'_>, finding: Finding) -> Option<Finding> {
    let written = cx.root().get("kind");
    let kind = cx.document().text("kind");
    if kind == KIND || cx.api_version().split('/').next() != Some(GROUP) {
        return None;
    }
    let place = match written {
        Some(node) => cx.location(node.span),
        None => cx.document().locate(&Path::dotted("apiVersion")),
    };
    let is_text = written.and_then(Node::as_str).is_some();
    let fix = is_text.then(|| suggested_text("write HyperConverged", place.clone(), KIND));
    let (label, help) = match kind {
        "HyperConvergedList" => (
            "a list of HyperConvergeds, and it has no `items`".to_owned(),
            "write `kind: HyperConverged`, or put the HyperConverged into `items`",
        ),
        "" => ("of no kind".to_owned(), "write `kind: HyperConverged`"),
        _ => (format!("the only kind of {GROUP} is {KIND}"), "write `kind: HyperConverged`"),
    };
    Some(finding.at(place).label(label).help(help).fixes(fix))
}

fn namespace_mismatch(cx: &Context<'_>, finding: Finding) -> Option<Finding> {
    let namespace = cx.inventory().namespace.as_str();
    let moved = [Change::Set(Path::dotted("metadata.namespace"), namespace.into())];
    let finding = finding
        .label(format!("the operator runs in {namespace}"))
        .help(format!("set `metadata.namespace: {namespace}`, or set the operator's namespace in the inventory"));
    Some(finding.fixes(cx.suggest_change("", &moved)))
}

fn unsupported_node(cx: &Context<'_>) -> Option<Finding> {
    let rejection = cx.ssp_rejection()?;
    let known = &cx.release().ssp().architectures;
    let unknown = |n: &NodeRef<'_>| {
        let architecture = &n.node.architecture;
        !architecture.is_empty() && !known.contains(architecture)
    };
    // SSP's webhook checks the workload nodes first.
    let worker = cx.workload_nodes().find(unknown);
    let node = worker.or_else(|| cx.control_plane_nodes().find(unknown))?;
    let architecture = &node.node.architecture;
    let role = if worker.is_some() { "workload" } else { "control-plane" };
    let message = format!("SSP's webhook rejects the SSP: a {role} node is {architecture}, which SSP doesn't know");
    let mut finding = cx
        .finding(message)
        .at(node.architecture_place().unwrap_or_else(|| cx.whole_location()))
        .label(format!("SSP's webhook: {rejection}"));
    finding = match worker {
        Some(_) => finding.help(format!(
            "exclude {architecture} nodes with a required node affinity on kubernetes.io/arch in \
             the workload placement, or take the worker role away from them"
        )),
        None => finding.help("SSP can't be deployed on a cluster with this control-plane node"),
    };
    let placement = cx.field("workloads.nodePlacement");
    if worker.is_some() && placement.is_set() {
        finding = finding.related(placement.key_place(), "this workload placement selects the node");
    }
    // Restricts workloads to architectures that SSP supports, if SSP then accepts them.
    let mut kept = cx.topology().workload_architectures.clone();
    kept.retain(|a| known.contains(a));
    let excluded = cx.keep_workloads_on(&kept).filter(|_| !kept.is_empty());
    let is_cure = |fix: &Fix| cx.planned_with(fix).and_then(|plan| plan.ssp).is_some_and(|ssp| ssp.admission.accepted);
    Some(finding.fixes(excluded.filter(is_cure)))
}

fn panics(cx: &Context<'_>) -> Option<Finding> {
    // Another rule reports a template without a source.
    let error = cx.plan().reconcile_error.as_ref();
    error.filter(|error| error.is_panic() && error.operand != "SSP")?;
    let whose =
        if cx.field("tlsSecurityProfile").is_set() { "`tlsSecurityProfile`" } else { "the cluster's TLS profile" };
    let message = format!(
        "HCO's operator panics on {whose} in every reconcile: nothing is deployed, and no condition \
         says so"
    );
    Some(without_type(cx, cx.finding(message)).fixes(with_type(cx, Applicability::Safe)))
}

fn update_rejected(cx: &Context<'_>) -> Option<Finding> {
    let update = cx.plan().rejected_update.as_ref()?;
    let message = format!("HCO's own update of the HyperConverged is rejected in every reconcile: {}", update.message);
    let finding = cx.finding(message);
    let profile = cx.field("tlsSecurityProfile");
    if update.patch.is_none() && profile.is_set() && !cx.field("tlsSecurityProfile.type").is_set() {
        return Some(without_type(cx, finding).fixes(with_type(cx, Applicability::Unsafe)));
    }
    let stored = update.stored.as_ref().or(update.forced.as_ref());
    let same_version = stored.is_none_or(|s| version_of(s) == cx.version());
    let place = match (&update.patch, update.causes.first()) {
        (Some(patch), _) => cx.patch_place(patch.0, &patch.1),
        (None, Some(cause)) if same_version => cx.locate(&cause.path),
        _ => cx.whole_location(),
    };
    let finding = finding.at(place).label("neither finalizer nor `evictionStrategy` is ever stored");
    Some(match cx.admission().holes.first() {
        Some(hole) => finding.related(cx.locate(&hole.path), "the warning about this hid it from the webhook"),
        None => finding,
    })
}

fn reconcile_fails(cx: &Context<'_>) -> Option<Finding> {
    let error = cx.plan().reconcile_error.as_ref()?;
    let patch = error.patch.as_ref();
    let finding = cx
        .finding(format!("HCO can't render {}: {error}", error.operand))
        .at(patch.map_or_else(|| cx.whole_location(), |p| cx.patch_place(p.0, &p.1)));
    let help = if patch.is_some() {
        "correct the operation, or remove it"
    } else {
        "correct the field that the error is about"
    };
    Some(finding.label(format!("{} and the operands after it are not updated", error.operand)).help(help))
}

fn ssp_rejected(cx: &Context<'_>) -> Option<Finding> {
    // Without declared nodes the architectures are unknown.
    let is_unknown = !cx.has_nodes() && cx.ssp_reason() == Some(SspReason::NoCluster);
    let is_named = |t: &WrittenTemplate<'_>| cx.meant_for(&t.path(cx).below("metadata.name")).is_some();
    let is_misspelt = cx.ssp_reason() == Some(SspReason::NamelessTemplate)
        && cx.written_templates().filter(|t| t.name().is_empty()).all(|t| is_named(&t));
    let message = cx.ssp_rejection().filter(|_| !is_unknown && !is_misspelt)?;
    let patch = cx.annotation("ssp.kubevirt.io/jsonpatch");
    let finding = cx
        .finding(format!("SSP's webhook rejects the SSP: {message}"))
        .at(patch.map_or_else(|| cx.whole_location(), |p| p.key_place()));
    let help = if patch.is_some() {
        "correct or remove the operation that the message is about"
    } else {
        "correct the field that the message is about"
    };
    Some(finding.label("HCO renders an SSP from it that is rejected").help(help))
}
