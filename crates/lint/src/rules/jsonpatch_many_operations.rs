//! A jsonpatch annotation with more operations than are examined.

use hcoplan_planner::jsonpatch::MOST_EXAMINED;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-many-operations",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent("the rest is applied, and nothing says what it does"),
    needs: Needs::Plan,
    claims: Claim::HasEffect,
    summary: "a jsonpatch annotation has more operations than hcoplan examines one by one",
    page: r#"
## What it finds

A jsonpatch annotation with more than 250 operations.

## Why it matters

The whole patch is applied, and what is rendered is right. But what a single operation does is only
seen by applying it to all that those before it left, which takes the square of their number. So the
other rules about jsonpatch look at the first 250 operations, and what the rest does goes unchecked.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: |
      [
        {"op": "add", "path": "/spec/configuration/developerConfiguration/logVerbosity/virtAPI", "value": 1},
        {"op": "add", "path": "/spec/configuration/developerConfiguration/logVerbosity/virtAPI", "value": 2}
      ]
```

and so on, 251 times.

> error: kubevirt.kubevirt.io/jsonpatch has 251 operations, and rules look at the first 250 only

## Remedy

Use the HyperConverged's own fields, or write one operation where several write parts of one value:

```yaml
spec:
  logVerbosityConfig:
    kubevirt:
      virtAPI: 4
```

## Sources

- HCO `controllers/operands`, `ApplyPatchToSpec`: all operations are applied
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let count = patch.operations().len();
        if let Some(next) = patch.operations().get(MOST_EXAMINED) {
            let message = format!(
                "{} has {count} operations, and rules look at the first {MOST_EXAMINED} only",
                patch.target.name
            );
            out.report(
                Finding::new(&RULE, message)
                    .at(patch.place(next.spans.whole))
                    .label("from here on, nothing is checked")
                    .help("write fewer operations"),
            );
        }
    }
}
