//! A wish for an architecture that forbids nothing.

use super::prelude::*;
use crate::{ArchitectureScope, ImageCoverage};

pub(super) static RULE: Rule = Rule {
    name: "bundle-affinity-preferred-only",
    group: Group::Bundle,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("pods go to other architectures when the preferred nodes are full"),
    fix: FixKind::Unsafe,
    summary: "the architecture is in preferred terms only, which forbid nothing",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates() {
        let Some(preferred) = pod.preferred().filter(|_| pod.architecture_scope() == ArchitectureScope::Nowhere) else {
            continue;
        };
        let reach = cx.reachable_architectures(pod);
        // The Subscription keeps it to some.
        if reach != cx.reachable_when_unrestricted(pod) {
            continue;
        }
        let harmless = cx.image_coverage(pod) == ImageCoverage::All || reach.len() == 1;
        let severity = match (pod.in_bundle, harmless) {
            (true, true) => Severity::Info,
            (true, false) => Severity::Warning,
            (false, false) if reach.len() > 1 => Severity::Warning,
            (false, _) => continue,
        };
        let all: Vec<&str> = reach.into_iter().collect();
        let message = format!("{} only prefers an architecture", pod.called);
        let label = match all.len() {
            0 | 1 => "forbids no other one".to_owned(),
            _ => format!("pods may still land on {}", or(&all)),
        };
        let wished = wished(&pod.document, &preferred);
        let support = cx.supported_architectures(pod).filter(|s| s.is_complete);
        let kept: Vec<String> = match support {
            Some(support) if !support.architectures.is_empty() => support.architectures.into_iter().collect(),
            _ => wished,
        };
        let fix = (!kept.is_empty())
            .then(|| {
                let title = format!("require {}", or(&kept));
                unsafe_fix(&pod.document, title, &pod.keep_to(&kept))
            })
            .flatten();
        let finding = Finding::new(&RULE, message)
            .severity(severity)
            .at(pod.document.locate_key(&preferred))
            .object(object_of(&pod.document))
            .label(label)
            .help("require what its images are built for; the wish may stay beside it");
        out.report(finding.fixes(fix));
    }
}

/// The architectures that a preferred term names.
fn wished(document: &Document, term: &Path) -> Vec<String> {
    let all = document.root.at(&term.key("matchExpressions"));
    let all = all.map(|n| n.items()).unwrap_or_default().iter();
    let ours = all.filter(|e| {
        let text = |key: &str| e.get(key).and_then(|n| n.as_str());
        text("key") == Some("kubernetes.io/arch") && text("operator") == Some("In")
    });
    let values = ours.filter_map(|e| e.get("values")).flat_map(|v| v.items());
    values.filter_map(|v| v.as_str()).map(str::to_owned).collect()
}
