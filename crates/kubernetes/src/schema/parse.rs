//! From a CustomResourceDefinition version's JSON to the tree, node by node.

use crate::prelude::*;
use serde::de::DeserializeOwned;

use super::pattern::Pattern;
use super::rule::Rules;
use super::{Additional, Format, Limits, List, Node, Schema, Types};

/// Why a schema can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The text is not a JSON object.
    #[error("the schema is not JSON")]
    Json,
    /// A part that every schema has is missing or of another type.
    #[error("the schema has no {0}")]
    Missing(&'static str),
}

impl Schema {
    /// Reads one version of a CRD: `group`, `version`, `kind` and `openAPIV3Schema`.
    ///
    /// # Errors
    /// Text that is not JSON, a part that is missing.
    pub fn from_json(text: &str) -> Result<Self, SchemaError> {
        let mut file: Map<String, Value> = serde_json::from_str(text).map_err(|_| SchemaError::Json)?;
        let root = file.remove("openAPIV3Schema");
        let root = root.ok_or(SchemaError::Missing("openAPIV3Schema"))?;
        let word = |key| {
            let word = file.get(key).and_then(Value::as_str);
            word.map(str::to_owned).ok_or(SchemaError::Missing(key))
        };
        Ok(Self { group: word("group")?, version: word("version")?, kind: word("kind")?, root: Node::read(root) })
    }

    /// The parts of the schema that this module can't check, one sentence each: keywords, patterns and formats,
    /// which accept any value then, and rules, which reject any value.
    pub fn unsupported(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_unsupported(self.root(), "", &mut found);
        found
    }

    fn collect_unsupported(&self, node: &Node, at: &str, found: &mut Vec<String>) {
        let rules = node.rules.iter().flat_map(Rules::unsupported);
        let unsupported = node.unsupported.iter().cloned().chain(rules);
        let at_field = |what| match at {
            "" => what,
            at => format!("{at}: {what}"),
        };
        found.extend(unsupported.map(at_field));
        let pattern = node.limits.iter().find_map(|limits| limits.pattern.as_ref());
        if let Some(pattern) = pattern.filter(|pattern| !pattern.is_regular()) {
            let text = pattern.text();
            found.push(format!("{at}: the pattern '{text}' isn't a regular expression"));
        }
        let join = |step: &str| match at {
            "" => step.to_owned(),
            at => format!("{at}.{step}"),
        };
        for (name, below) in &node.properties {
            self.collect_unsupported(below, &join(name), found);
        }
        if let Some(Additional::Schema(below)) = &node.additional {
            self.collect_unsupported(below, &join("*"), found);
        }
        if let Some(below) = &node.items {
            self.collect_unsupported(below, &format!("{at}[]"), found);
        }
    }
}

impl Node {
    /// Anything but an object is an empty schema.
    pub(super) fn read(schema: Value) -> Self {
        let mut node = Self::default();
        let mut unsupported = Vec::new();
        let Value::Object(mut keywords) = schema else {
            return node;
        };
        node.rules = Rules::of(&keywords);
        let list_keys = keywords.remove("x-kubernetes-list-map-keys");
        for (keyword, value) in keywords {
            if node.keyword(&keyword, value).is_none() {
                unsupported.push(format!("the keyword {keyword} is not known"));
            }
        }
        if node.int_or_string {
            node.types = Types::INT_OR_STRING;
        }
        if let List::Map(keys) = &mut node.list {
            *keys = list_keys.and_then(read).unwrap_or_default();
        }
        node.unsupported = unsupported.into();
        node
    }

    fn limits(&mut self) -> &mut Limits {
        self.limits.get_or_insert_default()
    }

    /// One keyword; `None` when it or its value is not known.
    fn keyword(&mut self, keyword: &str, value: Value) -> Option<()> {
        match keyword {
            "type" => self.types = Types::named(value.as_str()?)?,
            "properties" => {
                let Value::Object(members) = value else {
                    return None;
                };
                let nodes = members.into_iter();
                let nodes = nodes.map(|(name, schema)| (name.into(), Self::read(schema)));
                self.properties = nodes.collect();
            }
            "additionalProperties" => {
                self.additional = match value {
                    Value::Bool(true) => Some(Additional::Any),
                    Value::Bool(false) => None,
                    schema => Some(Additional::Schema(Box::new(Self::read(schema)))),
                };
            }
            "items" => self.items = Some(Box::new(Self::read(value))),
            "required" => self.required = read(value)?,
            "default" => self.default = Some(value),
            "nullable" => self.nullable = value.as_bool()?,
            "description" => self.description = Some(value.as_str()?.into()),
            "enum" => self.limits().allowed = read(value)?,
            "pattern" => self.limits().pattern = Some(Pattern::new(value.as_str()?)),
            "format" => {
                self.limits().format = Some(Format::named(value.as_str()?)?);
            }
            "minimum" => self.limits().minimum = value.as_f64(),
            "maximum" => self.limits().maximum = value.as_f64(),
            "minLength" => self.limits().min_length = value.as_u64(),
            "maxLength" => self.limits().max_length = value.as_u64(),
            "minItems" => self.limits().min_items = value.as_u64(),
            "maxItems" => self.limits().max_items = value.as_u64(),
            "x-kubernetes-preserve-unknown-fields" => self.preserve_unknown = value.as_bool()?,
            "x-kubernetes-int-or-string" => self.int_or_string = value.as_bool()?,
            "x-kubernetes-list-type" => {
                self.list = match value.as_str()? {
                    "atomic" => List::Atomic,
                    "set" => List::Set,
                    "map" => List::Map(Box::default()),
                    _ => return None,
                };
            }
            "x-kubernetes-map-type" => self.is_atomic = value.as_str()? == "atomic",
            // Int-or-string implies this anyOf; rules were read before.
            "x-kubernetes-validations" => {}
            "anyOf" => return (value == serde_json::json!([{"type": "integer"}, {"type": "string"}])).then_some(()),
            _ => return None,
        }
        Some(())
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_unsupported_keywords() {
        let text = r#"{"group":"g","version":"v1","kind":"K","openAPIV3Schema":{"type":"object",
            "properties":{"a":{"type":"string","pattern":"^x(?=y)$","not":{}},
            "b":{"type":"object","x-kubernetes-validations":[{"rule":"self.c =="}]}}}}"#;
        let schema = Schema::from_json(text).expect("reads");
        let unsupported = schema.unsupported();
        assert_eq!(
            unsupported[..2],
            ["a: the keyword not is not known", "a: the pattern '^x(?=y)$' isn't a regular expression",]
        );
        let rule = "b: failed to compile CEL rule \"self.c ==\": ";
        assert!(unsupported[2].starts_with(rule), "{}", unsupported[2]);
        assert_eq!(unsupported.len(), 3);
    }

    #[test]
    fn lists_unsupported_functions() {
        let rules = [
            "self.all(x, self.exists_one(y, x.name.lowerAscii() == y.name.lowerAscii()))",
            "has(self.a) && size(self.a) > 0 && self.a.matches('^b') && quantity(self.b).isGreaterThan(quantity('1'))",
            "string(self.a) == 'b' || int(self.b) in [1, 2] || type(self.a) == string || self.a.startsWith('c')",
            "url(self.a).getHost() == 'b'",
            "semver(self.a).major() > 1 && self.a.contains('b')",
        ];
        let rules = rules.map(|rule| serde_json::json!({"rule": rule}));
        let schema = serde_json::json!({"group": "g", "version": "v1", "kind": "K",
            "openAPIV3Schema": {"type": "object", "x-kubernetes-validations": rules}});
        let schema = Schema::from_json(&schema.to_string()).expect("reads");
        let unknown = ["type", "getHost", "url", "major", "semver"];
        let unknown = unknown.map(|name| format!("the function {name} of a CEL rule is not known"));
        assert_eq!(schema.unsupported(), unknown);
    }

    #[test]
    fn reports_missing_parts_of_a_schema() {
        let error = Schema::from_json("{}").expect_err("nothing there");
        assert_eq!(error.to_string(), "the schema has no openAPIV3Schema");
        assert!(matches!(Schema::from_json("{"), Err(SchemaError::Json)));
    }
}
