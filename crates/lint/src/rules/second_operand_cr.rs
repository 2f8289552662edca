//! Another installation of what HCO installs.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "second-operand-cr",
    group: Group::Operands,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Prediction::Refusal("creation failed, an SSP CR already exists in namespace"),
    summary: "a second KubeVirt, CDI, SSP or NetworkAddonsConfig is declared beside HCO's",
    ..Rule::BASE
};

const OPERATORS: [&str; 4] = ["cdi-operator", "cluster-network-addons-operator", "ssp-operator", "virt-operator"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (_, object) in &cx.plan().operands {
        let id = &object.id;
        if !matches!(id.kind.as_str(), "CDI" | "KubeVirt" | "NetworkAddonsConfig" | "SSP") {
            continue;
        }
        for document in cx.neighbours().of_kind(&id.kind) {
            let version = text_at(document, "apiVersion").unwrap_or_default();
            let namespace = namespace_of(document);
            let same_place = namespace.is_empty() || Some(namespace) == id.namespace.as_deref();
            let is_own = text_at(document, "metadata.name") == Some(&id.name) && same_place;
            if is_own || version.split('/').next() != Some(id.group()) {
                continue;
            }
            let finding = finding_about(&RULE, document, format!("a second {} beside HCO's", id.kind))
                .label(format!("HCO makes {id}"))
                .help("delete it: HCO's own is configured by the HyperConverged");
            out.report(finding);
        }
    }
    let own = tree::get(cx.object(), "metadata.namespace").and_then(|n| n.as_str());
    for document in cx.neighbours().of_kind("Deployment") {
        let name = text_at(document, "metadata.name").unwrap_or_default();
        let namespace = namespace_of(document);
        let outside = !namespace.is_empty() && namespace != cx.inventory().namespace && Some(namespace) != own;
        if OPERATORS.contains(&name) && outside {
            let finding = finding_about(&RULE, document, format!("a second {name} beside HCO's"))
                .label("HCO brings its own, in its own namespace")
                .help("delete it, or move it to another cluster's directory");
            out.report(finding);
        }
    }
}
