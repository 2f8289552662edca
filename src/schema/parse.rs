//! From a CustomResourceDefinition version's JSON to the tree, node by node.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use serde_json::Value;

use super::pattern::Pattern;
use super::rule::Rule;
use super::{Additional, Below, Format, Limits, List, Node, Schema, Types, Unread};
use crate::kube::outline::Outline;
use crate::kube::prefixes::Prefixes;

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
    /// Reads one version of a CRD: `group`, `version`, `kind` and `openAPIV3Schema`. What stands
    /// in the last is read when it is asked for.
    ///
    /// # Errors
    /// Text that is not JSON, a part that is missing.
    pub fn from_json(text: impl Into<Cow<'static, str>>) -> Result<Self, SchemaError> {
        Self::new(Outline::of(text.into()).ok_or(SchemaError::Json)?)
    }

    /// [`Self::from_json`] of a text that was looked through.
    pub(crate) fn new(outline: Outline) -> Result<Self, SchemaError> {
        let file = outline.members(&outline.whole()).ok_or(SchemaError::Json)?;
        let part = |key: &'static str| {
            let found = file.iter().find(|(name, _)| name == key);
            found.map(|(_, part)| part).ok_or(SchemaError::Missing(key))
        };
        let word = |key| {
            outline
                .value::<String>(part(key)?)
                .ok_or(SchemaError::Missing(key))
        };
        let root = part("openAPIV3Schema")?.clone();
        Ok(Self {
            group: word("group")?,
            version: word("version")?,
            kind: word("kind")?,
            root: Unread::at(root),
            outline,
        })
    }

    /// What the schema asks for and this module can't check: keywords, patterns, formats and
    /// rules without an implementation, one sentence each. Such a check always passes.
    pub fn unsupported(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_unsupported(self.root(), "", &mut found);
        found
    }

    fn collect_unsupported(&self, node: &Node, at: &str, found: &mut Vec<String>) {
        found.extend(node.unsupported.iter().map(|what| format!("{at}: {what}")));
        let join = |step: &str| match at {
            "" => step.to_owned(),
            at => format!("{at}.{step}"),
        };
        for (name, below) in &node.properties {
            self.collect_unsupported(self.read(below), &join(name), found);
        }
        if let Some(Additional::Schema(below)) = &node.additional {
            self.collect_unsupported(self.read(below), &join("*"), found);
        }
        if let Some(below) = self.items(node) {
            self.collect_unsupported(below, &format!("{at}[]"), found);
        }
    }

    /// The node, read if it wasn't yet.
    pub(super) fn read<'s>(&'s self, unread: &'s Unread) -> &'s Node {
        unread
            .node
            .get_or_init(|| Box::new(Node::read(&self.outline, &unread.text)))
    }

    /// What the schema says about a key of an object.
    pub(super) fn below<'s>(&'s self, node: &'s Node, key: &str) -> Option<Below<'s>> {
        match (node.property(key), &node.additional) {
            (Some(below), _) | (None, Some(Additional::Schema(below))) => {
                Some(Below::Node(self.read(below)))
            }
            (None, Some(Additional::Any)) => Some(Below::Any),
            (None, None) => None,
        }
    }

    /// What the schema says about each element of a list.
    pub(super) fn items<'s>(&'s self, node: &'s Node) -> Option<&'s Node> {
        node.items.as_ref().map(|below| self.read(below))
    }
}

impl Unread {
    fn at(text: Range<u32>) -> Self {
        Self {
            text,
            node: OnceLock::new(),
        }
    }
}

impl Node {
    /// What is no object says nothing.
    fn read(outline: &Outline, part: &Range<u32>) -> Self {
        let mut node = Self::default();
        let mut limits = Limits::default();
        let mut unsupported = Vec::new();
        let members = outline.members(part).unwrap_or_default();
        for (keyword, part) in &members {
            let known = node.keyword(&mut limits, keyword, outline, part, &mut unsupported);
            if known.is_none() {
                unsupported.push(format!("the keyword {keyword} is not known"));
            }
        }
        if node.int_or_string {
            node.types = Types::INT_OR_STRING;
        }
        if let List::Map(keys) = &mut node.list {
            let mut all = members.iter();
            let named = all.find(|(name, _)| name == "x-kubernetes-list-map-keys");
            *keys = named
                .and_then(|(_, part)| outline.value(part))
                .unwrap_or_default();
        }
        node.limits = limits.any().then(|| Box::new(limits));
        node.unsupported = unsupported.into();
        node
    }

    /// One keyword; `None` when it or its value is not known.
    fn keyword(
        &mut self,
        limits: &mut Limits,
        keyword: &str,
        outline: &Outline,
        part: &Range<u32>,
        unsupported: &mut Vec<String>,
    ) -> Option<()> {
        match keyword {
            "type" => self.types = types(outline.text(part))?,
            "properties" => {
                let mut members = outline.members(part)?;
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                let below = members
                    .into_iter()
                    .map(|(n, part)| (n.into(), Unread::at(part)));
                self.properties = below.collect();
                self.prefixes = Prefixes::of(self.properties.iter().map(|(n, _)| &**n));
            }
            "additionalProperties" => {
                self.additional = match outline.text(part) {
                    "true" => Some(Additional::Any),
                    "false" => None,
                    _ => Some(Additional::Schema(Unread::at(part.clone()))),
                };
            }
            "items" => self.items = Some(Unread::at(part.clone())),
            "required" => self.required = outline.value(part)?,
            "default" => self.default = outline.value(part),
            "nullable" => self.nullable = outline.value(part)?,
            "description" => self.description = outline.value(part),
            "enum" => limits.allowed = outline.value(part)?,
            "pattern" => {
                let text: Box<str> = outline.value(part)?;
                match Pattern::of(&text) {
                    Some(pattern) => limits.pattern = Some((text, pattern)),
                    None => unsupported.push(format!("the pattern '{text}' has no function")),
                }
            }
            "format" => {
                limits.format = match outline.text(part) {
                    "\"int32\"" => Some(Format::Int32),
                    "\"int64\"" => Some(Format::Int64),
                    "\"date-time\"" => Some(Format::DateTime),
                    _ => return None,
                };
            }
            "minimum" => limits.minimum = outline.value(part),
            "maximum" => limits.maximum = outline.value(part),
            "minLength" => limits.min_length = outline.value(part),
            "maxLength" => limits.max_length = outline.value(part),
            "minItems" => limits.min_items = outline.value(part),
            "maxItems" => limits.max_items = outline.value(part),
            "x-kubernetes-preserve-unknown-fields" => {
                self.preserve_unknown = outline.value(part)?;
            }
            "x-kubernetes-int-or-string" => self.int_or_string = outline.value(part)?,
            "x-kubernetes-list-type" => {
                self.list = match outline.text(part) {
                    "\"atomic\"" => List::Atomic,
                    "\"set\"" => List::Set,
                    "\"map\"" => List::Map(Box::default()),
                    _ => return None,
                };
            }
            "x-kubernetes-validations" => {
                self.rules = rules(&outline.value::<Vec<Value>>(part)?, unsupported);
            }
            // The list type reads the keys; map types matter to server-side apply alone;
            // int-or-string says all that this anyOf does.
            "x-kubernetes-list-map-keys" | "x-kubernetes-map-type" => {}
            "anyOf" => return is_int_or_string(&outline.value(part)?).then_some(()),
            _ => return None,
        }
        Some(())
    }
}

fn rules(list: &[Value], unsupported: &mut Vec<String>) -> Box<[Rule]> {
    let mut rules = Vec::new();
    for raw in list {
        let text = raw["rule"].as_str().unwrap_or_default();
        match Rule::of(text, raw["message"].as_str()) {
            Some(rule) => rules.push(rule),
            None => unsupported.push(format!("the rule '{text}' has no function")),
        }
        let more = raw.as_object().into_iter().flat_map(|raw| raw.keys());
        for key in more.filter(|k| !matches!(k.as_str(), "rule" | "message")) {
            unsupported.push(format!("a rule's {key} is not known"));
        }
    }
    rules.into()
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

fn types(quoted: &str) -> Option<Types> {
    Some(match quoted {
        "\"object\"" => Types::OBJECT,
        "\"array\"" => Types::ARRAY,
        "\"string\"" => Types::STRING,
        "\"integer\"" => Types::INTEGER,
        "\"number\"" => Types::NUMBER,
        "\"boolean\"" => Types::BOOLEAN,
        _ => return None,
    })
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
                "a: the pattern '^x+$' has no function",
                "a: the keyword not is not known",
                "b: the rule 'self.c == 1' has no function",
                "b: a rule's reason is not known",
            ]
        );
    }

    #[test]
    fn says_what_is_missing() {
        let error = Schema::from_json("{}").expect_err("nothing there");
        assert_eq!(error.to_string(), "the schema has no openAPIV3Schema");
        assert!(matches!(Schema::from_json("{"), Err(SchemaError::Json)));
    }
}
