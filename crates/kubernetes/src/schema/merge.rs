//! Objects by their fields, as server-side apply takes them: which fields a manifest has, what differs between two
//! objects, and the result of merging one into the other.
//!
//! Objects are merged key by key and lists by the schema's list type; what the schema calls atomic is one field. Source:
//! `sigs.k8s.io/structured-merge-diff` (`typed`).

use crate::prelude::*;
use std::sync::LazyLock;

use crate::tree::{elements, members};

use super::field_set::{Entry, FieldSet};
use super::{ChildSchema, List, Node, Schema, Types, server_path};

/// How a value is split into fields.
enum Shape {
    /// Key by key.
    Object,
    /// Element by element, each with its step.
    List,
    /// Not at all.
    Leaf,
}

/// What differs between two objects.
#[derive(Debug, Clone, Default)]
pub struct FieldChanges {
    /// Fields that are new or have another value.
    pub written: FieldSet,
    /// Fields that aren't there any more.
    pub removed: FieldSet,
}

/// Why a manifest can't be applied by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmergeable {
    /// Where.
    pub path: Path,
    /// The API server's words.
    pub message: String,
    /// What is wrong.
    pub mistake: Mistyped,
}

/// What the server can't merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistyped {
    /// The owners of fields, which only the server writes.
    Owners,
    /// A field that the schema doesn't know.
    UnknownField,
    /// A value of another kind.
    WrongType,
    /// An element of a list that has the key of another one, or none.
    Repeated,
}

/// `metadata`, which no CRD describes.
static OBJECT_META: LazyLock<Node> =
    LazyLock::new(|| Node::read(serde_json::from_str(include_str!("object-meta.json")).expect("a test merges it")));

impl Schema {
    /// The fields of a manifest.
    pub fn fields_of(&self, object: &Value) -> FieldSet {
        let mut entry = Entry::default();
        self.at_root().collect(object, &mut entry);
        entry.below
    }

    /// An object with another one merged into it, whose values win.
    #[must_use]
    pub fn merged(&self, object: &Value, over: &Value) -> Value {
        self.at_root().merge(Some(object), Some(over)).unwrap_or_default()
    }

    /// What differs between two objects.
    pub fn changes(&self, before: &Value, after: &Value) -> FieldChanges {
        let (mut written, mut removed) = (Entry::default(), Entry::default());
        self.at_root().compare(Some(before), Some(after), &mut written, &mut removed);
        FieldChanges { written: written.below, removed: removed.below }
    }

    /// An object without some of its fields, and without all that is below them.
    #[must_use]
    pub fn without(&self, object: &Value, fields: &FieldSet) -> Value {
        self.at_root().remove(object, fields)
    }

    /// The fields with those around them that the schema names.
    #[must_use]
    pub fn with_parents(&self, fields: &FieldSet) -> FieldSet {
        self.at_root().with_parents(fields)
    }

    /// Why the server can't apply a manifest: it says who owns fields, or the first field that the schema doesn't know or
    /// that has a value of another kind.
    pub fn unmergeable(&self, object: &Value) -> Option<Unmergeable> {
        if object["metadata"]["managedFields"].is_array() {
            let path = Path::root().key("metadata").key("managedFields");
            let message = "metadata.managedFields must be nil".to_owned();
            return Some(Unmergeable { path, message, mistake: Mistyped::Owners });
        }
        let mistake = self.at_root().mistake(object, &Path::root())?;
        Some(Unmergeable { message: format!("failed to create typed patch object: {}", mistake.message), ..mistake })
    }

    fn at_root(&self) -> At<'_> {
        At { node: Some(self.root()), is_root: true }
    }
}

/// A place in the schema; where it has no schema, the values' own types count.
#[derive(Clone, Copy)]
struct At<'s> {
    node: Option<&'s Node>,
    is_root: bool,
}

impl<'s> At<'s> {
    fn key(self, key: &str) -> Self {
        let node = match self.node.and_then(|node| node.below(key)) {
            _ if self.is_root && key == "metadata" => Some(&*OBJECT_META),
            Some(ChildSchema::Node(node)) => Some(node),
            _ => None,
        };
        At { node, is_root: false }
    }

    fn element(self) -> Self {
        At { node: self.node.and_then(|node| node.items.as_deref()), is_root: false }
    }

    /// Whether the schema names a key.
    fn names(self, key: &str) -> bool {
        self.is_root && key == "metadata" || self.node.is_some_and(|node| node.properties.contains_key(key))
    }

    fn shape(self, value: &Value) -> Shape {
        match (value, self.node) {
            (Value::Object(_), node) if node.is_none_or(|node| !node.is_atomic) => Shape::Object,
            (Value::Array(_), Some(Node { list: List::Set | List::Map(_), .. })) => Shape::List,
            _ => Shape::Leaf,
        }
    }

    /// How two values are compared or merged; as a whole where they can't be split.
    fn shape_of(self, before: Option<&Value>, after: Option<&Value>) -> Shape {
        let full = |value: &&Value| match value {
            Value::Object(map) => !map.is_empty(),
            Value::Array(list) => !list.is_empty(),
            _ => false,
        };
        let is_scalar = |value: &Value| !value.is_null() && !value.is_object() && !value.is_array();
        match [after, before].into_iter().flatten().find(full) {
            Some(value) if ![before, after].into_iter().flatten().any(is_scalar) => self.shape(value),
            _ => Shape::Leaf,
        }
    }

    /// The step of a list's element.
    fn step(self, element: &Value) -> String {
        match self.node.map(|node| &node.list) {
            Some(List::Map(keys)) => {
                let default = |key: &str| self.element().key(key).node.and_then(|node| node.default.as_ref());
                let given = |key: &str| element.get(key).or_else(|| default(key)).cloned();
                let keys: Map<_, _> = keys.iter().filter_map(|key| Some((key.to_string(), given(key)?))).collect();
                let mut sorted: Vec<_> = keys.into_iter().collect();
                sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
                format!("k:{}", Value::Object(sorted.into_iter().collect()))
            }
            _ => format!("v:{element}"),
        }
    }

    fn collect(self, value: &Value, into: &mut Entry) {
        match (self.shape(value), value) {
            (Shape::Object, Value::Object(map)) => {
                for (key, value) in map {
                    let below = into.below.below(format!("f:{key}"));
                    self.key(key).collect(value, below);
                    let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
                    below.is_member |= is_empty || !self.names(key);
                }
            }
            (Shape::List, Value::Array(list)) => {
                for element in list {
                    let below = into.below.below(self.step(element));
                    self.element().collect(element, below);
                    below.is_member = true;
                }
            }
            _ => into.is_member = true,
        }
    }

    fn is_list(self) -> bool {
        self.node.is_some_and(|node| !matches!(node.list, List::Atomic))
    }

    fn merge(self, value: Option<&Value>, over: Option<&Value>) -> Option<Value> {
        let (Some(before), Some(after)) = (value, over) else {
            return over.or(value).cloned();
        };
        match self.shape_of(value, over) {
            Shape::Object => {
                let mut out = Map::new();
                for key in keys(before).chain(keys(after).filter(|key| before.get(*key).is_none())) {
                    if let Some(value) = self.key(key).merge(before.get(key), after.get(key)) {
                        out.insert(key.clone(), value);
                    }
                }
                Some(Value::Object(out))
            }
            Shape::List => Some(self.merge_lists(elements(before).as_slice(), elements(after).as_slice()).into()),
            Shape::Leaf => Some(after.clone()),
        }
    }

    /// The order is that of the list that wins; elements that only the other one has stay where they are.
    fn merge_lists(self, before: &[Value], after: &[Value]) -> Vec<Value> {
        let steps = |list: &[Value]| list.iter().map(|e| self.step(e)).collect::<Vec<_>>();
        let (old, new) = (steps(before), steps(after));
        let merged = |i: usize| {
            let same = old.iter().position(|step| *step == new[i]);
            self.element().merge(same.map(|i| &before[i]), Some(&after[i]))
        };
        let mut out = Vec::new();
        let mut next = 0;
        for (element, step) in before.iter().zip(&old) {
            let Some(place) = new.iter().position(|s| s == step) else {
                out.push(element.clone());
                continue;
            };
            let is_next_of_both = place >= next && !new[next..place].iter().any(|step| old.contains(step));
            if is_next_of_both {
                out.extend((next..=place).filter_map(merged));
                next = place + 1;
            }
        }
        out.extend((next..new.len()).filter_map(merged));
        out
    }

    fn compare(self, before: Option<&Value>, after: Option<&Value>, written: &mut Entry, removed: &mut Entry) {
        match self.shape_of(before, after) {
            Shape::Object => {
                let (before, after) = (before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null));
                for key in keys(before).chain(keys(after).filter(|key| before.get(*key).is_none())) {
                    let step = format!("f:{key}");
                    let (written, removed) = (written.below.below(step.clone()), removed.below.below(step));
                    self.key(key).compare(before.get(key), after.get(key), written, removed);
                }
            }
            Shape::List => {
                let (old, new) = (elements(before).as_slice(), elements(after).as_slice());
                let find = |list: &'_ [Value], step: &str| list.iter().position(|e| self.step(e) == step);
                for element in old.iter().chain(new.iter().filter(|e| find(old, &self.step(e)).is_none())) {
                    let step = self.step(element);
                    let (a, b) = (find(old, &step).map(|i| &old[i]), find(new, &step).map(|i| &new[i]));
                    let (written, removed) = (written.below.below(step.clone()), removed.below.below(step));
                    self.element().compare(a, b, written, removed);
                }
            }
            Shape::Leaf if before.is_some() && after.is_some() => written.is_member = before != after,
            Shape::Leaf => {}
        }
        written.is_member |= before.is_none();
        removed.is_member |= after.is_none();
    }

    fn remove(self, value: &Value, fields: &FieldSet) -> Value {
        let kept = |at: Self, step: String, value: &Value| match fields.0.get(&step) {
            Some(entry) if entry.is_member => None,
            Some(entry) if !entry.below.is_empty() => Some(at.remove(value, &entry.below)),
            _ => Some(value.clone()),
        };
        match (self.shape(value), value) {
            (Shape::Object, Value::Object(map)) => {
                let entries = map.iter();
                let kept = entries.filter_map(|(k, v)| Some((k.clone(), kept(self.key(k), format!("f:{k}"), v)?)));
                Value::Object(kept.collect())
            }
            (Shape::List, Value::Array(list)) => {
                list.iter().filter_map(|e| kept(self.element(), self.step(e), e)).collect()
            }
            _ => value.clone(),
        }
    }

    fn with_parents(self, fields: &FieldSet) -> FieldSet {
        let entries = fields.0.iter().map(|(step, entry)| {
            let name = step.strip_prefix("f:");
            let at = name.map_or_else(|| self.element(), |name| self.key(name));
            let is_named = !entry.below.is_empty() && name.is_some_and(|name| self.names(name));
            (step.clone(), Entry { is_member: entry.is_member || is_named, below: at.with_parents(&entry.below) })
        });
        FieldSet(entries.collect())
    }

    fn mistake(self, value: &Value, path: &Path) -> Option<Unmergeable> {
        let wrong = |expected: &str| {
            let message = format!(".{}: expected {expected}, got {value}", server_path(path));
            Some(Unmergeable { path: path.clone(), message, mistake: Mistyped::WrongType })
        };
        let types = self.node.map(|node| node.types).filter(|types| *types != Types::INT_OR_STRING).unwrap_or_default();
        match value {
            Value::Null => None,
            Value::Object(map) => {
                if !types.is_any() && !types.has(Types::OBJECT) {
                    return wrong(expected(types));
                }
                map.iter().find_map(|(key, value)| {
                    let path = path.key(key);
                    if !self.takes(key) {
                        let message = format!(".{}: field not declared in schema", server_path(&path));
                        return Some(Unmergeable { path, message, mistake: Mistyped::UnknownField });
                    }
                    self.key(key).mistake(value, &path)
                })
            }
            Value::Array(list) => {
                if !types.is_any() && !types.has(Types::ARRAY) {
                    return wrong(expected(types));
                }
                let mut steps = Vec::new();
                list.iter().enumerate().find_map(|(i, element)| {
                    let here = path.index(i);
                    if self.is_list() {
                        let step = self.step(element);
                        let is_odd = element.is_null() || step == "k:{}";
                        if is_odd || steps.contains(&step) {
                            let what = if is_odd { "element without a key" } else { "duplicate entries for key" };
                            let message = format!(".{}: {what}: {element}", server_path(path));
                            return Some(Unmergeable { path: here, message, mistake: Mistyped::Repeated });
                        }
                        steps.push(step);
                    }
                    self.element().mistake(element, &here)
                })
            }
            Value::String(_) if types.is_any() || types.has(Types::STRING) => None,
            Value::Bool(_) if types.is_any() || types.has(Types::BOOLEAN) => None,
            Value::Number(_) if types.is_any() || types.has(Types::INTEGER) || types.has(Types::NUMBER) => None,
            _ => wrong(expected(types)),
        }
    }

    /// Whether an object may have a key: any, where the schema says nothing of its keys.
    fn takes(self, key: &str) -> bool {
        self.names(key)
            || self
                .node
                .is_none_or(|node| node.preserve_unknown || node.below(key).is_some() || node.properties.is_empty())
    }
}

fn expected(types: Types) -> &'static str {
    match types {
        Types::OBJECT => "map",
        Types::ARRAY => "list",
        Types::INTEGER | Types::NUMBER => "numeric (int or float)",
        types => types.name(),
    }
}

fn keys(value: &Value) -> impl Iterator<Item = &String> {
    members(value).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let text = || json!({"type": "string"});
        let text = json!({"group": "g", "version": "v1", "kind": "K", "openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "name": text(), "map": {"type": "object", "additionalProperties": text()},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": text(), "b": text()}},
            "list": {"type": "array", "items": text()},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": text()},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": text(), "v": text(), "w": text()}}}
        }}}}});
        Schema::from_json(&text.to_string()).expect("a good schema")
    }

    fn merged(before: Value, after: Value) -> Value {
        schema().merged(&json!({ "spec": before }), &json!({ "spec": after }))["spec"].clone()
    }

    #[test]
    fn merges_by_the_schemas_list_types() {
        let before = json!({"name": "a", "map": {"x": "1"}, "whole": {"a": "1"}, "list": ["a"], "set": ["a", "b"],
            "keyed": [{"k": "1", "v": "a"}, {"k": "2"}]});
        let after = json!({"map": {"y": "2"}, "whole": {"b": "2"}, "list": ["b"], "set": ["c", "a"],
            "keyed": [{"k": "3"}, {"k": "1", "w": "b"}]});
        assert_eq!(
            merged(before, after),
            json!({"name": "a", "map": {"x": "1", "y": "2"}, "whole": {"b": "2"}, "list": ["b"], "set": ["c", "a", "b"],
                "keyed": [{"k": "3"}, {"k": "1", "v": "a", "w": "b"}, {"k": "2"}]})
        );
    }

    #[test]
    fn null_removes_a_value_but_no_merged_object() {
        let before = json!({"name": "a", "map": {"x": "1"}, "set": ["a"], "list": ["a"]});
        let after = json!({"name": null, "map": null, "set": [], "list": null});
        assert_eq!(merged(before, after), json!({"name": null, "map": {"x": "1"}, "set": ["a"], "list": null}));
    }

    #[test]
    fn lists_the_fields_of_a_manifest() {
        let object = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"map": {}, "whole": {"a": "1"}, "list": [],
            "set": ["x"], "keyed": [{"k": "1", "v": "2"}], "name": null}});
        let fields = json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:map": {}, "f:whole": {}, "f:list": {},
            "f:set": {"v:\"x\"": {}}, "f:keyed": {"k:{\"k\":\"1\"}": {".": {}, "f:k": {}, "f:v": {}}}, "f:name": {}}});
        assert_eq!(schema().fields_of(&object), FieldSet::read(&fields));
        let rest =
            schema().without(&object, &FieldSet::read(&json!({"f:spec": {"f:set": {"v:\"x\"": {}}, "f:whole": {}}})));
        assert_eq!(
            rest["spec"],
            json!({"map": {}, "list": [], "set": [], "keyed": [{"k": "1", "v": "2"}], "name": null})
        );
    }

    #[test]
    fn lists_the_fields_that_differ() {
        let before = json!({"spec": {"name": "a", "map": {"x": "1"}, "set": ["a"]}});
        let after = json!({"spec": {"name": "b", "map": {"x": "1", "y": "2"}, "list": ["a"]}});
        let changes = schema().changes(&before, &after);
        let written = json!({"f:spec": {"f:name": {}, "f:map": {"f:y": {}}, "f:list": {}}});
        assert_eq!(changes.written.without(&FieldSet::default()), FieldSet::read(&written));
        let removed = json!({"f:spec": {"f:set": {".": {}, "v:\"a\"": {}}}});
        assert_eq!(changes.removed.without(&FieldSet::default()), FieldSet::read(&removed));
    }

    #[test]
    fn rejects_what_the_schema_does_not_declare() {
        let said = |spec: Value| schema().unmergeable(&json!({ "spec": spec })).map(|u| (u.mistake, u.message));
        let unknown = "failed to create typed patch object: .spec.nope: field not declared in schema".to_owned();
        assert_eq!(said(json!({"nope": 1})), Some((Mistyped::UnknownField, unknown)));
        let wrong = "failed to create typed patch object: .spec.name: expected string, got 1".to_owned();
        assert_eq!(said(json!({"name": 1})), Some((Mistyped::WrongType, wrong)));
        assert_eq!(said(json!({"set": ["a", "a"]})).map(|(mistake, _)| mistake), Some(Mistyped::Repeated));
        assert_eq!(said(json!({"name": null, "map": {"any": "x"}})), None);
        let owners = |owners: Value| schema().unmergeable(&json!({"metadata": {"managedFields": owners}}));
        assert_eq!(owners(json!([])).map(|u| u.mistake), Some(Mistyped::Owners));
        assert_eq!(owners(Value::Null), None);
    }
}
