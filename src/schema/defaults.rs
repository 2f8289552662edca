//! Nulls that may not be, and values that were not given.

use serde_json::Value;

use super::{Below, Node, PrunedField, Schema};

impl Schema {
    /// What the API server does to an object before it validates it, in its order: prunes it,
    /// removes nulls, fills in defaults. What was pruned is returned.
    pub fn prepare(&self, value: &mut Value) -> Vec<PrunedField> {
        let pruned = self.prune(value);
        self.drop_nulls(value);
        self.fill_defaults(value);
        pruned
    }

    /// Removes nulls where null is not allowed and no default would take its place. Nulls in
    /// lists stay: they are refused later.
    pub fn drop_nulls(&self, value: &mut Value) {
        self.drop_nulls_at(value, self.root());
    }

    /// Fills in defaults, outermost first; a null that is not allowed counts as not given.
    pub fn fill_defaults(&self, value: &mut Value) {
        self.fill_defaults_at(value, self.root());
    }

    fn drop_nulls_at(&self, value: &mut Value, node: &Node) {
        match value {
            Value::Object(map) => map.retain(|key, v| match self.below(node, key) {
                Some(Below::Node(below)) => {
                    if v.is_null() {
                        return below.nullable || below.default.is_some();
                    }
                    self.drop_nulls_at(v, below);
                    true
                }
                _ => true,
            }),
            Value::Array(items) => {
                if let Some(below) = self.items(node) {
                    for item in items {
                        self.drop_nulls_at(item, below);
                    }
                }
            }
            _ => {}
        }
    }

    fn fill_defaults_at(&self, value: &mut Value, node: &Node) {
        match value {
            Value::Object(map) => {
                for (name, below) in &node.properties {
                    let below = self.read(below);
                    let Some(default) = &below.default else {
                        continue;
                    };
                    match map.get_mut(&**name) {
                        Some(v) if v.is_null() && !below.nullable => *v = default.clone(),
                        Some(_) => {}
                        None => {
                            map.insert(name.to_string(), default.clone());
                        }
                    }
                }
                for (key, v) in map {
                    if let Some(Below::Node(below)) = self.below(node, key) {
                        self.fill_one(v, below);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(below) = self.items(node) {
                    for item in items {
                        self.fill_one(item, below);
                    }
                }
            }
            _ => {}
        }
    }

    fn fill_one(&self, value: &mut Value, node: &Node) {
        if value.is_null() && !node.nullable {
            *value = node.default.clone().unwrap_or_default();
        }
        self.fill_defaults_at(value, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nulls_and_defaults() {
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
        let schema = Schema::from_json(text.to_string()).expect("a good schema");
        let admitted = |mut v: Value| {
            schema.drop_nulls(&mut v);
            schema.fill_defaults(&mut v);
            v
        };
        assert_eq!(
            admitted(json!({})),
            json!({"spec": {"deep": {"on": true, "may": "x"}}})
        );
        assert_eq!(
            admitted(
                json!({"spec": {"deep": {"on": null, "may": null, "gone": null},
                                     "map": {"a": null, "b": "c"}, "list": [null]}})
            ),
            json!({"spec": {"deep": {"on": true, "may": null}, "map": {"b": "c"}, "list": [null]}})
        );
        assert_eq!(
            admitted(json!({"spec": null})),
            json!({"spec": {"deep": {"on": true, "may": "x"}}})
        );
    }
}
