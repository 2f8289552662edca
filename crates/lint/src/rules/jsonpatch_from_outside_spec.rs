//! A patch that reads outside the operand's spec.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-from-outside-spec",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Silent("the value is copied; a move takes nothing away"),
    needs: Needs::Document,
    claims: Claim::HasEffect,
    summary: "a jsonpatch operation reads outside the operand's spec",
    page: r#"
## What it finds

A `move` or `copy` whose `from` isn't below `/spec/`: a name, a label, something of the status.

## Why it matters

HCO checks where a patch writes, not where it reads, so that this is accepted. What stands there is the
operand before it is created: it has no uid, no resource version, no status worth reading. And a `move`
takes nothing away, because only the spec of the patched object is used.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "copy", "from": "/metadata/namespace", "path": "/spec/configuration/vmStateStorageClass"}]'
```

> info: copy reads /metadata/namespace of KubeVirt, outside its spec

## Remedy

Write the value that is meant:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/vmStateStorageClass", "value": "rook"}]'
```

## Sources

- HCO `controllers/operands`, `ApplyPatchToSpec`; the same in all four releases
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        for operation in patch.operations() {
            let (Some(from), Some(span)) = (&operation.from, operation.spans.from) else {
                continue;
            };
            if from.starts_with("/spec/") {
                continue;
            }
            let op = operation.op.as_str();
            let message = format!("{op} reads {from} of {}, outside its spec", patch.target.kind);
            let label = match operation.op {
                Op::Move => "read, and not taken away",
                _ => "read before the operand is created",
            };
            out.report(
                Finding::new(&RULE, message)
                    .at(patch.place(span))
                    .label(label)
                    .help("write the value that is meant with add"),
            );
        }
    }
}
