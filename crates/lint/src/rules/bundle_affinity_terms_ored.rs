//! An architecture that is one of several alternatives.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::prelude::*;
use crate::ArchitectureScope;

pub(super) static RULE: Rule = Rule {
    name: "bundle-affinity-terms-ored",
    group: Group::Bundle,
    severity: Severity::Error,
    predicts: Prediction::Silent("the architecture isn't required: pods land anywhere"),
    fix: FixKind::Unsafe,
    summary: "the architecture is required in some of the node selector terms, which are alternatives",
    page: r#"
## What it finds

A required node affinity with several `nodeSelectorTerms`, of which some require a `kubernetes.io/arch` and
others don't. (A term without requirements matches no node and doesn't count; neither does it where the
node selector names the architecture.)

Deployments of ClusterServiceVersions are found everywhere, with a warning where all declared nodes are of
one architecture. Other workloads are found where they may land on several.

## Why it matters

Terms are alternatives: a node has to match one of them. What has to hold together belongs into the
`matchExpressions` of one term. With `kubernetes.io/os: linux` in a term of its own, every node matches,
and the architecture says nothing any more.

## Example

In the pods of an operator's deployment:

```yaml
nodeSelectorTerms:
  - matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
  - matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]
```

> error: the architecture that the deployment example-operator of the operator example.v1.0.0
> requires is only one of several alternatives

## Remedy

```yaml
nodeSelectorTerms:
  - matchExpressions:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: kubernetes.io/os, operator: In, values: [linux]}
```

Where alternatives are meant, each of them needs the architecture.

## Sources

- Kubernetes: assigning pods to nodes, node affinity
- Operator SDK: supporting multiple architectures (its example has one term)
- <https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity>
- <https://sdk.operatorframework.io/docs/advanced-topics/multi-arch/>
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for pod in cx.pod_templates() {
        if pod.architecture_scope() != ArchitectureScope::InSomeTerms {
            continue;
        }
        let reach = cx.reachable_architectures(pod);
        let severity = match (pod.in_bundle, reach.len()) {
            (_, 2..) => Severity::Error,
            (true, 0) => Severity::Error,
            (true, 1) => Severity::Warning,
            _ => continue,
        };
        let (path, terms) = pod.terms();
        let terms: Vec<Json> = terms.iter().map(|t| t.to_json()).collect();
        let (closed, open): (Vec<usize>, Vec<usize>) = (0..terms.len())
            .filter(|i| terms.get(*i).is_some_and(|t| requirements(t).next().is_some()))
            .partition(|i| terms.get(*i).is_some_and(names_architecture));
        let (Some(closed), Some(open)) = (closed.first(), open.first()) else {
            continue;
        };
        let message = format!("the architecture that {} requires is only one of several alternatives", pod.called);
        let all: Vec<&str> = reach.into_iter().collect();
        let label = match all.len() {
            0 | 1 => "matches nodes of any architecture".to_owned(),
            _ => format!("matches nodes of {}", and(&all)),
        };
        let finding = Finding::new(&RULE, message)
            .severity(severity)
            .at(pod.document.locate(&path.index(*open)))
            .object(object_of(&pod.document))
            .label(label)
            .help("put what has to hold together into one term: terms are alternatives")
            .related(pod.document.locate(&path.index(*closed)), "the architecture is required here only");
        let fix = merged(&terms).and_then(|term| {
            let set = [Change::Set(path.clone(), json!([term]))];
            unsafe_fix(&pod.document, "make it one term", &set)
        });
        out.report(finding.fixes(fix));
    }
}

fn requirements(term: &Json) -> impl Iterator<Item = &Json> {
    let list = |key: &str| term[key].as_array();
    let lists = [list("matchExpressions"), list("matchFields")].into_iter();
    lists.flatten().flatten()
}

fn names_architecture(term: &Json) -> bool {
    requirements(term).any(|r| {
        let key = r["key"].as_str().unwrap_or_default();
        key == "kubernetes.io/arch" || key == "beta.kubernetes.io/arch"
    })
}

/// All terms in one; `None` where two are about the same label, which makes them alternatives
/// that are meant.
fn merged(terms: &[Json]) -> Option<Json> {
    let all: Vec<&Json> = terms.iter().flat_map(requirements).collect();
    let keys: BTreeSet<&str> = all.iter().filter_map(|r| r["key"].as_str()).collect();
    let only_labels = terms.iter().all(|t| t["matchFields"].is_null());
    (keys.len() == all.len() && only_labels).then(|| json!({"matchExpressions": all}))
}
