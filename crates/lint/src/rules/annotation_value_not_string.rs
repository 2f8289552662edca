//! A number or a boolean as the value of a label, an annotation or a selector.

use super::prelude::*;
use super::scalar_type_mismatch::refusal_by;

pub(super) static RULE: Rule = Rule {
    name: "annotation-value-not-string",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Refusal(
        "json: cannot unmarshal bool into Go struct field ObjectMeta.annotations of type string",
    ),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "a label, an annotation or a selector has a value that is no string to YAML",
    page: r#"
## What it finds

A value of a label, an annotation, a `matchLabels` or a `nodeSelector` that YAML reads as a boolean
or a number because it stands without quotes. Kubernetes reads YAML 1.1, so `yes`, `no`, `on`, `off`,
`y` and `n` are booleans, too.

## Why it matters

Kubernetes knows strings only in these places. The API server doesn't even get to look at the rest
of the object and refuses it; Argo CD and Flux can't apply it.

## Example

```yaml
metadata:
  annotations:
    deployOVS: true
```

> error: the API server refuses it: json: cannot unmarshal bool into Go struct field
> ObjectMeta.annotations of type string: metadata.annotations.deployOVS is the boolean true, where a
> string is meant

## Remedy

Quote the value:

```yaml
metadata:
  annotations:
    deployOVS: "true"
```

## Sources

- Kubernetes API: `ObjectMeta`, `LabelSelector`
- YAML 1.1: the type of plain scalars
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if let Some(finding) = refusal_by(&RULE, cx, |m| m.in_map) {
        out.explain(Incident::Refusal, finding);
    }
}
