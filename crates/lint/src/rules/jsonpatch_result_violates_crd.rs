//! A patched operand that the API server refuses.

use std::collections::BTreeSet;

use hcoplan_kubernetes::schema::Violation;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-result-violates-crd",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent(
        "HCO accepts and renders it, and the API server refuses the operand: the reconcile stops",
    ),
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "the operand that a jsonpatch makes breaks its CustomResourceDefinition",
    page: r#"
## What it finds

An operand that breaks the schema of its CustomResourceDefinition after the patch, and didn't without it:
a value that isn't among those allowed, a pattern, a limit, a field that is missing, an element that is
there twice, a validation rule.

## Why it matters

HCO's webhook renders the operands when a HyperConverged is created, and is content when the patch can
be applied. Then HCO writes the operand, the API server answers with the message that is shown, and the
reconcile stops at this operand, again and again. What HCO would do after it isn't done. When a
HyperConverged is updated, HCO's webhook also tries the change out on the operand, and refuses the
HyperConverged with the same message.

## Example

```yaml
metadata:
  annotations:
    containerizeddataimporter.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/cloneStrategyOverride", "value": "fast"}]'
```

> error: the API server will refuse the CDI: spec.cloneStrategyOverride: Unsupported value: "fast":
> supported values: "copy", "snapshot", "csi-clone"

## Remedy

Write a value that the schema takes:

```yaml
metadata:
  annotations:
    containerizeddataimporter.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/cloneStrategyOverride", "value": "snapshot"}]'
```

## Sources

- The operands' CustomResourceDefinitions, of the versions that each release deploys
- HCO `pkg/webhooks/validator`: the dry run of updates
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let (Some(before), Some(after)) = (patch.rendered(), patch.result()) else {
            continue;
        };
        let Some(schema) = cx.operand_schema(patch) else {
            continue;
        };
        let found = schema.refusals(after);
        if found.is_empty() {
            continue;
        }
        let before = schema.refusals(before);
        let known: BTreeSet<&str> = before.iter().map(|v| v.message.as_str()).collect();
        let new = found.iter().filter(|v| !known.contains(v.message.as_str()));
        for violation in new {
            out.report(finding(cx, patch, violation));
        }
    }
}

fn finding(cx: &Context<'_>, patch: &PatchAnnotation<'_>, violation: &Violation) -> Finding {
    let kind = patch.target.kind;
    let message = format!("the API server will refuse the {kind}: {}", violation.message);
    let pointer = violation.path.to_pointer();
    let applied = cx.changed_by(patch, &pointer);
    let place = match &applied {
        Some(applied) => applied.written_location(&pointer),
        None => patch.annotation.value_place(),
    };
    Finding::new(&RULE, message)
        .at(place)
        .label("not what its CustomResourceDefinition takes")
        .help("write what the schema takes, or drop the operation")
        .fixes(applied.and_then(|a| cx.drop_operation(&a)))
}
