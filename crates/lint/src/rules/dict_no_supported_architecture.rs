//! A golden image that exists for none of the workload architectures.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-no-supported-architecture",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "HCOGoldenImageWithNoSupportedArchitecture",
        runbook: "https://kubevirt.io/monitoring/runbooks/HCOGoldenImageWithNoSupportedArchitecture.html",
    },
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    summary: "a golden image exists for none of the workload nodes' architectures",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let workload = &cx.topology().workload_architectures;
    let lost = |i: &&GoldenImage<'_>| i.template.has_architectures_annotation() && !i.template.is_deployed();
    for image in cx.golden_images().iter().filter(lost) {
        let original = image.template.original_architectures.as_deref().unwrap_or_default();
        let annotation = image.written.and_then(|w| w.annotation(cx, ARCHITECTURES_ANNOTATION));
        // A customised common image keeps the release's annotation, whatever its own says.
        let own = annotation.filter(|a| a.text() == Some(original));
        let name = image.template.name();
        let message = if workload.is_empty() {
            format!("golden image {name} isn't deployed: there are no workload nodes")
        } else {
            format!(
                "golden image {name} isn't deployed: it exists for {}, workload nodes are {}",
                and(&original.split(',').map(str::trim).collect::<Vec<_>>()),
                and(workload)
            )
        };
        let mut finding = Finding::new(&RULE, message)
            .at(own.map_or_else(|| cx.image_place(image), |a| a.value_place()))
            .label("no workload node has one of these")
            .help("correct the list, or switch the template off until such nodes are there");
        if own.is_none() {
            finding.label = Some(format!("{name} exists for {original}").into());
        }
        for node in cx.node_per_architecture() {
            if let Some(place) = node.architecture_place() {
                finding = finding.related(place, "workload nodes are declared here");
            }
        }
        let off = cx.switch_image_off(image.template.name());
        out.report(finding.fixes(off));
    }
}
