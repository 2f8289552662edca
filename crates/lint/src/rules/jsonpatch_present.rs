//! A jsonpatch annotation with operations.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-present",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    summary: "a jsonpatch annotation changes an operand behind the API's back",
    page: r#"
## What it finds

A jsonpatch annotation with at least one operation, on KubeVirt, CDI, NetworkAddonsConfig or SSP. An
empty list counts as no patch; so does text that can't be decoded (`jsonpatch-invalid-json`).

## Why it matters

The operator counts the operations, whatever they do, and fires `UnsupportedHCOModification` for each
annotation; the condition `TaintedConfiguration` becomes `True`. A patch is applied to what the
release renders, so that the next release may render something that it doesn't fit any more.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/vmStateStorageClass", "value": "rook"}]'
```

> info: a jsonpatch annotation changes KubeVirt with 1 operation

## Remedy

Use the HyperConverged's own field where there is one, and drop the operation:

```yaml
spec:
  vmStateStorageClass: rook
```

Where there is none, suppress the finding with the reason why the patch is needed.

## Sources

- Runbook: <https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html>
- HCO's gauge `kubevirt_hco_unsafe_modifications`; the condition `TaintedConfiguration`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // An operator that panics before it counts them reports none.
    if !cx.plan().metrics.contains_key("kubevirt_hco_unsafe_modifications") {
        return;
    }
    for patch in cx.patch_annotations() {
        let count = jsonpatch::count(patch.text);
        if count == 0 {
            continue;
        }
        let operations = if count == 1 { "1 operation" } else { &format!("{count} operations") };
        let kind = patch.target.kind;
        out.report(
            Finding::new(&RULE, format!("a jsonpatch annotation changes {kind} with {operations}"))
                .at(patch.annotation.key_place())
                .label("not supported; the operator reports it")
                .help("use the HyperConverged's own field where there is one"),
        );
    }
}
