//! A golden image that doesn't say which architectures it exists for.

use super::prelude::*;
use crate::WrittenTemplate;

pub(super) static RULE: Rule = Rule {
    name: "dict-missing-architectures-annotation",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "HCOGoldenImageWithNoArchitectureAnnotation",
        runbook: "https://kubevirt.io/monitoring/runbooks/HCOGoldenImageWithNoArchitectureAnnotation.html",
    },
    fix: FixKind::Suggested,
    summary: "a golden image doesn't say which architectures it exists for",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if !cx.hyperconverged().is_some_and(|hc| hc.multi_arch()) {
        return;
    }
    let silent = |i: &&GoldenImage<'_>| !i.template.has_architectures_annotation();
    for image in cx.golden_images().iter().filter(silent) {
        let name = image.template.name();
        let annotation = image.written.and_then(|w| w.annotation(cx, ARCHITECTURES_ANNOTATION));
        let mut finding =
            Finding::new(&RULE, format!("golden image {name} doesn't say which architectures it exists for")).help(
                format!(
                    "annotate it with {ARCHITECTURES_ANNOTATION}: a comma-separated list such as \
             \"amd64,arm64\""
                ),
            );
        finding = match annotation {
            Some(annotation) => finding.at(annotation.value_place()).label("names no architecture"),
            None => finding.at(cx.image_place(image)).label(match image.template.source {
                TemplateSource::Customised { .. } => {
                    "another registry source than the common image's: its annotation doesn't count"
                }
                _ => "imported for no architecture in particular",
            }),
        };
        if let Some(written) = image.written {
            finding = finding.fixes(all_architectures(cx, &written));
        }
        out.report(finding.related(cx.multi_arch_switch(), "multi-arch golden images are on"));
    }
}

/// The workload nodes' architectures, for whoever knows that the image has them.
fn all_architectures(cx: &Context<'_>, written: &WrittenTemplate<'_>) -> Option<Fix> {
    let workload = &cx.topology().workload_architectures;
    let list = workload.join(",");
    let path = written.path(cx).key("metadata").key("annotations");
    let set = Change::Set(path.key(ARCHITECTURES_ANNOTATION), list.as_str().into());
    let title = format!("say that it exists for {}", and(workload));
    let fix = || cx.fix(title, Applicability::Suggestion, &[set]);
    (!list.is_empty()).then(fix).flatten()
}
