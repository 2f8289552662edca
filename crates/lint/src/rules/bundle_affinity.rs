//! Compares the architectures required by pod templates with those of their images.

use super::prelude::*;
use crate::ArchitectureScope::{self, Everywhere, InSomeTerms, Nowhere};
use crate::context::names_architecture;
use crate::{ArchitectureSupport, ImageCoverage};

pub(super) static RULES: &[RegisteredRule] = &[
    always(&BUNDLE_AFFINITY_EXCEEDS_IMAGE, |cx, out| each(cx, out, Everywhere, exceeds_image)),
    always(&BUNDLE_AFFINITY_NARROWER_THAN_IMAGE, |cx, out| each(cx, out, Everywhere, narrower_than_image)),
    always(&BUNDLE_AFFINITY_PREFERRED_ONLY, |cx, out| each(cx, out, Nowhere, preferred_only)),
    always(&BUNDLE_AFFINITY_TERMS_ORED, |cx, out| each(cx, out, InSomeTerms, terms_ored)),
    always(&BUNDLE_DEPLOYMENT_NO_ARCH_AFFINITY, |cx, out| each(cx, out, Nowhere, no_affinity)),
];

/// The pod templates with such a restriction, each with the architectures of its possible nodes, sorted.
fn each(
    cx: &Context<'_>,
    out: &mut Sink,
    scope: ArchitectureScope,
    find: fn(&Context<'_>, &PodTemplate, &[&str]) -> Option<Finding>,
) {
    for pod in cx.pod_templates().filter(|pod| pod.architecture_scope() == scope) {
        let reach: Vec<&str> = cx.reachable_architectures(pod).into_iter().collect();
        out.report_all(find(cx, pod, &reach).map(|f| f.object(object_of(&pod.document))));
    }
}

fn exceeds_image(cx: &Context<'_>, pod: &PodTemplate, reach: &[&str]) -> Option<Finding> {
    let support = cx.supported_architectures(pod)?;
    let (lists, there) = (pod.named_architectures(), cx.all_architectures());
    let named = lists.iter().flat_map(|(_, names)| names.iter().copied());
    let candidates: BTreeSet<&str> = named.chain(there.iter().copied()).collect();
    let extra: Vec<&str> =
        candidates.into_iter().filter(|a| pod.permits(a) && !support.architectures.contains(*a)).collect();
    let lands = extra.iter().any(|a| reach.contains(a));
    if extra.is_empty() || (!pod.in_bundle && !lands) {
        return None;
    }
    let list = lists.iter().find(|(_, names)| names.iter().any(|n| extra.contains(n)));
    let message = format!("the node affinity of {} allows {}, which its images don't support", pod.called, and(&extra));
    let finding = cx
        .finding(message)
        .severity(error_if(lands || there.is_empty()))
        .at(list.map_or_else(|| pod.place(), |(path, _)| pod.document.locate(path)))
        .label(format!("allows {}", and(&extra)));
    let finding = with_image(finding, pod, &support, &extra);
    Some(finding.help("name only what every image of the pod is built for"))
}

/// Adds an image that lacks one of these architectures to the finding.
fn with_image(
    finding: Finding,
    pod: &PodTemplate,
    support: &ArchitectureSupport,
    architectures: &[impl AsRef<str>],
) -> Finding {
    let short = support.known.iter().find(|(_, e)| architectures.iter().any(|a| e.lacks(a.as_ref())));
    let Some((path, evidence)) = short else {
        return finding;
    };
    let finding = finding.related(pod.document.locate(path), format!("supports {}", has(evidence)));
    finding.related(evidence.place(), EVIDENCE)
}

fn narrower_than_image(cx: &Context<'_>, pod: &PodTemplate, _: &[&str]) -> Option<Finding> {
    let support = cx.supported_architectures(pod).filter(|s| s.is_complete && pod.in_bundle)?;
    let open = cx.reachable_when_unrestricted(pod).into_iter();
    let open: Vec<&str> = open.filter(|a| support.architectures.contains(*a) && !pod.permits(a)).collect();
    if open.is_empty() {
        return None;
    }
    let lists = pod.named_architectures();
    let message =
        format!("the node affinity of {} excludes {}, although its images support it", pod.called, and(&open));
    let is_open = lists.iter().flat_map(|(_, names)| names).chain(&open).any(|name| pod.permits(name));
    let finding = cx
        .finding(message)
        .severity(if is_open { Severity::Info } else { Severity::Warning })
        .at(lists.first().map_or_else(|| pod.place(), |(path, _)| pod.document.locate(path)))
        .label(format!("forbids {}", and(&open)))
        .help(format!("allow {}, unless the operator was never tried there", and(&open)));
    Some(with_nodes(finding, cx, &open))
}

/// Whether a Subscription restricts the pod to some nodes.
fn is_kept_by_subscription(cx: &Context<'_>, pod: &PodTemplate, reach: &[&str]) -> bool {
    !cx.reachable_when_unrestricted(pod).iter().eq(reach)
}

fn preferred_only(cx: &Context<'_>, pod: &PodTemplate, reach: &[&str]) -> Option<Finding> {
    let preferred = pod.preferred().filter(|_| !is_kept_by_subscription(cx, pod, reach))?;
    let harmless = cx.image_coverage(pod) == ImageCoverage::All || reach.len() == 1;
    let severity = match (pod.in_bundle, harmless) {
        (true, true) => Severity::Info,
        (true, false) => Severity::Warning,
        (false, false) if reach.len() > 1 => Severity::Warning,
        (false, _) => return None,
    };
    let finding = cx
        .finding(format!("{} only prefers an architecture", pod.called))
        .severity(severity)
        .at(pod.document.locate_key(&preferred))
        .label(match reach.len() {
            0 | 1 => "forbids no other one".to_owned(),
            _ => format!("pods may still land on {}", or(reach)),
        });
    let fix = requiring(pod, cx.supported_architectures(pod));
    Some(finding.remedy("require the architectures of its images; the preference may stay", fix))
}

/// The fix that restricts a pod to nodes of the architectures that its images have, if these are known.
fn requiring(pod: &PodTemplate, support: Option<ArchitectureSupport>) -> Option<Fix> {
    let kept: Vec<String> = support.filter(|s| s.is_complete)?.architectures.into_iter().collect();
    let title = format!("require {}", or(&kept));
    (!kept.is_empty()).then(|| unsafe_fix(&pod.document, title, &pod.keep_to(&kept)))?
}

fn terms_ored(cx: &Context<'_>, pod: &PodTemplate, reach: &[&str]) -> Option<Finding> {
    let severity = match (pod.in_bundle, reach.len()) {
        (_, 2..) | (true, 0) => Severity::Error,
        (true, 1) => Severity::Warning,
        _ => return None,
    };
    let (path, terms) = pod.terms();
    let terms: Vec<Json> = terms.iter().map(Node::to_json).collect();
    let restrict = (0..terms.len()).filter(|i| requirements(&terms[*i]).next().is_some());
    let (closed, open): (Vec<usize>, Vec<usize>) = restrict.partition(|i| names_architecture(&terms[*i]));
    let (closed, open) = (closed.first()?, open.first()?);
    let message = format!(
        "the architecture that {} requires is only one of several alternatives, which other nodes match",
        pod.called
    );
    let finding = cx
        .finding(message)
        .severity(severity)
        .at(pod.document.locate(&path.index(*open)))
        .label(match reach.len() {
            0 | 1 => "matches nodes of any architecture".to_owned(),
            _ => format!("matches nodes of {}", and(reach)),
        })
        .help("put all requirements into one term: terms are alternatives")
        .related(pod.document.locate(&path.index(*closed)), "the architecture is required here only");
    Some(finding.fixes(merged(&terms).and_then(|term| {
        let set = [Change::Set(path.clone(), json!([term]))];
        unsafe_fix(&pod.document, "put all matchExpressions into one term: terms are alternatives", &set)
    })))
}

fn requirements(term: &Json) -> impl Iterator<Item = &Json> {
    ["matchExpressions", "matchFields"].into_iter().flat_map(|key| elements(&term[key]))
}

/// Merges all terms; `None` if two use the same label, because they are intended alternatives.
fn merged(terms: &[Json]) -> Option<Json> {
    let all: Vec<&Json> = terms.iter().flat_map(requirements).collect();
    let keys: BTreeSet<&str> = all.iter().filter_map(|r| r["key"].as_str()).collect();
    let only_labels = terms.iter().all(|t| t["matchFields"].is_null());
    (keys.len() == all.len() && only_labels).then(|| json!({"matchExpressions": all}))
}

fn no_affinity(cx: &Context<'_>, pod: &PodTemplate, reach: &[&str]) -> Option<Finding> {
    if pod.preferred().is_some() || pod.images().is_empty() || is_kept_by_subscription(cx, pod, reach) {
        return None;
    }
    let coverage = cx.image_coverage(pod);
    let severity = match &coverage {
        ImageCoverage::Part(_) => Severity::Error,
        // Affinity doesn't help here; see bundle-image-missing-arch.
        ImageCoverage::Nothing => return None,
        _ if !pod.in_bundle => return None,
        ImageCoverage::Unknown if reach.len() > 1 => Severity::Warning,
        ImageCoverage::Unknown | ImageCoverage::All => Severity::Info,
    };
    let support = cx.supported_architectures(pod);
    let choice = matches!(coverage, ImageCoverage::Part(_)) || reach.len() > 1;
    let message = match &coverage {
        ImageCoverage::Part(missing) => {
            format!("{} may be scheduled on {}, which its images don't support", pod.called, and(missing))
        }
        _ => format!("{} requires no architecture of its nodes", pod.called),
    };
    let mut finding = cx
        .finding(message)
        .severity(severity)
        .at(pod.place())
        .label(if choice {
            format!("lets the scheduler choose among {}", and(reach))
        } else {
            "any node will do".to_owned()
        })
        .help("require the architectures that its images are built for");
    if let ImageCoverage::Part(missing) = &coverage {
        if let Some(support) = &support {
            finding = with_image(finding, pod, support, missing);
        }
        finding = with_nodes(finding, cx, missing);
    }
    Some(finding.fixes(requiring(pod, support)))
}
