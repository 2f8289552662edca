//! Whether a document surely keeps one of our JSON Schemas: yes, or not known.
//!
//! Compiling a schema with the library costs more than a whole plan, so that is left for documents
//! in which something may be wrong. Known are the keywords that our schemas have; with any other
//! one the answer is "not known", and the library has the word.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use super::pattern::Pattern;
use crate::kube::prefixes::Prefixes;
use crate::kube::tree;
use crate::yaml::{Node, Value};

/// A schema in the form that documents are held against.
#[derive(Debug)]
pub(super) struct Fits {
    /// The schema itself comes first; the others are parts of it.
    parts: Vec<Part>,
}

/// What a part of a schema asks for, all of it.
type Part = Vec<Check>;

/// Index of a part.
type PartId = usize;

#[derive(Debug)]
enum Check {
    /// Nobody here can tell.
    Unknown,
    Type(Vec<String>),
    OneOf(Vec<Json>),
    Required(Vec<String>),
    Members(Members),
    Items(PartId),
    AllOf(Vec<PartId>),
    AnyOf(Vec<PartId>),
    MinItems(u64),
    Unique,
    MinLength(u64),
    MaxLength(u64),
    Pattern(Pattern),
    Minimum(f64),
    Maximum(f64),
}

/// `properties`, and `additionalProperties` for all others.
#[derive(Debug)]
struct Members {
    /// Sorted by name.
    properties: Vec<(String, PartId)>,
    prefixes: Prefixes,
    additional: Option<PartId>,
}

impl Fits {
    /// Reads a schema.
    pub(super) fn of(schema: &Json) -> Self {
        let mut reader = Reader {
            root: schema,
            parts: Vec::new(),
            referred: HashMap::new(),
        };
        reader.part(schema);
        Self {
            parts: reader.parts,
        }
    }

    /// Whether a document surely keeps the schema. A null in a mapping counts as left out.
    pub(super) fn surely(&self, root: &Node) -> bool {
        self.keeps(0, root)
    }

    fn keeps(&self, part: PartId, node: &Node) -> bool {
        let checks = self.parts.get(part);
        checks.is_some_and(|checks| checks.iter().all(|check| self.passes(check, node)))
    }

    fn passes(&self, check: &Check, node: &Node) -> bool {
        let entries = || {
            let given = node.entries().iter();
            given.filter(|e| !matches!(e.value.value, Value::Null))
        };
        let length = || node.as_str().map(|text| text.chars().count() as u64);
        match check {
            Check::Unknown => false,
            Check::Type(names) => names.iter().any(|name| is_a(node, name)),
            Check::OneOf(values) => values.iter().any(|value| is(node, value)),
            Check::Required(names) => {
                let there = |name: &String| entries().any(|e| e.key.text == *name);
                !matches!(node.value, Value::Map(_)) || names.iter().all(there)
            }
            Check::Members(members) => entries().all(|e| {
                let part = members.of(&e.key.text);
                part.is_none_or(|part| self.keeps(part, &e.value))
            }),
            Check::Items(part) => node.items().iter().all(|item| self.keeps(*part, item)),
            Check::AllOf(parts) => parts.iter().all(|part| self.keeps(*part, node)),
            Check::AnyOf(parts) => parts.iter().any(|part| self.keeps(*part, node)),
            Check::MinItems(least) => {
                !matches!(node.value, Value::Seq(_)) || node.items().len() as u64 >= *least
            }
            Check::Unique => {
                let items: Vec<Json> = node.items().iter().map(Node::to_json).collect();
                let first = |(i, item): (usize, &Json)| !items[..i].contains(item);
                items.iter().enumerate().all(first)
            }
            Check::MinLength(least) => length().is_none_or(|length| length >= *least),
            Check::MaxLength(most) => length().is_none_or(|length| length <= *most),
            Check::Pattern(pattern) => node.as_str().is_none_or(|text| pattern.matches(text)),
            Check::Minimum(least) => number(node).is_none_or(|n| n >= *least),
            Check::Maximum(most) => number(node).is_none_or(|n| n <= *most),
        }
    }
}

impl Members {
    /// What has to hold for a member; `None` where anything does.
    fn of(&self, name: &str) -> Option<PartId> {
        match self.prefixes.find(name, |i| &self.properties[i].0) {
            Some(found) => Some(self.properties[found].1),
            None => self.additional,
        }
    }
}

struct Reader<'s> {
    root: &'s Json,
    parts: Vec<Part>,
    /// Parts that others refer to, perhaps from within themselves.
    referred: HashMap<&'s str, PartId>,
}

impl<'s> Reader<'s> {
    fn part(&mut self, schema: &'s Json) -> PartId {
        let id = self.parts.len();
        self.parts.push(Part::new());
        self.parts[id] = match schema {
            Json::Bool(true) => Part::new(),
            Json::Object(keywords) => self.checks(keywords),
            _ => vec![Check::Unknown],
        };
        id
    }

    fn checks(&mut self, keywords: &'s Map<String, Json>) -> Part {
        // In draft 7, what stands beside a reference says nothing.
        if let Some(reference) = keywords.get("$ref") {
            let part = reference.as_str().and_then(|name| self.refer(name));
            return vec![part.map_or(Check::Unknown, |part| Check::AllOf(vec![part]))];
        }
        let mut out = Part::new();
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$schema" | "$id" | "title" | "description" | "examples" | "default"
                | "definitions" => {}
                "properties" | "additionalProperties" => {}
                _ => out.push(self.check(keyword, value).unwrap_or(Check::Unknown)),
            }
        }
        let additional = keywords.get("additionalProperties");
        let properties = keywords.get("properties").and_then(Json::as_object);
        if properties.is_some() || additional.is_some() {
            let properties = properties.into_iter().flatten();
            let mut properties: Vec<_> = properties
                .map(|(name, schema)| (name.clone(), self.part(schema)))
                .collect();
            properties.sort();
            out.push(Check::Members(Members {
                prefixes: Prefixes::of(properties.iter().map(|(name, _)| name.as_str())),
                properties,
                additional: additional.map(|schema| self.part(schema)),
            }));
        }
        out
    }

    fn refer(&mut self, name: &'s str) -> Option<PartId> {
        if let Some(known) = self.referred.get(name) {
            return Some(*known);
        }
        let target = tree::pointed(self.root, name.strip_prefix('#')?)?;
        self.referred.insert(name, self.parts.len());
        Some(self.part(target))
    }

    /// A keyword that stands for itself; `None` where it or its value isn't known.
    fn check(&mut self, keyword: &str, value: &'s Json) -> Option<Check> {
        let words = |value: &Json| -> Option<Vec<String>> {
            let words = value.as_array()?.iter();
            words.map(|word| Some(word.as_str()?.to_owned())).collect()
        };
        Some(match keyword {
            "type" => Check::Type(match value {
                Json::String(name) => vec![name.clone()],
                names => words(names)?,
            }),
            "const" => Check::OneOf(vec![value.clone()]),
            "enum" => Check::OneOf(value.as_array()?.clone()),
            "required" => Check::Required(words(value)?),
            "items" => Check::Items(self.part(value)),
            "allOf" => Check::AllOf(self.all(value)?),
            "anyOf" => Check::AnyOf(self.all(value)?),
            "minItems" => Check::MinItems(value.as_u64()?),
            "uniqueItems" if *value == true => Check::Unique,
            "minLength" => Check::MinLength(value.as_u64()?),
            "maxLength" => Check::MaxLength(value.as_u64()?),
            "pattern" => Check::Pattern(Pattern::of(value.as_str()?)?),
            "minimum" => Check::Minimum(value.as_f64()?),
            "maximum" => Check::Maximum(value.as_f64()?),
            _ => return None,
        })
    }

    fn all(&mut self, schemas: &'s Json) -> Option<Vec<PartId>> {
        let schemas = schemas.as_array()?.iter();
        Some(schemas.map(|schema| self.part(schema)).collect())
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
            let quick = Fits::of(&schema);
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
                let fits = quick.surely(&document.root);
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
