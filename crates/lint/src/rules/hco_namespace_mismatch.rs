//! A HyperConverged outside of the operator's namespace.

use hcoplan_planner::admission::Reason;
use hcoplan_yaml::Path;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "hco-namespace-mismatch",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::Refusal("HyperConverged CR can only be created in the '<namespace>' namespace."),
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "the HyperConverged isn't in the operator's namespace",
    page: r#"
## What it finds

A new HyperConverged whose `metadata.namespace` is another one than the namespace that the operator
runs in. The operator's namespace is the inventory's `spec.namespace`; where the inventory says none, the
HyperConverged's own counts, and a Subscription elsewhere is `cluster-facts-contradict`. A manifest without
a namespace goes to the operator's and is not reported.

## Why it matters

The operator installs a ValidatingAdmissionPolicy that lets a HyperConverged be created in its own
namespace only. The policy looks at creation: an existing object elsewhere could still be edited,
but there can't be one.

## Example

The inventory says nothing of a namespace, so that the operator's is `kubevirt-hyperconverged`:

```yaml
metadata:
  name: kubevirt-hyperconverged
  namespace: openshift-cnv
```

> error: the namespace policy refuses it: ValidatingAdmissionPolicy
> 'hyperconverged-namespace-policy' with binding 'hyperconverged-namespace-policy-binding' denied
> request: HyperConverged CR can only be created in the 'kubevirt-hyperconverged' namespace.

## Remedy

Write the operator's namespace, or leave it out where whatever applies the manifest sets it:

```yaml
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt-hyperconverged
```

Or, where the operator really runs in the namespace that the manifest names, correct the inventory:

```yaml
kind: ClusterInventory
spec:
  namespace: openshift-cnv
```

## Sources

- HCO's ValidatingAdmissionPolicy `hyperconverged-namespace-policy`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(mut finding) = cx.refused(&RULE, |reason| reason == Reason::Namespace) else {
        return;
    };
    let path = Path::dotted("metadata.namespace");
    let namespace = &cx.inventory().namespace;
    finding = finding
        .label(format!("the operator runs in {namespace}"))
        .help(format!("move it to {namespace}, or say in the inventory where the operator runs"));
    let moved = [Change::Set(path, namespace.as_str().into())];
    let title = format!("move it to {namespace}");
    let fix = cx.fix(title, Applicability::Suggestion, &moved);
    finding.fixes.extend(fix);
    out.explain(Incident::Refusal, finding);
}
