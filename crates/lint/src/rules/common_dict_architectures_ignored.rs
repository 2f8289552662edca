//! A customised common golden image names architectures that HCO doesn't look at.

use std::collections::BTreeSet;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "common-dict-architectures-ignored",
    group: Group::GoldenImages,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the image is imported for the architectures that it came with"),
    claims: Claim::NoEffect,
    fix: FixKind::Unsafe,
    summary: "a customised common image names architectures that HCO replaces by its own",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for image in cx.golden_images() {
        let customised = matches!(image.template.source, TemplateSource::Customised { .. });
        let (Some(written), Some(counts), true) =
            (image.written, image.template.original_architectures.as_deref(), customised)
        else {
            continue;
        };
        let Some(annotation) = written.annotation(cx, ARCHITECTURES_ANNOTATION) else {
            continue;
        };
        if annotation.text().is_none_or(|t| names(t) == names(counts)) {
            continue;
        }
        let name = image.template.name();
        let message = format!(
            "golden image {name} keeps the architectures of the common image, {}, whatever its annotation says",
            and(&counts.split(',').collect::<Vec<_>>())
        );
        let registry = written.get("spec.template.spec.source.registry");
        let (place, why) = match registry {
            Some(_) => {
                (written.locate_key("spec.template.spec.source.registry"), "the registry source is the common image's")
            }
            None => (written.locate_key("spec.template.spec.source"), "the source is no registry"),
        };
        let path = written.path(cx).key("metadata").key("annotations");
        let remove = Change::Remove(path.key(ARCHITECTURES_ANNOTATION));
        let finding = Finding::new(&RULE, message)
            .at(annotation.value_place())
            .label(format!("has no effect: HCO puts {counts:?} in its place"))
            .related(place, why)
            .help("remove the annotation, or import from another registry source");
        let title = "remove the annotation";
        out.report(finding.fixes(cx.fix(title, Applicability::Unsafe, &[remove])));
    }
}

fn names(annotation: &str) -> BTreeSet<&str> {
    annotation.split(',').collect()
}
