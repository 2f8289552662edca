//! A pod template that is let onto an architecture that an image of it lacks.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) static RULE: Rule = Rule {
    name: "bundle-affinity-exceeds-image",
    group: Group::Bundle,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("exec format error on nodes that the image isn't built for"),
    fix: FixKind::Unsafe,
    summary: "the node affinity lets pods onto an architecture that one of their images lacks",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates() {
        if pod.architecture_scope() != ArchitectureScope::Everywhere {
            continue;
        }
        let Some(support) = cx.supported_architectures(pod) else {
            continue;
        };
        let (lists, there, reach) =
            (pod.named_architectures(), cx.all_architectures(), cx.reachable_architectures(pod));
        let named = lists.iter().flat_map(|(_, names)| names.iter().copied());
        let candidates: BTreeSet<&str> = named.chain(there.iter().copied()).collect();
        let extra: Vec<&str> =
            candidates.into_iter().filter(|a| pod.permits(a) && !support.architectures.contains(*a)).collect();
        let lands = extra.iter().any(|a| reach.contains(a));
        if extra.is_empty() || (!pod.in_bundle && !lands) {
            continue;
        }
        let list = lists.iter().find(|(_, names)| names.iter().any(|n| extra.contains(n)));
        let place = match list {
            Some((path, _)) => pod.document.locate(path),
            None => pod.place(),
        };
        let severity = if lands || there.is_empty() { Severity::Error } else { Severity::Warning };
        let message =
            format!("the node affinity of {} allows {}, which its images aren't there for", pod.called, and(&extra));
        let mut finding = Finding::new(&RULE, message)
            .severity(severity)
            .at(place)
            .object(object_of(&pod.document))
            .label(format!("allows {}", and(&extra)))
            .help("name only what every image of the pod is built for");
        let short = support.known.iter().find(|(_, e)| extra.iter().any(|a| e.lacks(a)));
        if let Some((path, evidence)) = short {
            let place = pod.document.locate(path);
            finding = finding.related(place, format!("is there for {}", has(evidence)));
            finding = finding.related(evidence.place(), "this says what the image has");
        }
        let kept = list.and_then(|(path, names)| {
            let mut kept = names.clone();
            kept.retain(|n| !extra.contains(n));
            let set = [Change::Set(path.clone(), kept.clone().into())];
            let is_list = path.0.last().is_some_and(|s| *s == Segment::Key("values".into()));
            let title = format!("leave {} out", and(&extra));
            (is_list && !kept.is_empty()).then(|| unsafe_fix(&pod.document, title, &set))?
        });
        out.report(finding.fixes(kept));
    }
}
