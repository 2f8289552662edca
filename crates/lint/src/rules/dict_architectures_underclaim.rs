//! A golden image could be imported for more architectures than it is.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-architectures-underclaim",
    group: Group::GoldenImages,
    severity: Severity::Info,
    predicts: Prediction::Silent("no boot source for an architecture that the image is there for"),
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "a golden image isn't imported for an architecture that its image and nodes have",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if !cx.hyperconverged().is_some_and(|hc| hc.multi_arch()) {
        return;
    }
    let workload = &cx.topology().workload_architectures;
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
        let open = evidence.architectures.iter().map(String::as_str);
        let open = open.filter(|a| workload.iter().any(|w| w == a) && !named.contains(a));
        let open: Vec<&str> = open.collect();
        if open.is_empty() {
            continue;
        }
        let message = format!(
            "golden image {} isn't imported for {}, although its image is there for it",
            image.template.name(),
            and(&open)
        );
        let finding = Finding::new(&RULE, message)
            .at(annotation.value_place())
            .label(format!("doesn't name {}", and(&open)))
            .help(format!("add {}, unless it is left out on purpose", and(&open)))
            .related(evidence.place(), "this says what the image has");
        let all = [named.as_slice(), open.as_slice()].concat().join(",");
        let path = written.path(cx).key("metadata").key("annotations");
        let set = [Change::Set(path.key(ARCHITECTURES_ANNOTATION), all.into())];
        let title = format!("import it for {}, too", and(&open));
        let finding = finding.fixes(cx.fix(title, Applicability::Suggestion, &set));
        out.report(with_nodes(finding, cx, &open));
    }
}
