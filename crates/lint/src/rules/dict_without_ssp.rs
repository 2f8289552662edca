//! Golden images where no SSP makes any.

use hcoplan_planner::release::Platform;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-without-ssp",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Silent("no image is imported"),
    claims: Claim::NoEffect,
    needs: Needs::Plan,
    summary: "golden images on plain Kubernetes, where no SSP imports them",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("dataImportCronTemplates");
    if cx.inventory().platform != Platform::Kubernetes || cx.written_templates().next().is_none() {
        return;
    }
    let finding = Finding::new(&RULE, "no golden image is imported: plain Kubernetes has no SSP")
        .at(field.key_place())
        .label("handed to an operator that isn't there")
        .help("apply DataImportCrons of your own, or remove them here");
    out.report(finding);
}
