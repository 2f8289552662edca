//! A status in a manifest.

use hcoplan_planner::plan::Plan;
use hcoplan_yaml::edit::Change;
use hcoplan_yaml::{Path, Value};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "status-in-git",
    group: Group::Gitops,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the API server drops the status; the file shows a state of the past"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "the HyperConverged has a status, which only the operator writes",
    page: r#"
## What it finds

A top-level `status` in the manifest of the HyperConverged, usually left over from
`kubectl get -o yaml`. An empty one (`status: {}`), as code generators write it, is for information
only.

## Why it matters

The API server ignores a status that comes with the object: the operator writes it through an
endpoint of its own. The copy in git grows old, and whoever reads it (architectures of the nodes,
conditions, versions) is misled. Tools that compare git with the cluster may report a difference
that never goes away.

On create it isn't even without effect: HCO's webhook derives `evictionStrategy` from the copied
`status.infrastructureHighlyAvailable` before the status is dropped.

## Example

```yaml
kind: HyperConverged
status:
  nodeInfo:
    workloadsArchitectures: [amd64]
```

> warning: the manifest has a status, which only the operator writes

## Remedy

Remove the whole section:

```yaml
kind: HyperConverged
spec: {}
```

## Sources

- Kubernetes: status subresource of custom resources
- HCO's mutating webhook: eviction strategy
- <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#status-subresource>
- HCO `pkg/webhooks/mutator`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(entry) = cx.document().root.entry("status") else {
        return;
    };
    let empty = match &entry.value.value {
        Value::Null => true,
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    let mut finding = Finding::new(&RULE, "the manifest has a status, which only the operator writes")
        .at(cx.document().location(entry.key.span))
        .label(if empty { "dropped by the API server" } else { "a copy of what was once in a cluster" })
        .help("remove the section");
    if empty {
        finding = finding.severity(Severity::Info);
    }
    let removed = [Change::Remove(Path::root().key("status"))];
    if let Some(mut fix) = cx.fix("remove the status", Applicability::Safe, &removed) {
        // A new object comes in with its status, and the webhook takes the eviction strategy from it.
        let objects = |plan: &Plan| {
            let all = plan.objects().map(|o| (o.id.clone(), o.body.clone()));
            all.collect::<Vec<_>>()
        };
        let after = cx.planned_with(&fix);
        if after.is_some_and(|after| objects(&after) != objects(cx.plan_as_new())) {
            fix.applicability = Applicability::Unsafe;
            finding = finding.label("the eviction strategy follows from it when it is new");
        }
        finding = finding.fix(fix);
    }
    out.report(finding);
}
