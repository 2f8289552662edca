//! What the API server does to an object before it validates it: it prunes unknown fields, then removes
//! nulls that aren't allowed, then fills in defaults.

use super::{ChildSchema, Node, Schema};
use crate::prelude::*;
use hcoplan_yaml::Trail;

/// A field that the schema does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrunedField {
    /// Where it was.
    pub path: Path,
    /// The fields that the schema knows at its place; empty where it knows none.
    pub siblings: Vec<String>,
}

impl Schema {
    /// What the API server does to an object before it validates it: prunes it, removes nulls,
    /// fills in defaults. The server walks three times. No step affects another one
    /// elsewhere in the object, so that one walk does all three.
    pub fn prepare(&self, value: &mut Value) -> Vec<PrunedField> {
        self.walk(value, Passes::ALL)
    }

    /// Removes fields that the schema does not know and returns them, in the order of the tree.
    /// `apiVersion`, `kind` and `metadata` of the object itself are left alone.
    pub fn prune(&self, value: &mut Value) -> Vec<PrunedField> {
        self.walk(value, Passes::PRUNE)
    }

    /// What the API server does to an object that was converted: prunes it and removes nulls.
    pub fn prepare_converted(&self, value: &mut Value) {
        self.walk(value, Passes { defaults: false, ..Passes::ALL });
    }

    /// Fills in defaults, outermost first; a null that is not allowed counts as not given.
    pub fn fill_defaults(&self, value: &mut Value) {
        self.walk(value, Passes::DEFAULTS);
    }

    fn walk(&self, value: &mut Value, job: Passes) -> Vec<PrunedField> {
        let mut pruned = Vec::new();
        self.walk_at(value, Some(self.root()), Trail::ROOT, job, &mut pruned);
        pruned
    }

    /// `node` is `None` where the schema is unknown.
    fn walk_at(
        &self,
        value: &mut Value,
        node: Option<&Node>,
        at: Trail<'_>,
        job: Passes,
        pruned: &mut Vec<PrunedField>,
    ) {
        match value {
            Value::Object(map) => {
                // Few entries are removed, and `retain` would take twice as long.
                let mut gone = Vec::new();
                for (name, v) in map.iter_mut() {
                    if !self.entry_stays(name, v, node, at, job, pruned) {
                        gone.push(name.clone());
                    }
                }
                for name in &gone {
                    map.remove(name);
                }
                for (name, below, default) in node.iter().flat_map(|n| n.defaulted()) {
                    if job.defaults && !map.contains_key(name) {
                        let mut default = default.clone();
                        self.walk_at(&mut default, Some(below), at, Passes::DEFAULTS, pruned);
                        map.insert(name.to_owned(), default);
                    }
                }
            }
            Value::Array(items) => {
                let preserved = node.is_some_and(|n| n.preserve_unknown && n.items.is_none());
                if preserved {
                    return;
                }
                let below = node.and_then(|n| n.items.as_deref());
                for (i, item) in items.iter_mut().enumerate() {
                    let here = at.index(i);
                    match below {
                        // Nulls in lists stay: they are rejected later.
                        Some(below) => _ = self.stays(item, below, here, job, pruned),
                        None => self.walk_at(item, None, here, job, pruned),
                    }
                }
            }
            _ => {}
        }
    }

    /// Walks below an entry of an object; `false` where it is removed.
    fn entry_stays(
        &self,
        name: &str,
        value: &mut Value,
        node: Option<&Node>,
        at: Trail<'_>,
        job: Passes,
        pruned: &mut Vec<PrunedField>,
    ) -> bool {
        let here = at.key(name);
        let of_every_object = at.is_root() && matches!(name, "apiVersion" | "kind" | "metadata");
        let prune = job.prune && !of_every_object;
        let job = Passes { prune, ..job };
        match node.and_then(|n| n.below(name)) {
            Some(ChildSchema::Node(below)) => self.stays(value, below, here, job, pruned),
            Some(ChildSchema::Any) => {
                self.walk_at(value, None, here, job, pruned);
                true
            }
            None if !job.prune || node.is_some_and(|n| n.preserve_unknown) => true,
            None => {
                pruned
                    .push(PrunedField { path: here.path(), siblings: node.map(Node::field_names).unwrap_or_default() });
                false
            }
        }
    }

    /// Walks below a value that a node describes; `false` for a null that isn't allowed and has no
    /// default.
    fn stays(&self, value: &mut Value, node: &Node, at: Trail<'_>, job: Passes, pruned: &mut Vec<PrunedField>) -> bool {
        if !value.is_null() || node.nullable {
            self.walk_at(value, Some(node), at, job, pruned);
            return true;
        }
        let Some(default) = &node.default else {
            return !job.nulls;
        };
        if job.defaults {
            value.clone_from(default);
            self.walk_at(value, Some(node), at, Passes::DEFAULTS, pruned);
        }
        true
    }
}

/// Which steps the walk does.
#[derive(Debug, Clone, Copy)]
struct Passes {
    prune: bool,
    nulls: bool,
    defaults: bool,
}

impl Passes {
    const ALL: Self = Self { prune: true, nulls: true, defaults: true };
    const PRUNE: Self = Self { prune: true, nulls: false, defaults: false };
    const DEFAULTS: Self = Self { prune: false, nulls: false, defaults: true };
}

impl Node {
    /// The properties that have defaults, with these.
    fn defaulted(&self) -> impl Iterator<Item = (&str, &Self, &Value)> {
        let all = self.properties.iter();
        all.filter_map(|(name, below)| Some((&**name, below, below.default.as_ref()?)))
    }

    fn field_names(&self) -> Vec<String> {
        self.properties.keys().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::generate;
    use super::super::golden::schemas;
    use super::*;

    #[test]
    fn applies_nulls_and_defaults() {
        let text = json!({"group": "g", "version": "v1", "kind": "K", "openAPIV3Schema": {
            "type": "object",
            "properties": {"spec": {"type": "object", "default": {"deep": {}}, "properties": {
                "deep": {"type": "object", "properties": {
                    "on": {"type": "boolean", "default": true},
                    "may": {"type": "string", "nullable": true, "default": "x"},
                    "gone": {"type": "string"}
                }},
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "list": {"type": "array", "items": {"type": "string"}}
            }}}
        }});
        let schema = Schema::from_json(&text.to_string()).expect("a good schema");
        let admitted = |mut v: Value| {
            schema.prepare(&mut v);
            v
        };
        assert_eq!(admitted(json!({})), json!({"spec": {"deep": {"on": true, "may": "x"}}}));
        assert_eq!(
            admitted(json!({"spec": {"deep": {"on": null, "may": null, "gone": null},
                                     "map": {"a": null, "b": "c"}, "list": [null]}})),
            json!({"spec": {"deep": {"on": true, "may": null}, "map": {"b": "c"}, "list": [null]}})
        );
        assert_eq!(admitted(json!({"spec": null})), json!({"spec": {"deep": {"on": true, "may": "x"}}}));
    }

    fn schema() -> Schema {
        let text = json!({"group": "g", "version": "v1", "kind": "K", "openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": {"type": "object", "properties": {
                    "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
                    "map": {"type": "object", "additionalProperties": {"type": "object"}},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                             "properties": {"known": {"type": "object"}}}
                }}
            }
        }});
        Schema::from_json(&text.to_string()).expect("a good schema")
    }

    #[test]
    fn removes_and_returns_unknown_fields() {
        let mut value = json!({
            "apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n", "odd": 1}, "extra": 1,
            "spec": {
                "list": [{"a": "x", "b": 1}],
                "map": {"k": {"v": 1}},
                "free": {"any": {"deep": 1}, "known": {"x": 1}},
                "lost": {"a": {"b": 1}}
            }
        });
        let gone = schema().prune(&mut value);
        let paths: Vec<String> = gone.iter().map(|p| p.path.to_string()).collect();
        assert_eq!(paths, ["extra", "spec.free.known.x", "spec.list[0].b", "spec.lost", "spec.map.k.v"]);
        assert_eq!(gone[2].siblings, ["a"]);
        assert_eq!(
            value,
            json!({
                "apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n", "odd": 1},
                "spec": {"list": [{"a": "x"}], "map": {"k": {}},
                         "free": {"any": {"deep": 1}, "known": {}}}
            })
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_walk_equals_three(seed: u64, odd: bool, choice: usize) {
            let all = schemas(hcoplan_testing::recordings().as_deref());
            let (_, schema) = &all[choice % all.len()];
            let given = generate::object(schema, seed, odd);
            let mut one_by_one = given.clone();
            let pruned = schema.prune(&mut one_by_one);
            let nulls = Passes { nulls: true, prune: false, defaults: false };
            schema.walk(&mut one_by_one, nulls);
            schema.fill_defaults(&mut one_by_one);
            let mut at_once = given;
            prop_assert_eq!(schema.prepare(&mut at_once), pruned);
            prop_assert_eq!(at_once, one_by_one);
        }
    }
}
