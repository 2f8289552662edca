//! A golden image claims an architecture that its image isn't there for.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-architectures-overclaim",
    group: Group::GoldenImages,
    severity: Severity::Error,
    predicts: Prediction::Alert {
        name: "CDIDataImportCronOutdated",
        runbook: "https://kubevirt.io/monitoring/runbooks/CDIDataImportCronOutdated.html",
    },
    fix: FixKind::Unsafe,
    summary: "a golden image's annotation names an architecture that its image doesn't have",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let Some(written) = image.written.filter(|_| image.template.is_deployed()) else {
            continue;
        };
        let url = written.get("spec.template.spec.source.registry.url");
        let evidence = url.and_then(|n| n.as_str()).and_then(|u| cx.image_evidence(u));
        let annotation = written.annotation(cx, ARCHITECTURES_ANNOTATION);
        let text = annotation.as_ref().and_then(|a| a.text());
        let (Some(evidence), Some(annotation), Some(text)) = (evidence, annotation, text) else {
            continue;
        };
        let named: Vec<&str> = text.split(',').map(str::trim).filter(|a| !a.is_empty()).collect();
        let has = |a: &&str| !evidence.lacks(a);
        let (kept, missing): (Vec<&str>, Vec<&str>) = named.iter().partition(|a| has(a));
        if missing.is_empty() {
            continue;
        }
        let is_imported = cx.import_crons().any(|cron| {
            let architecture = cron.origin.architecture.as_deref();
            let template = cron.origin.template.as_ref();
            template.is_some_and(|t| t.name == image.template.name())
                && architecture.is_some_and(|a| missing.contains(&a))
        });
        let message = format!(
            "golden image {} claims {}, but its image is there for {} only",
            image.template.name(),
            and(&missing),
            and(&evidence.architectures)
        );
        let finding = Finding::new(&RULE, message)
            .at(annotation.value_place())
            .label(format!("{} can't be imported", and(&missing)))
            .help("remove what the image doesn't have, or push an image that has it")
            .related(evidence.place(), "this says what the image has")
            .severity(if is_imported { Severity::Error } else { Severity::Warning });
        let path = written.path(cx).key("metadata").key("annotations");
        let path = path.key(ARCHITECTURES_ANNOTATION);
        let set = [Change::Set(path, kept.join(",").into())];
        let fix = (!kept.is_empty()).then(|| cx.fix("name what it has", Applicability::Unsafe, &set)).flatten();
        out.report(finding.fixes(fix));
    }
}
