//! Client-side `kubectl apply` of a manifest to a live object.
//!
//! kubectl reads the live object in the manifest's version and patches it: removes what the last applied manifest (in
//! the annotation) has and the new one lacks, and sets the new manifest's values: objects by key, lists and scalars as
//! a whole. The annotation is part of the applied manifest. Source: apimachinery `jsonmergepatch`, kubectl `apply`.

use crate::prelude::*;
use crate::release::merge_patch;
use hcoplan_kubernetes::tree::get;

/// The annotation with the last applied manifest, as JSON.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The live object with the manifest applied, as sent to the API server.
pub(super) fn applied(live: &Value, manifest: &Value, namespace: &str) -> Value {
    let before = last_applied(live);
    let modified = annotated(manifest, namespace, before.as_ref());
    let original = match before {
        Some((_, manifest)) => manifest,
        None => json!({}),
    };
    let mut patch = only(&merge_patch(&original, &modified), Part::Removals);
    merge(&mut patch, &only(&merge_patch(live, &modified), Part::Values));
    let mut out = live.clone();
    json_patch::merge(&mut out, &patch);
    out
}

/// The annotation's text and the manifest in it.
pub(super) fn last_applied(object: &Value) -> Option<(String, Value)> {
    let annotations = get(object, "metadata.annotations")?;
    let text = annotations.get(LAST_APPLIED)?.as_str()?;
    Some((text.to_owned(), serde_json::from_str(text).ok()?))
}

/// The manifest with itself in the annotation. kubectl adds annotations and a namespace to every manifest. An unchanged
/// manifest keeps the text.
pub(super) fn annotated(manifest: &Value, namespace: &str, before: Option<&(String, Value)>) -> Value {
    let mut out = manifest.clone();
    let Some(object) = out.as_object_mut() else {
        return out;
    };
    let metadata = object_at(object, "metadata");
    let given = metadata.get("namespace").and_then(Value::as_str);
    if given.is_none_or(str::is_empty) {
        metadata.insert("namespace".to_owned(), namespace.into());
    }
    object_at(metadata, "annotations").remove(LAST_APPLIED);
    let text = match before {
        Some((text, before)) if *before == out => text.clone(),
        _ => format!("{out}\n"),
    };
    if let Some(object) = out.as_object_mut() {
        let annotations = object_at(object_at(object, "metadata"), "annotations");
        annotations.insert(LAST_APPLIED.to_owned(), text.into());
    }
    out
}

/// The object at a key, created if missing.
fn object_at<'m>(map: &'m mut Map<String, Value>, key: &str) -> &'m mut Map<String, Value> {
    let value = map.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("it was just made an object"),
    }
}

/// The part of a merge patch to keep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Removals,
    Values,
}

fn only(patch: &Value, part: Part) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut out = Map::new();
    for (key, value) in patch {
        let kept = match value {
            Value::Null => (part == Part::Removals).then_some(Value::Null),
            Value::Object(map) if !map.is_empty() => {
                let inner = only(value, part);
                let has_any = inner.as_object().is_some_and(|map| !map.is_empty());
                has_any.then_some(inner)
            }
            _ => (part == Part::Values).then(|| value.clone()),
        };
        if let Some(kept) = kept {
            out.insert(key.clone(), kept);
        }
    }
    Value::Object(out)
}

/// Merges one merge patch over another; nulls stay.
fn merge(patch: &mut Value, over: &Value) {
    match (patch, over) {
        (Value::Object(patch), Value::Object(over)) => {
            for (key, value) in over {
                match patch.get_mut(key) {
                    Some(existing @ Value::Object(_)) => merge(existing, value),
                    _ => drop(patch.insert(key.clone(), value.clone())),
                }
            }
        }
        (patch, over) => *patch = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn live(spec: Value, last: &Value) -> Value {
        json!({"metadata": {"name": "a", "uid": "1", "namespace": "n",
            "annotations": {"other": "1", LAST_APPLIED: last.to_string()}}, "spec": spec})
    }

    fn manifest(spec: Value) -> Value {
        json!({"metadata": {"name": "a", "namespace": "n", "annotations": {}}, "spec": spec})
    }

    #[test]
    fn removes_applied_fields_and_keeps_those_of_others() {
        let last = manifest(json!({"a": 1, "b": {"c": 1}, "l": [1, 2]}));
        let live = live(json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2], "e": 3}), &last);
        let now = manifest(json!({"b": {}, "l": [3]}));
        let merged = applied(&live, &now, "n");
        assert_eq!(merged["spec"], json!({"b": {"d": 2}, "l": [3], "e": 3}));
        assert_eq!(merged["metadata"]["annotations"]["other"], "1");
        assert_eq!(merged["metadata"]["uid"], "1");
        let text = merged["metadata"]["annotations"][LAST_APPLIED].as_str();
        let text: Value = serde_json::from_str(text.expect("text")).expect("JSON");
        assert_eq!(text, now);
    }

    #[test]
    fn last_applied_manifest_changes_nothing() {
        let last = manifest(json!({"a": {"b": null}}));
        let live = live(json!({"a": {"c": 1}}), &last);
        assert_eq!(applied(&live, &last, "n"), live);
    }

    #[test]
    fn removes_nothing_without_the_annotation() {
        let live = json!({"metadata": {"name": "a"}, "spec": {"a": 1}});
        let merged = applied(&live, &manifest(json!({"b": 1})), "n");
        assert_eq!(merged["spec"], json!({"a": 1, "b": 1}));
    }
}
