//! A node affinity that leaves out nodes that the images would run on.

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) static RULE: Rule = Rule {
    name: "bundle-affinity-narrower-than-image",
    group: Group::Bundle,
    severity: Severity::Info,
    confidence: Confidence::Medium,
    predicts: Prediction::Silent("the operator can't use nodes that it would run on"),
    needs: Needs::Nodes,
    fix: FixKind::Suggested,
    summary: "the node affinity leaves out an architecture that nodes and all images have",
    page: r#"
## What it finds

A deployment in a ClusterServiceVersion whose required node affinity or node selector leaves out an
architecture that declared nodes have, that pods could land on otherwise, and that each of its images is
known to be there for.

## Why it matters

The operator has fewer nodes to go to than it could have; where the others are full or gone, it stays
pending. If it runs better on one architecture, a preferred term says so without forbidding the rest. If
it was never tried on it, leave it as it is.

## Example

The cluster has arm64 nodes, and the image of the operator's deployment is there for them:

```yaml
matchExpressions:
  - {key: kubernetes.io/arch, operator: In, values: [amd64]}
```

> info: the node affinity of the deployment example-operator of the operator example.v1.0.0 leaves
> arm64 out, although its images are there for it

## Remedy

```yaml
matchExpressions:
  - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
```

## Sources

- Operator SDK: supporting multiple architectures, required and preferred terms
- operator-framework/api: the multiarch validator warns of it, whatever nodes there are
- <https://sdk.operatorframework.io/docs/advanced-topics/multi-arch/>
- <https://github.com/operator-framework/api/blob/master/pkg/validation/internal/multiarch.go>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates().filter(|p| p.in_bundle) {
        if pod.architecture_scope() != ArchitectureScope::Everywhere {
            continue;
        }
        let Some(support) = cx.supported_architectures(pod).filter(|s| s.is_complete) else {
            continue;
        };
        let open = cx.reachable_when_unrestricted(pod).into_iter();
        let open: Vec<&str> = open.filter(|a| support.architectures.contains(*a) && !pod.permits(a)).collect();
        if open.is_empty() {
            continue;
        }
        let lists = pod.named_architectures();
        let place = match lists.first() {
            Some((path, _)) => pod.document.locate(path),
            None => pod.place(),
        };
        let message = format!(
            "the node affinity of {} leaves {} out, although its images are there for it",
            pod.called,
            and(&open)
        );
        let changes = lists.iter().flat_map(|(path, _)| {
            let is_list = path.0.last() == Some(&Segment::Key("values".into()));
            let add = |a: &&str| Change::Append(path.clone(), (*a).into());
            open.iter().filter(move |_| is_list).map(add).collect::<Vec<_>>()
        });
        let changes: Vec<Change> = changes.collect();
        let title = format!("allow {}, too", and(&open));
        let fix = (!changes.is_empty()).then(|| suggested(&pod.document, title, &changes)).flatten();
        let finding = Finding::new(&RULE, message)
            .at(place)
            .object(object_of(&pod.document))
            .label(format!("forbids {}", and(&open)))
            .help(format!("allow {}, unless it was never tried", and(&open)))
            .fixes(fix);
        out.report(with_nodes(finding, cx, &open));
    }
}
