//! The wasp agent twice.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "duplicate-wasp-agent",
    group: Group::Operands,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "DuplicateWaspAgentDSDetected",
        runbook: "https://kubevirt.io/monitoring/runbooks/DuplicateWaspAgentDSDetected.html",
    },
    summary: "git declares a wasp agent although HCO deploys one",
    ..Rule::BASE
};

const FIELD: &str = "higherWorkloadDensity.memoryOvercommitPercentage";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(hc) = cx.hyperconverged() else {
        return;
    };
    let overcommit = hc.get("virtualization.higherWorkloadDensity.memoryOvercommitPercentage");
    let Some(percent) = overcommit.and_then(|o| o.as_u64()).filter(|p| *p > 100) else {
        return;
    };
    for document in cx.neighbours().of_kind("DaemonSet") {
        let name = text_at(document, "metadata.name");
        if name != Some("wasp-agent") || namespace_of(document) != "wasp" {
            continue;
        }
        let message = format!("HCO deploys a wasp agent of its own: memory is overcommitted to {percent}%");
        let finding = finding_about(&RULE, document, message)
            .label("a second one")
            .help("delete it")
            .related(cx.field(FIELD).value_place(), "has HCO deploy the first");
        out.report(finding);
    }
}
