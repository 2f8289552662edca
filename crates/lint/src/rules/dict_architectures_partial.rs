//! A golden image that exists for some of the workload architectures.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "dict-architectures-partial",
    group: Group::GoldenImages,
    severity: Severity::Info,
    predicts: Prediction::Silent("virtual machines of the other architectures find no boot source of this name"),
    needs: Needs::Nodes,
    claims: Claim::HasEffect,
    summary: "a golden image exists for some of the workload nodes' architectures only",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let workload = &cx.topology().workload_architectures;
    for image in cx.golden_images() {
        let Some(original) = image.template.original_architectures.as_deref() else {
            continue;
        };
        let Some(written) = image.written.filter(|_| image.template.is_deployed()) else {
            continue;
        };
        let meant = original.to_ascii_lowercase();
        let missing: Vec<&str> = workload
            .iter()
            .map(String::as_str)
            .filter(|w| !meant.split(is_separator).any(|a| is_name_of(a, w)))
            .collect();
        if missing.is_empty() || original.is_empty() {
            continue;
        }
        // Where it is known what the image has, dict-architectures-underclaim knows better.
        let url = written.get("spec.template.spec.source.registry.url");
        let url = url.and_then(|n| n.as_str());
        let evidence = url.and_then(|u| cx.image_evidence(u));
        let knows = |m: &&str| evidence.iter().any(|e| e.architectures.iter().any(|a| a == m));
        if evidence.as_ref().is_some_and(|e| e.is_complete()) || missing.iter().any(knows) {
            continue;
        }
        let name = image.template.name();
        let kept = image.template.architectures().unwrap_or_default();
        let kept: Vec<&str> = kept.split(',').collect();
        let message = format!(
            "golden image {name} is imported for {}, but workload nodes are {} as well",
            and(&kept),
            and(&missing)
        );
        let annotation = written.annotation(cx, ARCHITECTURES_ANNOTATION);
        let own = annotation.filter(|a| a.text() == Some(original));
        let finding = Finding::new(&RULE, message)
            .at(own.map_or_else(|| written.name_place(), |a| a.value_place()))
            .label(format!("doesn't name {}", or(&missing)))
            .help(format!("add {} if the image exists for it", or(&missing)));
        out.report(with_nodes(finding, cx, &missing));
    }
}

/// What stands between two names, right or wrong.
fn is_separator(c: char) -> bool {
    matches!(c, ',' | ';' | '|') || c.is_whitespace()
}

/// Whether a word means an architecture, by its own or another usual name.
fn is_name_of(word: &str, architecture: &str) -> bool {
    word == architecture || matches!((word, architecture), ("x86_64" | "x86-64", "amd64") | ("aarch64", "arm64"))
}
