//! Validation, with the API server's texts in the API server's order.
//!
//! One walk gathers three lists: what the schema's own keywords reject, what repeats in a list,
//! and what an `x-kubernetes-validations` rule rejects. The server prints them one after the
//! other, and leaves the rules out when the object is too wrong for them.

use super::rule::Rules;
use super::text::{bad_value, go_quote, server_path};
use super::{ChildSchema, List, Node, Schema};
use crate::prelude::*;
use hcoplan_yaml::Trail;

/// Why a value is rejected, as the API server classes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// A field that must be there is missing.
    Required,
    /// Not one of the values that are allowed.
    Unsupported,
    /// Another JSON type, or not in the format.
    WrongType,
    /// More elements than allowed.
    TooMany,
    /// A longer text than allowed.
    TooLong,
    /// Anything else about the value.
    Invalid,
    /// An element that its list has already.
    Duplicate,
    /// A broken `x-kubernetes-validations` rule.
    Rule,
}

impl ViolationKind {
    /// Whether the server leaves the rules out because of it.
    fn blocks_rules(self) -> bool {
        matches!(self, Self::Required | Self::Unsupported | Self::WrongType | Self::TooMany | Self::TooLong)
    }
}

/// One thing that is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where; for a missing field its own place.
    pub path: Path,
    /// Why.
    pub kind: ViolationKind,
    /// The server's words, the path at their head.
    pub message: String,
}

/// Everything that is rejected, in the groups that the server prints in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations {
    /// By the schema's keywords.
    pub schema: Vec<Violation>,
    /// Repeated elements.
    pub lists: Vec<Violation>,
    /// By rules; empty when something in `schema` keeps the server from asking them.
    pub rules: Vec<Violation>,
}

impl Violations {
    /// Whether nothing is rejected.
    pub fn is_empty(&self) -> bool {
        self.schema.is_empty() && self.lists.is_empty() && self.rules.is_empty()
    }

    /// All of them, in the server's order.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.schema.iter().chain(&self.lists).chain(&self.rules)
    }
}

impl Schema {
    /// What the API server rejects in a new object, once it has pruned and defaulted it.
    pub fn rejections(&self, object: &Value) -> Vec<Violation> {
        // An object that is valid as written is valid when prepared, too: validation ignores pruned fields, and
        // defaults are valid. (A property of `properties.rs`.)
        if self.validate(object).is_empty() {
            return Vec::new();
        }
        self.rejections_when_prepared(object)
    }

    pub(super) fn rejections_when_prepared(&self, object: &Value) -> Vec<Violation> {
        let mut object = object.clone();
        self.prepare(&mut object);
        self.validate(&object).iter().cloned().collect()
    }

    /// What the server would reject in a new object.
    pub fn validate(&self, value: &Value) -> Violations {
        self.run(value, None)
    }

    /// What the server would reject in a changed object: a part that is as it was is not looked
    /// at again. Elements of a list belong together when its map keys say so.
    pub fn validate_update(&self, value: &Value, old: &Value) -> Violations {
        let mut found = self.run(value, Some(old));
        if !found.lists.is_empty() && !self.run(old, None).lists.is_empty() {
            found.lists.clear();
        }
        found
    }

    fn run(&self, value: &Value, old: Option<&Value>) -> Violations {
        let mut walk = Validation::default();
        walk.node(self.root(), value, old, Trail::ROOT);
        let Validation { mut found, pending } = walk;
        if !pending.is_empty() && !found.schema.iter().any(|v| v.kind.blocks_rules()) {
            let validator = kube_cel::Validator::new();
            let broken = pending.iter().flat_map(|pending| pending.broken(&validator));
            found.rules = broken.collect();
        }
        found
    }
}

/// Rules that are evaluated last, because other violations may keep the server from evaluating them.
struct PendingRules<'v> {
    rules: &'v Rules,
    value: &'v Value,
    old: Option<&'v Value>,
    path: Path,
}

impl PendingRules<'_> {
    fn broken(&self, validator: &kube_cel::Validator) -> Vec<Violation> {
        let broken = self.rules.broken(validator, self.value, self.old).into_iter();
        let violations = broken.map(|broken| {
            let path = server_path(&self.path);
            Violation {
                path: self.path.clone(),
                kind: ViolationKind::Rule,
                message: format!("{path}{}: {}", broken.field, broken.message),
            }
        });
        violations.collect()
    }
}

#[derive(Default)]
pub(super) struct Validation<'v> {
    pub(super) found: Violations,
    pending: Vec<PendingRules<'v>>,
}

impl<'v> Validation<'v> {
    fn node(&mut self, node: &'v Node, value: &'v Value, old: Option<&'v Value>, at: Trail<'_>) {
        if old.is_some_and(|old| is_unchanged(node, old, value)) {
            return;
        }
        self.value_type(node, value, at);
        if let Some(limits) = node.limits.as_deref() {
            self.scalar(limits, value, at);
        }
        if let Some(rules) = node.rules.as_ref().filter(|_| !value.is_null()) {
            let path = at.path();
            self.pending.push(PendingRules { rules, value, old, path });
        }
        match value {
            Value::Array(items) => self.list(node, items, old, at),
            Value::Object(map) => {
                for (key, v) in map {
                    if let Some(ChildSchema::Node(below)) = node.below(key) {
                        let old = old.and_then(|o| o.get(key.as_str()));
                        self.node(below, v, old, at.key(key));
                    }
                }
                for name in &node.required {
                    if !map.contains_key(&**name) {
                        self.reject(at.key(name), ViolationKind::Required, "Required value");
                    }
                }
            }
            _ => {}
        }
    }

    fn list(&mut self, node: &'v Node, items: &'v [Value], old: Option<&'v Value>, at: Trail<'_>) {
        match node.repeated(items) {
            Ok(repeated) => {
                for (i, value) in repeated {
                    let body = format!("Duplicate value: {}", bad_value(&value));
                    self.found.lists.push(violation(at.index(i), ViolationKind::Duplicate, &body));
                }
            }
            Err(i) => {
                let value = items.get(i).map(bad_value).unwrap_or_default();
                let body = format!("Invalid value: {value}: must be an object for an array of list-type map");
                self.found.lists.push(violation(at.index(i), ViolationKind::Invalid, &body));
            }
        }
        if let Some(below) = &node.items {
            for (i, item) in items.iter().enumerate() {
                let old = old.and_then(|o| same_element(node, o, item));
                self.node(below, item, old, at.index(i));
            }
        }
        if let Some(limits) = node.limits.as_deref() {
            let count = items.len() as u64;
            if let Some(min) = limits.min_items.filter(|min| count < *min) {
                let detail = format!("should have at least {min} items");
                self.reject_value(at, &count.to_string(), &detail);
            }
            if let Some(max) = limits.max_items.filter(|max| count > *max) {
                let items = if max == 1 { "item" } else { "items" };
                let body = format!("Too many: {count}: must have at most {max} {items}");
                self.reject(at, ViolationKind::TooMany, &body);
            }
        }
    }

    pub(super) fn wrong_type(&mut self, at: Trail<'_>, wanted: &str, got: &str) {
        let place = server_path(&at.path());
        let got = go_quote(got);
        let body = format!("Invalid value: {got}: {place} in body must be of type {wanted}: {got}");
        self.reject(at, ViolationKind::WrongType, &body);
    }

    /// `value` as it is printed, `detail` the text after `P in body `.
    pub(super) fn reject_value(&mut self, at: Trail<'_>, value: &str, detail: &str) {
        let place = server_path(&at.path());
        let body = format!("Invalid value: {value}: {place} in body {detail}");
        self.reject(at, ViolationKind::Invalid, &body);
    }

    pub(super) fn reject(&mut self, at: Trail<'_>, kind: ViolationKind, body: &str) {
        self.found.schema.push(violation(at, kind, body));
    }

    /// Where the server names neither the place nor the value.
    pub(super) fn reject_unnamed(&mut self, at: Trail<'_>, text: &str) {
        let message = format!("<nil>: Invalid value: \"\": {text}");
        self.found.schema.push(Violation { path: at.path(), kind: ViolationKind::Invalid, message });
    }
}

fn violation(at: Trail<'_>, kind: ViolationKind, body: &str) -> Violation {
    let path = at.path();
    let place = server_path(&path);
    let message = if place.is_empty() { format!("<nil>: {body}") } else { format!("{place}: {body}") };
    Violation { path, kind, message }
}

/// Whether the server sees that a value is as it was: it compares part by part, as the schema names them, and never
/// knows a part again that has no name. Source: apiserver `cel/common` (`CorrelatedObject`).
fn is_unchanged(node: &Node, old: &Value, new: &Value) -> bool {
    match (old, new, &node.list) {
        (Value::Array(before), Value::Array(items), List::Map(_)) => {
            let is_same = |item| {
                let before = same_element(node, old, item);
                before.zip(node.items.as_deref()).is_some_and(|(before, below)| is_unchanged(below, before, item))
            };
            before.len() == items.len() && items.iter().all(is_same)
        }
        (Value::Object(before), Value::Object(map), _) => {
            let is_same = |(key, value): (&String, &Value)| match (before.get(key), node.below(key)) {
                (Some(before), Some(ChildSchema::Node(below))) => is_unchanged(below, before, value),
                _ => false,
            };
            before.len() == map.len() && map.iter().all(is_same)
        }
        _ => old == new,
    }
}

/// The element of the old list that a new element continues: only map keys can tell.
fn same_element<'o>(node: &Node, old: &'o Value, item: &Value) -> Option<&'o Value> {
    let List::Map(keys) = &node.list else {
        return None;
    };
    let key = |k: &str| item.get(k).filter(|key| key.is_string() || key.is_number() || key.is_boolean());
    old.as_array()?.iter().find(|o| keys.iter().all(|k| key(k).is_some_and(|key| o.get(&**k) == Some(key))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Schema {
        let text = include_str!("../../../../testdata/schema/sample.json");
        Schema::from_json(text).expect("a good schema")
    }

    fn rejected(spec: Value) -> Vec<String> {
        let object = json!({"metadata": {"name": "kubevirt-hyperconverged"}, "spec": spec});
        let found = sample().validate(&object);
        found.iter().map(|v| v.message.clone()).collect()
    }

    #[test]
    fn uses_the_servers_messages() {
        let good = json!({"strategy": "Keep", "size": 1});
        assert_eq!(rejected(good.clone()), [""; 0]);
        let cases = [
            (
                json!({"strategy": null}),
                vec![
                    r#"spec.strategy: Invalid value: "null": spec.strategy in body must be of type string: "null""#,
                    r#"spec.strategy: Unsupported value: null: supported values: "Keep", "Drop""#,
                ],
            ),
            (
                json!({"size": "1 Gi"}),
                vec![
                    r#"spec.size: Invalid value: "1 Gi": spec.size in body should match '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'"#,
                ],
            ),
            (
                json!({"size": true}),
                vec![
                    r#"spec.size: Invalid value: "boolean": spec.size in body must be of type integer,string: "boolean""#,
                    r#"<nil>: Invalid value: "": "spec.size" must validate at least one schema (anyOf)"#,
                    r#"spec.size: Invalid value: "boolean": spec.size in body must be of type integer: "boolean""#,
                ],
            ),
            (
                json!({"size": 1.5}),
                vec![
                    r#"spec.size: Invalid value: "number": spec.size in body must be of type integer,string: "number""#,
                    r#"<nil>: Invalid value: "": "spec.size" must validate at least one schema (anyOf)"#,
                    r#"spec.size: Invalid value: "number": spec.size in body must be of type integer: "number""#,
                    r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size"#,
                ],
            ),
            (
                json!({"ratio": 0}),
                vec!["spec.ratio: Invalid value: 0: spec.ratio in body should be greater than or equal to 1"],
            ),
            (
                json!({"ratio": 11}),
                vec!["spec.ratio: Invalid value: 11: spec.ratio in body should be less than or equal to 10"],
            ),
            (
                json!({"ratio": 1.5}),
                vec![r#"spec.ratio: Invalid value: "float64": spec.ratio in body must be of type int32: "float64""#],
            ),
            (
                json!({"since": "yesterday"}),
                vec![
                    r#"spec.since: Invalid value: "yesterday": spec.since in body must be of type date-time: "yesterday""#,
                ],
            ),
            (json!({"since": null}), vec![]),
            (json!({"since": "2026-02-03T04:05:06.7+01:00"}), vec![]),
            (
                json!({"title": ""}),
                vec![r#"spec.title: Invalid value: "": spec.title in body should be at least 1 chars long"#],
            ),
            (json!({"title": "longer"}), vec!["spec.title: Too long: may not be more than 5 bytes"]),
            (
                json!({"models": ["a", "b", "a", "a"]}),
                vec!["spec.models: Too many: 4: must have at most 3 items", r#"spec.models[2]: Duplicate value: "a""#],
            ),
            (
                json!({"devices": []}),
                vec!["spec.devices: Invalid value: 0: spec.devices in body should have at least 1 items"],
            ),
            (
                json!({"devices": [{"selector": "x"}, {"selector": "x"}, {}]}),
                vec![
                    "spec.devices[2].selector: Required value",
                    r#"spec.devices[1]: Duplicate value: {"selector":"x"}"#,
                ],
            ),
            (
                json!({"labels": {"a.b/c": 1}}),
                vec![
                    r#"spec.labels.a.b/c: Invalid value: "integer": spec.labels.a.b/c in body must be of type string: "integer""#,
                ],
            ),
            (json!({"range": {"rangeEnd": "x"}}), vec!["spec.range: Invalid value: both ends or none"]),
            (
                json!({"range": {"rangeEnd": "x"}, "ratio": 0}),
                vec![
                    "spec.ratio: Invalid value: 0: spec.ratio in body should be greater than or equal to 1",
                    "spec.range: Invalid value: both ends or none",
                ],
            ),
            (
                json!({"range": {"rangeEnd": "x"}, "strategy": "x"}),
                vec![r#"spec.strategy: Unsupported value: "x": supported values: "Keep", "Drop""#],
            ),
        ];
        for (change, expected) in cases {
            let mut spec = good.clone();
            for (key, v) in change.as_object().expect("an object") {
                spec[key] = v.clone();
            }
            assert_eq!(rejected(spec), expected, "{change}");
        }
    }

    #[test]
    fn reports_missing_fields_and_the_name() {
        let messages = |v: &Value| {
            let found = sample().validate(v);
            found.iter().map(|v| v.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            messages(&json!({"metadata": {"name": "x"}})),
            [
                r#"metadata.name: Invalid value: "x": metadata.name in body should match 'kubevirt-hyperconverged'"#,
                "spec: Required value",
            ]
        );
        assert_eq!(
            messages(&json!([])),
            [r#"<nil>: Invalid value: "array":  in body must be of type object: "array""#]
        );
    }

    #[test]
    fn validates_only_changed_parts_on_update() {
        let old = json!({"spec": {"strategy": "x", "size": 1, "devices": [{"selector": "a", "external": 1}]}});
        let mut new = old.clone();
        new["spec"]["title"] = json!("t");
        assert!(sample().validate_update(&new, &old).is_empty());
        new["spec"]["devices"] = json!([{"selector": "b"}, {"selector": "a", "external": 1}]);
        assert!(sample().validate_update(&new, &old).is_empty());
        new["spec"]["strategy"] = json!("y");
        assert_eq!(sample().validate_update(&new, &old).schema.len(), 1);
    }

    #[test]
    fn an_element_without_its_key_is_validated_again() {
        let old = json!({"spec": {"strategy": "x", "size": 1, "devices": [{"external": true}]}});
        let found = sample().validate_update(&old, &old).schema;
        let messages: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(messages, ["spec.devices[0].selector: Required value"]);
        let turned =
            |keys: [&str; 2]| json!({"spec": {"devices": keys.map(|key| json!({"selector": key, "external": 1}))}});
        assert!(sample().validate_update(&turned(["a", "b"]), &turned(["b", "a"])).is_empty());
    }
}
