//! From a CustomResourceDefinition version's JSON to the indexed tree.

use serde_json::{Map, Value};

use super::pattern::Pattern;
use super::rule::Rule;
use super::{Additional, Format, Limits, List, Node, NodeId, Schema, Types};

/// Why a schema can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The text is not JSON.
    #[error("the schema is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A part that every schema has is missing or of another type.
    #[error("the schema has no {0}")]
    Missing(&'static str),
}

impl Schema {
    /// Reads one version of a CRD: `group`, `version`, `kind` and `openAPIV3Schema`.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let file: Value = serde_json::from_str(text)?;
        let word = |key: &'static str| {
            let found = file.get(key).and_then(Value::as_str);
            found.map(str::to_owned).ok_or(SchemaError::Missing(key))
        };
        let root = file.get("openAPIV3Schema").and_then(Value::as_object);
        let mut reader = Reader::default();
        reader.node(
            root.ok_or(SchemaError::Missing("openAPIV3Schema"))?,
            &mut String::new(),
        );
        Ok(Self {
            group: word("group")?,
            version: word("version")?,
            kind: word("kind")?,
            nodes: reader.nodes,
            unsupported: reader.unsupported,
        })
    }
}

#[derive(Default)]
struct Reader {
    nodes: Vec<Node>,
    unsupported: Vec<String>,
}

impl Reader {
    /// Adds the node and everything below it; `at` is the dotted path, for messages only.
    fn node(&mut self, raw: &Map<String, Value>, at: &mut String) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a schema has few nodes"));
        self.nodes.push(Node::default());
        let mut node = Node::default();
        let mut limits = Limits::default();
        for (keyword, value) in raw {
            if !self.keyword(&mut node, &mut limits, keyword, value, at) {
                self.unsupported
                    .push(format!("{at}: the keyword {keyword} is not known"));
            }
        }
        if node.int_or_string {
            node.types = Types::INT_OR_STRING;
        }
        if let List::Map(keys) = &mut node.list {
            *keys = names(raw.get("x-kubernetes-list-map-keys"));
        }
        node.limits = limits.any().then(|| Box::new(limits));
        self.nodes[id.0 as usize] = node;
        id
    }

    /// One keyword; `false` when it is not known.
    fn keyword(
        &mut self,
        node: &mut Node,
        limits: &mut Limits,
        keyword: &str,
        value: &Value,
        at: &mut String,
    ) -> bool {
        match keyword {
            "type" => match types(value) {
                Some(t) => node.types = t,
                None => return false,
            },
            "properties" => {
                let entries = value.as_object().into_iter().flatten();
                let read = entries.map(|(name, v)| (name.as_str().into(), self.child(v, at, name)));
                node.properties = read.collect();
            }
            "additionalProperties" => {
                node.additional = match value {
                    Value::Bool(allowed) => allowed.then_some(Additional::Any),
                    v => Some(Additional::Schema(self.child(v, at, "*"))),
                };
            }
            "items" => node.items = Some(self.child(value, at, "[]")),
            "required" => node.required = names(Some(value)),
            "default" => node.default = Some(value.clone()),
            "nullable" => node.nullable = value == true,
            "description" => node.description = value.as_str().map(Into::into),
            "enum" => limits.allowed = value.as_array().cloned().unwrap_or_default(),
            "pattern" => {
                let text = value.as_str().unwrap_or_default();
                limits.pattern = Pattern::of(text).map(|p| (text.into(), p));
                if limits.pattern.is_none() {
                    self.unsupported
                        .push(format!("{at}: the pattern '{text}' has no function"));
                }
            }
            "format" => {
                limits.format = match value.as_str() {
                    Some("int32") => Some(Format::Int32),
                    Some("int64") => Some(Format::Int64),
                    Some("date-time") => Some(Format::DateTime),
                    _ => return false,
                };
            }
            "minimum" => limits.minimum = value.as_f64(),
            "maximum" => limits.maximum = value.as_f64(),
            "minLength" => limits.min_length = value.as_u64(),
            "maxLength" => limits.max_length = value.as_u64(),
            "minItems" => limits.min_items = value.as_u64(),
            "maxItems" => limits.max_items = value.as_u64(),
            "x-kubernetes-preserve-unknown-fields" => node.preserve_unknown = value == true,
            "x-kubernetes-int-or-string" => node.int_or_string = value == true,
            "x-kubernetes-list-type" => {
                node.list = match value.as_str() {
                    Some("atomic") => List::Atomic,
                    Some("set") => List::Set,
                    Some("map") => List::Map(Box::default()),
                    _ => return false,
                };
            }
            "x-kubernetes-validations" => node.rules = self.rules(value, at),
            // The list type reads the keys; map types matter to server-side apply alone;
            // int-or-string says all that this anyOf does.
            "x-kubernetes-list-map-keys" | "x-kubernetes-map-type" => {}
            "anyOf" => return is_int_or_string(value),
            _ => return false,
        }
        true
    }

    fn child(&mut self, value: &Value, at: &mut String, step: &str) -> NodeId {
        let before = at.len();
        if !at.is_empty() && step != "[]" {
            at.push('.');
        }
        at.push_str(step);
        let empty = Map::new();
        let id = self.node(value.as_object().unwrap_or(&empty), at);
        at.truncate(before);
        id
    }

    fn rules(&mut self, value: &Value, at: &str) -> Box<[Rule]> {
        let mut rules = Vec::new();
        for raw in value.as_array().into_iter().flatten() {
            let text = raw["rule"].as_str().unwrap_or_default();
            match Rule::of(text, raw["message"].as_str()) {
                Some(rule) => rules.push(rule),
                None => self
                    .unsupported
                    .push(format!("{at}: the rule '{text}' has no function")),
            }
            let more = raw.as_object().into_iter().flat_map(Map::keys);
            for key in more.filter(|k| !matches!(k.as_str(), "rule" | "message")) {
                self.unsupported
                    .push(format!("{at}: a rule's {key} is not known"));
            }
        }
        rules.into()
    }
}

impl Limits {
    fn any(&self) -> bool {
        !self.allowed.is_empty()
            || self.pattern.is_some()
            || self.format.is_some()
            || self.minimum.is_some()
            || self.maximum.is_some()
            || self.min_length.is_some()
            || self.max_length.is_some()
            || self.min_items.is_some()
            || self.max_items.is_some()
    }
}

fn types(value: &Value) -> Option<Types> {
    Some(match value.as_str()? {
        "object" => Types::OBJECT,
        "array" => Types::ARRAY,
        "string" => Types::STRING,
        "integer" => Types::INTEGER,
        "number" => Types::NUMBER,
        "boolean" => Types::BOOLEAN,
        _ => return None,
    })
}

fn names(value: Option<&Value>) -> Box<[Box<str>]> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(Into::into).collect()
}

fn is_int_or_string(value: &Value) -> bool {
    *value == serde_json::json!([{"type": "integer"}, {"type": "string"}])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_it_cannot_check() {
        let text = r#"{"group":"g","version":"v1","kind":"K","openAPIV3Schema":{"type":"object",
            "properties":{"a":{"type":"string","pattern":"^x+$","not":{}},
            "b":{"type":"object","x-kubernetes-validations":[{"rule":"self.c == 1","reason":"R"}]}}}}"#;
        let schema = Schema::from_json(text).expect("reads");
        assert_eq!(
            schema.unsupported(),
            [
                "a: the keyword not is not known",
                "a: the pattern '^x+$' has no function",
                "b: the rule 'self.c == 1' has no function",
                "b: a rule's reason is not known",
            ]
        );
    }

    #[test]
    fn says_what_is_missing() {
        let error = Schema::from_json("{}").expect_err("nothing there");
        assert_eq!(error.to_string(), "the schema has no openAPIV3Schema");
        assert!(matches!(Schema::from_json("{"), Err(SchemaError::Json(_))));
    }
}
