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
    page: r#"
## What it finds

A deployment in a ClusterServiceVersion whose required node affinity or node selector names an
architecture that an image of one of its containers, init containers included, is known not to be there
for. Where the inventory has no node of it, it is a warning. Deployments, DaemonSets and other workloads
are found where they may land on such a node.

What images have is known from saved output of skopeo and docker, see `dict-architectures-overclaim`. It
may be old: look at its date first.

## Why it matters

The affinity is the promise that pods only go where their images run. A node of the architecture is as
good as any other to the scheduler, and there the container ends with `exec format error`, or the image
isn't found at all.

## Example

An operator's deployment runs an image that is there for amd64 and arm64, and one for amd64 only:

```yaml
matchExpressions:
  - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64, s390x]}
```

> error: the node affinity of the deployment example-operator of the operator example.v1.0.0 allows
> arm64 and s390x, which its images aren't there for

## Remedy

Name only what every image of the pod is built for, or build the images for the rest:

```yaml
matchExpressions:
  - {key: kubernetes.io/arch, operator: In, values: [amd64]}
```

## Sources

- Operator SDK: supporting multiple architectures (only what the operator supports belongs into the list)
- operator-framework/api: the multiarch validator warns of it
- <https://sdk.operatorframework.io/docs/advanced-topics/multi-arch/>
- <https://github.com/operator-framework/api/blob/master/pkg/validation/internal/multiarch.go>
"#,
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
