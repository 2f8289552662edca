//! Finds scalars whose type differs from the schema's.

use super::Context;
use super::prelude::*;
use hcoplan_yaml::{Scalar, Style, Trail, Value, resolve};

use super::last_key;

/// A scalar whose type differs from the schema's.
#[derive(Debug)]
pub struct Mistyped<'a> {
    /// Its path.
    pub path: Path,
    /// The value as written.
    pub node: &'a Node,
    /// The schema's type: `string`, `integer`, `number`, `boolean`.
    pub wanted: &'static str,
    /// Whether it is in a map of strings: a label, an annotation or a selector.
    pub in_map: bool,
}

impl<'a> Context<'a> {
    /// The scalars of the HyperConverged whose type differs from the schema's, in document order. Kinds of numbers
    /// aren't distinguished.
    pub fn mistyped(&self) -> Vec<Mistyped<'a>> {
        let root = self.root();
        let mut found = Vec::new();
        for at in ["metadata.labels", "metadata.annotations"].map(Path::dotted) {
            root.at(&at).into_iter().for_each(|map| string_map(map, &at, &mut found));
        }
        if let (Some(schema), Some(spec)) = (self.schema(), root.get("spec")) {
            let start = Path::dotted("spec");
            spec.walk(&Trail::Start(&start), &mut |at, node| {
                if let Trail::Key(Trail::Key(_, "metadata"), "labels" | "annotations") = at {
                    string_map(node, &at.path(), &mut found);
                    return false;
                }
                if matches!(node.value, Value::Map(_) | Value::Seq(_) | Value::Null) {
                    return true;
                }
                let path = at.path();
                if let Some(field) = schema.field(&path).filter(|field| is_mistyped(node, field.kind)) {
                    let in_map =
                        field.kind == "string" && last_key(&path).is_some() && schema.takes_any_key(&path.parent());
                    found.push(Mistyped { path, node, wanted: field.kind, in_map });
                }
                true
            });
        }
        found.sort_by_key(|m| m.node.span);
        found
    }
}

/// The boolean meant by a text such as `yes`.
pub fn meant_flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" | "enabled" | "enable" => Some(true),
        "false" | "no" | "n" | "off" | "0" | "disabled" | "disable" => Some(false),
        _ => None,
    }
}

fn string_map<'a>(map: &'a Node, at: &Path, found: &mut Vec<Mistyped<'a>>) {
    for entry in map.entries() {
        if is_mistyped(&entry.value, "string") {
            found.push(Mistyped { path: at.key(&entry.key.text), node: &entry.value, wanted: "string", in_map: true });
        }
    }
}

fn is_mistyped(node: &Node, wanted: &str) -> bool {
    matches!(
        (&node.value, wanted),
        (Value::Bool(_) | Value::Number(_), "string")
            | (Value::Bool(_) | Value::String(_), "integer" | "number")
            | (Value::Number(_) | Value::String(_), "boolean")
    )
}

impl Mistyped<'_> {
    /// The value and the expected type: `the number 486, but must be a string`.
    pub fn describe(&self) -> String {
        let article = if self.wanted == "integer" { "an" } else { "a" };
        let kind = match self.node.value {
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            _ => "string",
        };
        let value = self.node.to_json();
        format!("the {kind} {value}, but must be {article} {}", self.wanted)
    }

    /// A fix that adds or removes quotes, if that gives the expected type.
    pub fn fix(&self, cx: &Context<'_>) -> Option<Fix> {
        let place = cx.location(self.node.span);
        let allowed = cx.schema().and_then(|s| s.field(&self.path)).map_or(&[][..], |field| field.allowed);
        if let Value::Bool(on) = self.node.value
            && let Some(word) =
                ["Disabled", "Enabled"].get(usize::from(on)).filter(|w| allowed.iter().any(|a| a == **w))
        {
            return Some(Fix::edit(format!("write {word}"), Applicability::Safe, place, *word));
        }
        let meant = self.node.as_str().filter(|_| self.wanted == "boolean").and_then(meant_flag);
        let text = match (self.wanted, self.node.style) {
            ("boolean", Style::Plain | Style::SingleQuoted | Style::DoubleQuoted) if meant.is_some() => {
                meant.unwrap_or_default().to_string()
            }
            ("string", Style::Plain) => quoted(place.text()),
            ("integer" | "number" | "boolean", Style::SingleQuoted | Style::DoubleQuoted) => {
                let text = self.node.as_str()?;
                let fits = match resolve(text) {
                    Scalar::Bool(_) => self.wanted == "boolean",
                    Scalar::Int(_) | Scalar::Uint(_) => self.wanted != "boolean",
                    Scalar::Float(_) => self.wanted == "number",
                    Scalar::Null | Scalar::NotJson(_) | Scalar::Text => false,
                };
                if !fits {
                    return None;
                }
                text.to_owned()
            }
            _ => return None,
        };
        Some(Fix::edit(format!("write {text}"), Applicability::Safe, place, text))
    }
}

/// A scalar in quotes.
fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}
