//! A jsonpatch annotation that isn't JSON.

use hcoplan_diagnostics::source::SourceFile;
use hcoplan_yaml::{Path, parse};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-invalid-json",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Refusal(
        "invalid jsonPatch in the kubevirt.kubevirt.io/jsonpatch annotation: invalid state detected",
    ),
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "a jsonpatch annotation isn't JSON",
    page: r#"
## What it finds

A jsonpatch annotation whose text isn't JSON: single quotes inside, a comma behind the last element,
a comment, YAML instead of JSON, or nothing at all. The caret is where reading stops.

## Why it matters

HCO's webhook refuses the HyperConverged with the words `invalid state detected`, which say neither
where nor what. Where a release's webhook doesn't get so far (a warning ends validation in 1.16 to
1.18), it is admitted and the operator's reconcile fails instead.

## Example

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: "[{'op': 'add', 'path': '/spec/imagePullPolicy', 'value': 'Always'},]"
```

> error: the annotation kubevirt.kubevirt.io/jsonpatch isn't JSON

## Remedy

Write JSON, in single quotes or in a block so that its double quotes need no escapes:

```yaml
metadata:
  annotations:
    kubevirt.kubevirt.io/jsonpatch: |
      [{"op": "add", "path": "/spec/imagePullPolicy", "value": "Always"}]
```

## Sources

- evanphx/json-patch v5.9.11, `DecodePatch`, which all four releases use
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let Some(failure) = patch.malformed().filter(|f| f.cause == Cause::NotJson) else {
            continue;
        };
        let (message, label) = if patch.text.trim().is_empty() {
            ("is empty", "no JSON at all; [] is an empty patch")
        } else {
            ("isn't JSON", "reading JSON stops here")
        };
        let name = patch.target.name;
        let finding = Finding::new(&RULE, format!("the annotation {name} {message}"))
            .at(cx.patch_place(name, &failure))
            .label(label)
            .help("write a JSON list of operations: double quotes, no comma behind the last element");
        let finding = finding.fixes(as_json(cx, patch));
        explain_patch(cx, out, patch, finding);
    }
}

/// What reads as YAML (single quotes, bare words, a comma behind the last element), as JSON.
fn as_json(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Fix> {
    let file = SourceFile::new(cx.document().file.path(), patch.text);
    let parsed = parse(&file);
    let text = match &parsed.documents[..] {
        [only] if !parsed.problems.iter().any(|p| p.kind.is_fatal()) => only.root.to_json(),
        _ => return None,
    }
    .to_string();
    jsonpatch::decode(&text).ok()?;
    let path = Path::dotted("metadata.annotations").key(patch.target.name);
    let write = Change::Set(path, text.into());
    cx.fix("write it as JSON", Applicability::Suggestion, &[write])
}
