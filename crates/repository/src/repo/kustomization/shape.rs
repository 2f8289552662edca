//! The types of a kustomization's fields. Go's JSON decoder takes null for any, and no other type.
//!
//! Source: the structs of kustomize's `api/types`; tried with kustomize 4.5.

use super::entry::are_patch_files;
use super::fold_case;
use crate::prelude::*;
use crate::repo::fields;

/// The type of a field, if it has one of its own.
fn type_of(path: &str) -> Option<&'static str> {
    let path = fold_case(path);
    fields::pairs_of("kustomization.types").find(|(known, _)| *known == path).map(|(_, is)| is)
}

/// The first value of a type that its field doesn't take, and why it doesn't.
pub(super) fn mistyped<'n>(node: &'n Node, path: &str) -> Option<(&'n Node, String)> {
    let is = match &node.value {
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a bool",
        Value::Seq(_) => "a list",
        Value::Map(_) => "a mapping",
        _ => return None,
    };
    if let Some(must) = type_of(path).filter(|must| *must != is) {
        let part = if path.is_empty() { "it".to_owned() } else { format!("its `{}`", path.replace(".*", "")) };
        return Some((node, format!("{part} is {is} instead of {must}")));
    }
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let own = if are_patch_files(path, node) { "~".to_owned() } else { inner("*") };
    let items = node.items().iter().map(|item| (item, own.clone()));
    let are_texts = type_of(&inner("*")) == Some("a text");
    let entries = node.entries().iter().map(|entry| {
        let key = if are_texts { "*" } else { &*entry.key.text };
        (&entry.value, inner(key))
    });
    items.chain(entries).find_map(|(value, path)| mistyped(value, &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_types_that_kustomize_takes() {
        let rejected = |text: &str| {
            let root = hcoplan_yaml::parse(&SourceFile::new("kustomization.yaml", text)).documents.remove(0).root;
            mistyped(&root, "").map(|(_, why)| why)
        };
        for text in [
            "commonLabels: {a: null, b: \"yes\"}",
            "resources: null",
            "patches: [p.yaml]",
            "labels: [{pairs: {a: b}, includeSelectors: true}]",
            "replicas: [{name: a, count: 2}]",
            "metadata: {name: a}",
        ] {
            assert_eq!(rejected(text), None, "{text}");
        }
        for (text, why) in [
            ("- a", "it is a list instead of a mapping"),
            ("Resources: a", "its `Resources` is a text instead of a list"),
            ("resources: [5]", "its `resources` is a number instead of a text"),
            ("resources: [{path: a}]", "its `resources` is a mapping instead of a text"),
            ("namespace: 5", "its `namespace` is a number instead of a text"),
            ("commonLabels: {a: yes}", "its `commonLabels` is a bool instead of a text"),
            ("labels: [{pairs: {a: 5}}]", "its `labels.pairs` is a number instead of a text"),
            ("patches: {path: a}", "its `patches` is a mapping instead of a list"),
            ("Patches: [p.yaml]", "its `Patches` is a text instead of a mapping"),
            ("patches: [p.yaml, {path: a}]", "its `patches` is a text instead of a mapping"),
            ("patchesJson6902: [{path: 5}]", "its `patchesJson6902.path` is a number instead of a text"),
            ("secretGenerator: [{name: a, literals: x}]", "its `secretGenerator.literals` is a text instead of a list"),
            ("replicas: [{name: a, count: \"2\"}]", "its `replicas.count` is a text instead of a number"),
        ] {
            assert_eq!(rejected(text).as_deref(), Some(why), "{text}");
        }
    }
}
