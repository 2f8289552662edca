//! The operator's reconcile ends with an error, and no other rule says why.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "reconcile-fails",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError("the error that the operator logs"),
    summary: "the HyperConverged is accepted, but the operator's reconcile ends with an error",
    page: r#"
## What it finds

A HyperConverged that is admitted although the operator can't render one of its operands. The
message is the operator's. Where another rule knows the cause (`jsonpatch-op-fails`), it reports
the error in place of this one.

## Why it matters

The operator renders its operands one after the other and stops at the first that fails: the ones
before it are updated, it and the ones after it are not. The condition `ReconcileComplete` is
`False`, and `HCOOperatorConditionsUnhealthy` fires in time. Whoever changed the HyperConverged saw
it accepted.

## Example

Release 1.18. On releases 1.16 to 1.18 a warning about a deprecated feature gate ends the webhook's
validation, so that a patch that can't be applied gets in. The rule that knows the cause is switched off:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "replace", "path": "/spec/absent/field", "value": 1}]'
spec:
  featureGates:
    nonRoot: true
```

```yaml
# hcoplan.yaml
lint:
  ignore: [jsonpatch-op-fails]
```

> error: the operator can't render KubeVirt: invalid jsonPatch in the kubevirt.kubevirt.io/jsonpatch
> annotation: replace operation does not apply: doc is missing path: /spec/absent/field: missing
> value

## Remedy

Mend what the message names; the caret shows the annotation where one is at fault.

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]'
```

## Sources

- HCO `controllers/hyperconverged` and `controllers/operands`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if out.is_explained(Incident::ReconcileError) {
        return;
    }
    if let Some(error) = &cx.plan().reconcile_error {
        let patch = error.patch.as_ref();
        let place = patch.map_or_else(|| cx.whole_location(), |p| cx.patch_place(p.0, &p.1));
        let message = format!("the operator can't render {}: {error}", error.operand);
        let finding = Finding::new(&RULE, message)
            .at(place)
            .label(format!("{} and the operands after it are not updated", error.operand));
        out.explain(Incident::ReconcileError, finding);
    }
}
