//! Unknown fields go, before anything else looks at the object.

use serde_json::Value;

use super::text::At;
use super::{Below, Node, Schema};
use crate::yaml::Path;

/// A field that the schema does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrunedField {
    /// Where it stood.
    pub path: Path,
    /// The fields that the schema knows at its place; empty where it knows none.
    pub siblings: Vec<String>,
}

impl Schema {
    /// Removes what the schema does not know and says what that was, in the order of the tree.
    /// `apiVersion`, `kind` and `metadata` of the object itself are left alone.
    pub fn prune(&self, value: &mut Value) -> Vec<PrunedField> {
        let mut gone = Vec::new();
        self.prune_at(value, Some(self.root()), At::ROOT, &mut gone);
        gone
    }

    fn prune_at(
        &self,
        value: &mut Value,
        node: Option<&Node>,
        at: At<'_>,
        gone: &mut Vec<PrunedField>,
    ) {
        match value {
            Value::Object(map) => map.retain(|name, v| {
                if at.is_root() && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                    return true;
                }
                let here = at.key(name);
                match node.and_then(|n| self.below(n, name)) {
                    Some(Below::Node(below)) => {
                        self.prune_at(v, Some(below), here, gone);
                        true
                    }
                    Some(Below::Any) => {
                        self.prune_at(v, None, here, gone);
                        true
                    }
                    None if node.is_some_and(|n| n.preserve_unknown) => true,
                    None => {
                        gone.push(PrunedField {
                            path: here.path(),
                            siblings: node.map(Node::field_names).unwrap_or_default(),
                        });
                        false
                    }
                }
            }),
            Value::Array(items) => {
                let preserved = node.is_some_and(|n| n.preserve_unknown && n.items.is_none());
                if !preserved {
                    let node = node.and_then(|n| self.items(n));
                    for (i, item) in items.iter_mut().enumerate() {
                        self.prune_at(item, node, at.index(i), gone);
                    }
                }
            }
            _ => {}
        }
    }
}

impl Node {
    fn field_names(&self) -> Vec<String> {
        self.properties.iter().map(|(n, _)| n.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        Schema::from_json(text.to_string()).expect("a good schema")
    }

    #[test]
    fn removes_and_names_what_is_unknown() {
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
        assert_eq!(
            paths,
            [
                "extra",
                "spec.free.known.x",
                "spec.list[0].b",
                "spec.lost",
                "spec.map.k.v"
            ]
        );
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
}
