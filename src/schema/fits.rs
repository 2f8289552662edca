//! Whether a document surely keeps one of our JSON Schemas: yes, or not known.
//!
//! Compiling a schema costs more than a whole plan, so that is left for documents in which
//! something may be wrong. Known are the keywords that our schemas have; with any other one the
//! answer is "not known", and the library has the word.

use serde_json::{Map, Value as Json};

use super::pattern::Pattern;
use crate::kube::tree;
use crate::yaml::{Node, Value};

/// Whether a value surely keeps a schema, which is a part of `root`. A null in a mapping counts as
/// left out.
pub(super) fn surely_fits(root: &Json, schema: &Json, node: &Node) -> bool {
    let keywords = match schema {
        Json::Object(keywords) => keywords,
        other => return *other == true,
    };
    // In draft 7, what stands beside a reference says nothing.
    if let Some(reference) = keywords.get("$ref") {
        let pointer = reference.as_str().and_then(|r| r.strip_prefix('#'));
        let target = pointer.and_then(|p| tree::pointed(root, p));
        return target.is_some_and(|target| surely_fits(root, target, node));
    }
    let mut all = keywords.iter();
    all.all(|(keyword, value)| keeps(root, keywords, keyword, value, node))
}

fn keeps(
    root: &Json,
    keywords: &Map<String, Json>,
    keyword: &str,
    value: &Json,
    node: &Node,
) -> bool {
    let fits = |schema: &Json, node: &Node| surely_fits(root, schema, node);
    let entries = || {
        let given = node.entries().iter();
        given.filter(|e| !matches!(e.value.value, Value::Null))
    };
    let text = node.as_str();
    let at_least = |length: usize| value.as_u64().is_some_and(|least| length as u64 >= least);
    let at_most = |length: usize| value.as_u64().is_some_and(|most| length as u64 <= most);
    match keyword {
        "$schema" | "$id" | "title" | "description" | "examples" | "default" | "definitions" => {
            true
        }
        "type" => match value {
            Json::String(name) => is_a(node, name),
            names => list(names)
                .iter()
                .any(|n| n.as_str().is_some_and(|n| is_a(node, n))),
        },
        "const" => is(node, value),
        "enum" => list(value).iter().any(|value| is(node, value)),
        "required" => {
            let mut names = list(value).iter().map(Json::as_str);
            !matches!(node.value, Value::Map(_))
                || names.all(|name| entries().any(|e| Some(e.key.text.as_str()) == name))
        }
        "properties" => entries().all(|e| {
            let schema = value.get(&e.key.text);
            schema.is_none_or(|schema| fits(schema, &e.value))
        }),
        "additionalProperties" => entries().all(|e| {
            let known = keywords.get("properties").and_then(|p| p.get(&e.key.text));
            known.is_some() || fits(value, &e.value)
        }),
        "items" => node.items().iter().all(|item| fits(value, item)),
        "allOf" => list(value).iter().all(|schema| fits(schema, node)),
        "anyOf" => list(value).iter().any(|schema| fits(schema, node)),
        "minItems" => !matches!(node.value, Value::Seq(_)) || at_least(node.items().len()),
        "uniqueItems" => {
            let items: Vec<Json> = node.items().iter().map(Node::to_json).collect();
            let first = |(i, item): (usize, &Json)| !items[..i].contains(item);
            items.iter().enumerate().all(first)
        }
        "minLength" => text.is_none_or(|t| at_least(t.chars().count())),
        "maxLength" => text.is_none_or(|t| at_most(t.chars().count())),
        "pattern" => text.is_none_or(|t| {
            let pattern = value.as_str().and_then(Pattern::of);
            pattern.is_some_and(|p| p.matches(t))
        }),
        "minimum" => number(node).is_none_or(|n| value.as_f64().is_some_and(|least| n >= least)),
        "maximum" => number(node).is_none_or(|n| value.as_f64().is_some_and(|most| n <= most)),
        _ => false,
    }
}

fn is(node: &Node, value: &Json) -> bool {
    match (node.as_str(), value.as_str()) {
        (Some(text), Some(value)) => text == value,
        _ => node.to_json() == *value,
    }
}

fn is_a(node: &Node, name: &str) -> bool {
    match name {
        "object" => matches!(node.value, Value::Map(_)),
        "array" => matches!(node.value, Value::Seq(_)),
        "string" => node.as_str().is_some(),
        "boolean" => matches!(node.value, Value::Bool(_)),
        "integer" => matches!(node.to_json(), Json::Number(n) if n.is_i64() || n.is_u64()),
        _ => false,
    }
}

fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Number(_) => node.to_json().as_f64(),
        _ => None,
    }
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::generate::Dice;
    use crate::source::SourceFile;
    use crate::yaml;
    use serde_json::json;

    /// A schema and a document that uses much of it.
    fn samples() -> [(Json, Json); 3] {
        let schema = |text: &str| serde_json::from_str(text).expect("JSON");
        let taint = json!({"key": "a", "value": "b", "effect": "NoSchedule"});
        [
            (
                schema(include_str!("../../schemas/inventory.schema.json")),
                json!({
                    "apiVersion": "hcoplan.dev/v1alpha1", "kind": "ClusterInventory",
                    "metadata": {"name": "a", "labels": {"b": "c"}},
                    "spec": {
                        "release": "1.17", "platform": "OpenShift", "namespace": "openshift-cnv",
                        "ipFamilies": ["IPv4", "IPv6"], "hostedControlPlane": false,
                        "kubeDescheduler": {"a": 1}, "dataImportSchedule": "42 3/12 * * *",
                        "nodePools": [{"name": "w.1", "count": 3, "architecture": "arm64",
                            "roles": ["worker", "a_b"], "labels": {"x/y": "z"}, "taints": [taint]}],
                        "nodes": [{"name": "gpu-0", "architecture": "amd64", "kvm": true}],
                    },
                }),
            ),
            (
                schema(include_str!("../../schemas/config.schema.json")),
                json!({
                    "clusters": [{"name": "prod/east", "path": "a"}],
                    "rules": {"dict-architectures-overclaim": "off", "upgrade": {"severity": "info"}},
                    "suppress": [{"rules": ["upgrade"], "path": "a/**", "reason": "known"}],
                }),
            ),
            (
                schema(include_str!(
                    "../../schemas/image-architectures.schema.json"
                )),
                json!({
                    "apiVersion": "hcoplan.dev/v1alpha1", "kind": "ImageArchitectures",
                    "images": [{"image": "a:b", "architectures": ["amd64", "s390x"]}],
                }),
            ),
        ]
    }

    /// One value is changed, or a member is taken away or added.
    fn mutate(value: &mut Json, dice: &mut Dice) {
        let strange = [
            json!(null),
            json!(true),
            json!(-1),
            json!(3),
            json!(2.5),
            json!(""),
            json!("a"),
            json!("A b"),
            json!("3"),
            json!([]),
            json!(["a", "a"]),
            json!({}),
            json!({"a": 1}),
        ];
        let other = strange[dice.below(strange.len())].clone();
        match value {
            Json::Object(map) if !map.is_empty() && !dice.one_in(6) => {
                let key = map
                    .keys()
                    .nth(dice.below(map.len()))
                    .cloned()
                    .unwrap_or_default();
                match dice.below(8) {
                    0 => drop(map.remove(&key)),
                    1 => drop(map.insert(format!("{key}x"), other)),
                    _ => mutate(&mut map[&key], dice),
                }
            }
            Json::Array(items) if !items.is_empty() && !dice.one_in(6) => {
                let at = dice.below(items.len());
                match dice.below(6) {
                    0 => drop(items.remove(at)),
                    1 => items.push(items[at].clone()),
                    _ => mutate(&mut items[at], dice),
                }
            }
            other_value => *other_value = other,
        }
    }

    fn without_nulls(value: &Json) -> Json {
        match value {
            Json::Object(map) => {
                let kept = map.iter().filter(|(_, v)| !v.is_null());
                kept.map(|(k, v)| (k.clone(), without_nulls(v))).collect()
            }
            Json::Array(items) => items.iter().map(without_nulls).collect(),
            other => other.clone(),
        }
    }

    #[test]
    fn whatever_surely_fits_is_valid_to_the_library() {
        for (schema, good) in samples() {
            let library = jsonschema::draft7::new(&schema).expect("a schema");
            let mut counts = [[0; 2]; 2];
            for seed in 0..4000 {
                let (mut value, mut dice) = (good.clone(), Dice(seed));
                for _ in 0..dice.below(3) {
                    mutate(&mut value, &mut dice);
                }
                let parsed = yaml::parse(&SourceFile::new("a.json", value.to_string()));
                let Some(document) = parsed.documents.first() else {
                    continue;
                };
                let fits = surely_fits(&schema, &schema, &document.root);
                let valid = library.is_valid(&without_nulls(&value));
                assert!(valid || !fits, "{value}");
                counts[usize::from(fits)][usize::from(valid)] += 1;
            }
            let [[refused, unsure], [_, surely]] = counts;
            assert!(refused > 500 && surely > 500, "{refused} {surely}");
            assert!(
                unsure < surely / 10,
                "{unsure} of {surely} compile the schema for nothing"
            );
        }
    }
}
