//! What the schema says about one path, for explanations and comparisons.

use super::{ChildSchema, List, Node, Schema};
use crate::prelude::*;
use hcoplan_yaml::Segment;

/// How two versions of a list are matched up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListKind<'s> {
    /// As a whole, in order.
    Atomic,
    /// By the elements themselves.
    Set,
    /// By these fields of the elements.
    Map(Vec<&'s str>),
}

/// What the schema says about a field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldInfo<'s> {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean`, `integer,string` for an
    /// int-or-string, empty for anything.
    pub kind: &'static str,
    /// The values that are allowed; empty = no such limit.
    pub allowed: &'s [Value],
    /// The default value.
    pub default: Option<&'s Value>,
    /// The field's documentation, where the schema carries it.
    pub description: Option<&'s str>,
    /// Whether null is allowed.
    pub nullable: bool,
    /// Whether the object around it must have it.
    pub required: bool,
    /// The pattern a string must match.
    pub pattern: Option<&'s str>,
    /// `int32`, `int64` or `date-time`.
    pub format: Option<&'static str>,
    /// The least number that is allowed.
    pub minimum: Option<f64>,
    /// The largest number that is allowed.
    pub maximum: Option<f64>,
}

impl Schema {
    /// What the schema says about the field at a path; `None` where it knows none.
    pub fn field(&self, path: &Path) -> Option<FieldInfo<'_>> {
        let node = self.find(path)?;
        let limits = node.limits.as_deref();
        let required = match path.0.last() {
            Some(Segment::Key(name)) => {
                self.find(&path.parent()).is_some_and(|p| p.required.iter().any(|r| **r == **name))
            }
            _ => false,
        };
        Some(FieldInfo {
            kind: node.types.name(),
            allowed: limits.map_or(&[], |l| &l.allowed),
            default: node.default.as_ref(),
            description: node.description.as_deref(),
            nullable: node.nullable,
            required,
            pattern: limits.and_then(|l| l.pattern.as_ref()).map(super::Pattern::text),
            format: limits.and_then(|l| l.format).map(super::Format::as_str),
            minimum: limits.and_then(|l| l.minimum),
            maximum: limits.and_then(|l| l.maximum),
        })
    }

    /// The default of the field at a path.
    pub fn default_at(&self, path: &Path) -> Option<&Value> {
        self.find(path)?.default.as_ref()
    }

    /// Type and limits of the field at a path, in words.
    pub fn in_words(&self, path: &Path) -> String {
        let Some(field) = self.field(path).filter(|_| !path.0.is_empty()) else {
            return "object".to_owned();
        };
        let mut out = match field.kind {
            "" => "anything".to_owned(),
            kind => kind.replace(',', " or "),
        };
        if let Some(format) = field.format {
            out.push_str(&format!(" ({format})"));
        }
        if self.list_kind(path).is_some()
            && let Some(item) = self.field(&path.index(0))
        {
            out.push_str(&format!(" of {}", item.kind.replace(',', " or ")));
        }
        if self.takes_any_key(path) {
            out.push_str(", any key");
        }
        if field.required {
            out.push_str(", required");
        }
        if field.nullable {
            out.push_str(", may be null");
        }
        if !field.allowed.is_empty() {
            let allowed = field.allowed.iter().map(|value| match value {
                Value::String(text) if !text.is_empty() => text.clone(),
                other => other.to_string(),
            });
            let allowed: Vec<String> = allowed.collect();
            out.push_str(&format!(", one of {}", allowed.join(", ")));
        }
        if let Some(pattern) = field.pattern {
            out.push_str(&format!(", matching {pattern}"));
        }
        out
    }

    /// The fields that the schema knows at a path, sorted; empty for scalars, lists, maps with
    /// free keys and unknown places.
    pub fn known_fields(&self, path: &Path) -> Vec<&str> {
        let properties = self.find(path).map(|n| &n.properties);
        let names = properties.into_iter().flat_map(|p| p.keys());
        names.map(|name| &**name).collect()
    }

    /// How the list at a path is matched up; `None` where the schema knows no list.
    pub fn list_kind(&self, path: &Path) -> Option<ListKind<'_>> {
        let node = self.find(path)?;
        node.types.has(super::Types::ARRAY).then(|| match &node.list {
            List::Atomic => ListKind::Atomic,
            List::Set => ListKind::Set,
            List::Map(keys) => ListKind::Map(keys.iter().map(|k| &**k).collect()),
        })
    }

    /// Whether the object at a path takes keys of the user's choice (labels, selectors).
    pub fn takes_any_key(&self, path: &Path) -> bool {
        self.find(path).is_some_and(|n| n.additional.is_some() || n.preserve_unknown)
    }

    /// Every path that the schema knows, in order, with `[]` as a list's element left out of the path: the list's own
    /// path represents it. Maps with free keys end the walk.
    pub fn all_fields(&self) -> Vec<Path> {
        let mut found = Vec::new();
        self.collect(self.root(), &Path::root(), &mut found);
        found
    }

    fn collect(&self, node: &Node, at: &Path, found: &mut Vec<Path>) {
        if let Some(items) = &node.items {
            self.collect(items, at, found);
        }
        for (name, below) in &node.properties {
            let path = at.key(name);
            found.push(path.clone());
            self.collect(below, &path, found);
        }
    }

    fn find(&self, path: &Path) -> Option<&Node> {
        path.0.iter().try_fold(self.root(), |node, step| match step {
            Segment::Key(key) => match node.below(key)? {
                ChildSchema::Node(below) => Some(below),
                ChildSchema::Any => None,
            },
            Segment::Index(_) => node.items.as_deref(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn looks_up_fields_lists_and_names() {
        let text = include_str!("../../../../testdata/schema/sample.json");
        let schema = Schema::from_json(text).expect("a good schema");
        let strategy = schema.field(&Path::dotted("spec.strategy")).expect("known");
        assert_eq!(strategy.kind, "string");
        assert_eq!(strategy.allowed, [json!("Keep"), json!("Drop")]);
        assert_eq!(strategy.default, Some(&json!("Keep")));
        assert!(strategy.required && !strategy.nullable);
        let size = schema.field(&Path::dotted("spec.size")).expect("known");
        assert_eq!(size.kind, "integer,string");
        assert!(schema.field(&Path::dotted("spec.nope")).is_none());
        assert_eq!(schema.known_fields(&Path::dotted("spec.devices[3]")), ["external", "selector"]);
        assert_eq!(schema.list_kind(&Path::dotted("spec.devices")), Some(ListKind::Map(vec!["selector"])));
        assert_eq!(schema.list_kind(&Path::dotted("spec.models")), Some(ListKind::Set));
        assert_eq!(schema.list_kind(&Path::dotted("spec.labels")), None);
        let label = Path::dotted("spec.labels").key("a.b/c");
        assert_eq!(schema.field(&label).map(|f| f.kind), Some("string"));
        assert!(schema.takes_any_key(&Path::dotted("spec.anything")));
        assert!(schema.all_fields().contains(&Path::dotted("spec.devices.external")));
    }
}
