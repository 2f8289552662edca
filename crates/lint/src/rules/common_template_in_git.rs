//! A template of SSP's is kept in git, too.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "common-template-in-git",
    group: Group::Operands,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Alert {
        name: "SSPCommonTemplatesModificationReverted",
        runbook: "https://kubevirt.io/monitoring/runbooks/SSPCommonTemplatesModificationReverted.html",
    },
    summary: "git declares a base template in the namespace of SSP's common templates",
    ..Rule::BASE
};

const TYPE: &str = "template.kubevirt.io/type";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.plan().ssp.is_none() {
        return;
    }
    let hc = cx.hyperconverged();
    let configured = hc.and_then(|hc| hc.text("workloadSources.commonTemplatesNamespace"));
    let common = configured.unwrap_or(&cx.release().tables().common_templates_namespace);
    for document in cx.neighbours().of_kind("Template") {
        let label = Path::dotted("metadata.labels").key(TYPE);
        let kind = document.root.at(&label).and_then(|n| n.as_str());
        if namespace_of(document) != common || kind != Some("base") {
            continue;
        }
        let name = text_at(document, "metadata.name").unwrap_or_default();
        let finding = finding_about(&RULE, document, format!("the template {name} is one of SSP's"))
            .label("SSP takes changes back")
            .help("keep a copy of another name in another namespace, without the label")
            .related(document.locate(&label), "a base template");
        out.report(finding);
    }
}
