//! A patch of an SSP that isn't deployed.

use hcoplan_planner::release::Platform;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-ssp-without-openshift",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Silent("there is no SSP to patch, and the alert counts the patch"),
    needs: Needs::Document,
    fix: FixKind::Unsafe,
    claims: Claim::NoEffect,
    summary: "SSP is patched on a cluster that has no SSP",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.inventory().platform == Platform::OpenShift {
        return;
    }
    let mut annotations = cx.patch_annotations().iter();
    let Some(patch) = annotations.find(|p| p.target.kind == "SSP") else {
        return;
    };
    let finding = Finding::new(&RULE, "SSP is patched, but this cluster has no SSP")
        .at(patch.annotation.key_place())
        .label("HCO deploys SSP on OpenShift only")
        .help("remove the annotation");
    out.report(finding.fixes(cx.without_annotation(patch, Applicability::Unsafe)));
}
