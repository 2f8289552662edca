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
    page: r#"
## What it finds

A deployment in a ClusterServiceVersion whose pods require no `kubernetes.io/arch`, neither in the
required node affinity nor in the node selector.

| | |
|---|---|
| error | its images are known not to be there for some of the architectures it may land on |
| warning | the cluster has nodes of several architectures, and it isn't known what its images have |
| information | the images have them all, or it is one architecture: good practice, no more |

Deployments, DaemonSets, StatefulSets, Jobs, CronJobs, ReplicaSets and Pods of the cluster's directory are
found only where it is an error. A pod may land where its node selector and affinity allow it and its
tolerations fit; a control plane that isn't labelled worker counts as tainted. Where the Subscription's
`spec.config` names an architecture, nothing is said. Pods that an operator's program code makes are in no manifest,
and not looked at.

What images have is known from saved output of skopeo and docker, see `dict-architectures-overclaim`.

## Why it matters

The scheduler doesn't look into images. On a node of another architecture, the container ends at once
with `exec format error`, and soon the pod is in `CrashLoopBackOff` or `ImagePullBackOff`.

## Example

An operator's image is there for amd64, and the cluster has arm64 nodes, too:

```yaml
template:
  spec:
    containers: [{name: manager, image: "registry.example.com/operator:1"}]
```

> error: the deployment example-operator of the operator example.v1.0.0 may land on arm64, which its
> images aren't there for

## Remedy

```yaml
template:
  spec:
    affinity:
      nodeAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
            - matchExpressions:
                - {key: kubernetes.io/arch, operator: In, values: [amd64]}
                - {key: kubernetes.io/os, operator: In, values: [linux]}
    containers: [{name: manager, image: "registry.example.com/operator:1"}]
```

## Sources

- Operator SDK: supporting multiple architectures, safe scheduling by node affinity
- operator-framework/api: the multiarch validator asks the same of every image that a CSV deploys
- <https://sdk.operatorframework.io/docs/advanced-topics/multi-arch/>
- <https://github.com/operator-framework/api/blob/master/pkg/validation/internal/multiarch.go>
"#,
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
