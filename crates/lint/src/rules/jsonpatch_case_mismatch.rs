//! A field in another case.

use hcoplan_kubernetes::go::TypeStep;
use hcoplan_planner::jsonpatch::Loss;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-case-mismatch",
    group: Group::Jsonpatch,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the operator finds the field, and nobody else does"),
    fix: FixKind::Safe,
    claims: Claim::HasEffect,
    summary: "a jsonpatch operation spells a field in another case",
    page: r#"
## What it finds

A key in a path or a value that is a field of the operand but for upper and lower case: `CPUModel` where
the field is `cpuModel`.

## Why it matters

It works by accident: Go's decoder takes keys in any case. Where HCO renders the field, too, the patched
document has both spellings, and the one that was added last wins. `test`, `replace` and `remove` look
for the exact spelling and don't find the field; schemas and editors don't, either.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/CPUModel", "value": "EPYC"}]'
```

> warning: CPUModel is cpuModel in KubeVirt

## Remedy

Spell it as the API does; `hcoplan fix --write` does where the operand stays the same:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: '[{"op": "add", "path": "/spec/configuration/cpuModel", "value": "EPYC"}]'
```

## Sources

- HCO `controllers/operands`, `ApplyPatchToSpec`; Go's `encoding/json`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let other_case = |l: &&Loss| l.reason == Reason::OtherCase;
        for loss in applied.effect.lost.iter().filter(other_case) {
            let Some((parent, key)) = loss.path.rsplit_once('/') else {
                continue;
            };
            let types = cx.release().go_types();
            let ty = cx.operand_type(applied.patch, parent);
            let Some(TypeStep::Field(name, _)) = ty.map(|ty| types.step(ty, key)) else {
                continue;
            };
            let place = applied.named_location(&loss.path);
            out.report(
                Finding::new(&RULE, format!("{key} is {name} in {}", applied.kind()))
                    .at(place)
                    .label("found by the operator, in any case")
                    .help(format!("write {name}"))
                    .fixes(spelled(cx, &applied, &loss.path, name)),
            );
        }
    }
}

/// The field's own spelling.
fn spelled(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str, name: &str) -> Option<Fix> {
    let (patch, operation) = (applied.patch, applied.operation);
    let span = patch.named_span(operation, pointer)?.range();
    let quoted = patch.text.get(span.clone())?.starts_with('"');
    let range = if quoted { span.start + 1..span.end - 1 } else { span };
    let (text, edits) = patch.edited(&[(range, name.to_owned())])?;
    let result = cx.result_of(patch, &text)?;
    let same = patch.result() == Some(&result);
    Some(Fix {
        title: format!("write {name}"),
        applicability: if same { Applicability::Safe } else { Applicability::Unsafe },
        edits,
    })
}
