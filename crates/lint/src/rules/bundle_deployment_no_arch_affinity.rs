//! A pod template that goes to nodes of any architecture.

use super::prelude::*;
use crate::{ArchitectureScope, ImageCoverage};

pub(super) static RULE: Rule = Rule {
    name: "bundle-deployment-no-arch-affinity",
    group: Group::Bundle,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("exec format error on nodes that the image isn't built for"),
    fix: FixKind::Unsafe,
    summary: "a pod template requires no architecture of its nodes",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates() {
        if pod.architecture_scope() != ArchitectureScope::Nowhere || pod.preferred().is_some() {
            continue;
        }
        // The Subscription keeps it to some.
        let (reach, free) = (cx.reachable_architectures(pod), cx.reachable_when_unrestricted(pod));
        if reach != free || pod.images().is_empty() {
            continue;
        }
        let coverage = cx.image_coverage(pod);
        let severity = match &coverage {
            ImageCoverage::Part(_) => Severity::Error,
            // No affinity mends that: bundle-image-missing-arch.
            ImageCoverage::Nothing => continue,
            _ if !pod.in_bundle => continue,
            ImageCoverage::Unknown if reach.len() > 1 => Severity::Warning,
            ImageCoverage::Unknown | ImageCoverage::All => Severity::Info,
        };
        let support = cx.supported_architectures(pod);
        let all: Vec<&str> = reach.into_iter().collect();
        let (message, label) = match &coverage {
            ImageCoverage::Part(missing) => (
                format!("{} may land on {}, which its images aren't there for", pod.called, and(missing)),
                format!("lets the scheduler choose among {}", and(&all)),
            ),
            _ if all.len() > 1 => (
                format!("{} requires no architecture of its nodes", pod.called),
                format!("lets the scheduler choose among {}", and(&all)),
            ),
            _ => (format!("{} requires no architecture of its nodes", pod.called), "any node will do".to_owned()),
        };
        let mut finding = Finding::new(&RULE, message)
            .severity(severity)
            .at(pod.place())
            .object(object_of(&pod.document))
            .label(label)
            .help("require the architectures that its images are built for");
        if let ImageCoverage::Part(missing) = &coverage {
            let known = support.iter().flat_map(|s| &s.known);
            let short = known.filter(|(_, e)| missing.iter().any(|m| e.lacks(m)));
            for (path, evidence) in short.take(1) {
                let place = pod.document.locate(path);
                finding = finding.related(place, format!("is there for {}", has(evidence)));
                finding = finding.related(evidence.place(), "this says what the image has");
            }
            finding = with_nodes(finding, cx, missing);
        }
        let kept = support.filter(|s| s.is_complete && !s.architectures.is_empty());
        let fix = kept.and_then(|s| {
            let names: Vec<&String> = s.architectures.iter().collect();
            unsafe_fix(&pod.document, format!("require {}", or(&names)), &pod.keep_to(&names))
        });
        out.report(finding.fixes(fix));
    }
}
