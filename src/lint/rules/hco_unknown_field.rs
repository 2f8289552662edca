//! Fields that the CRD doesn't know.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::yaml::Path;

pub(super) static RULE: Rule = Rule {
    name: "hco-unknown-field",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Predicts::Silent(
        "the API server drops the field; a client that asks for strict validation is refused",
    ),
    claims: Claim::NoEffect,
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "the HyperConverged has a field that its API version doesn't know",
    page: r#"
## What it finds

A field that isn't in the CRD's schema for the document's API version and the cluster's release,
wherever it stands. It names the field that was probably meant: another case or spelling, the place
that the other API version has it in, or the level that it belongs to.

## Why it matters

The API server drops what it doesn't know without an error, and what the author wanted doesn't
happen. `kubectl apply` validates strictly and refuses; Argo CD and most other clients don't. So it
also depends on who applies the file whether anybody notices.

## Example

```yaml
spec:
  featureGates:
    disableMdevConfiguration: true
```

## Remedy

Write the name that the schema has:

```yaml
spec:
  featureGates:
    disableMDevConfiguration: true
```

## Sources

- The CRDs of the four releases, `deploy/crds` of HCO
- Kubernetes: field validation, pruning
"#,
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // These have a rule of their own, dict-metadata-misindented.
    let misindented: BTreeSet<_> = cx
        .written_templates()
        .flat_map(|t| t.misplaced_metadata().map(|e| e.key.span))
        .collect();
    // Fields of the other version are one finding of their own.
    let other = cx.other_shape();
    let of_other = |path: &Path| {
        let fields = other.iter().flat_map(|o| &o.fields);
        fields.into_iter().any(|f| path.starts_with(f))
    };
    let pruned = cx.admission().pruned.iter();
    for field in pruned.filter(|f| !of_other(&f.path)) {
        if super::placement_wrong_level::belongs(cx.version(), &field.path).is_some() {
            continue;
        }
        let key = cx.document().root.key_at(&field.path);
        let Some(key) = key.filter(|k| !misindented.contains(&k.span)) else {
            continue;
        };
        let place = cx.document().location(key.span);
        let message = format!("unknown field `{}`", field.path);
        let mut finding = Finding::new(&RULE, message).at(place.clone());
        finding = match meant(cx, &field.path, &key.text, &field.siblings) {
            Some(Meant::Name(name)) => {
                let applicability = match name.eq_ignore_ascii_case(&key.text) {
                    true => Applicability::Safe,
                    false => Applicability::Suggestion,
                };
                let help = format!("did you mean `{name}`?");
                let rename = Fix::edit(format!("rename it to {name}"), applicability, place, name);
                finding
                    .label("dropped by the API server")
                    .help(help)
                    .fix(rename)
            }
            Some(Meant::Place(from, to)) => finding.label("dropped by the API server").help(
                format!("in {} `{from}` belongs at `{to}`", cx.api_version()),
            ),
            None => finding.label("dropped by the API server").help(format!(
                "{} has no such field here; remove it",
                cx.api_version()
            )),
        };
        out.report(finding);
    }
}

/// What the author probably meant.
enum Meant {
    /// This name at the same place.
    Name(String),
    /// The second path instead of the first.
    Place(Path, Path),
}

fn meant(cx: &Context<'_>, path: &Path, name: &str, siblings: &[String]) -> Option<Meant> {
    if let Some(same) = siblings.iter().find(|s| s.eq_ignore_ascii_case(name)) {
        return Some(Meant::Name(same.clone()));
    }
    if let Some((from, to)) = cx.moved(path) {
        return Some(Meant::Place(from, to));
    }
    let near = nearest(name, siblings.iter().map(String::as_str));
    near.map(|n| Meant::Name(n.to_owned()))
}
