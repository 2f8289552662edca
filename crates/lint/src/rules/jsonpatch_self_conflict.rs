//! Two operations of a patch that write the same place.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-self-conflict",
    group: Group::Jsonpatch,
    severity: Severity::Warning,
    predicts: Prediction::Silent("what counts depends on the order of the operations"),
    fix: FixKind::Suggested,
    summary: "two operations of one jsonpatch annotation write the same place",
    page: r#"
## What it finds

Two operations of an annotation that write the same path; an operation that writes an object whose
field an earlier one wrote; one that writes a field which an earlier object already gave. An object that
is added so that a later operation can write into it is no conflict, and adding to a list's end (`/-`)
is none.

## Why it matters

The last one wins, except where it doesn't: HCO merges objects, so that an object written over a field
leaves the field alone if it doesn't mention it. Whoever reads the first operation believes a value
that isn't there.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: |
      [
        {"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"},
        {"op": "add", "path": "/spec/imagePullPolicy", "value": "IfNotPresent"}
      ]
```

> warning: /spec/imagePullPolicy of KubeVirt is written twice

## Remedy

Keep one operation for each place:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: |
      [
        {"op": "add", "path": "/spec/imagePullPolicy", "value": "IfNotPresent"}
      ]
```

## Sources

- RFC 6902, section 3; HCO `controllers/operands`, `ApplyPatchToSpec`
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let Some(earlier) = applied.conflict() else {
            continue;
        };
        let patch = applied.patch;
        let first = &patch.operations()[earlier];
        let path = &applied.operation.path;
        let kind = applied.kind();
        let message = if first.path == *path {
            format!("{path} of {kind} is written twice")
        } else if path.starts_with(&first.path) {
            format!("{path} of {kind} is written after {}, which gave it a value", first.path)
        } else {
            format!("{path} of {kind} is written after {}, which lies in it", first.path)
        };
        out.report(
            Finding::new(&RULE, message)
                .at(applied.path_place())
                .label("written again")
                .related(patch.path_place(first), "written here before")
                .help("keep one operation for each place")
                .fixes(without(cx, &applied, earlier)),
        );
    }
}

/// The patch without the earlier operation, where the operand stays the same.
fn without(cx: &Context<'_>, applied: &Applied<'_, '_>, earlier: usize) -> Option<Fix> {
    let patch = applied.patch;
    let range = jsonpatch::removal_range(patch.text, earlier)?;
    let (text, edits) = patch.edited(&[(range, String::new())])?;
    (cx.result_of(patch, &text).as_ref() == patch.result()).then(|| Fix {
        title: format!("remove operation {}", earlier + 1),
        applicability: Applicability::Suggestion,
        edits,
    })
}
