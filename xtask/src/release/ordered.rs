//! JSON that keeps the order of keys, and the layout of a release's files: one line per entry of the second level, so
//! that diffs are readable.

use std::fmt;
use std::fmt::Write;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// JSON that keeps the order of its keys.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    /// A value without children.
    Leaf(Value),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Json {
    pub(super) fn null() -> Self {
        Self::Leaf(Value::Null)
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Leaf(Value::from(text))
    }

    pub(super) fn list<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// The value at a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The value at a dotted path.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |json, key| json.get(key))
    }

    pub(super) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Leaf(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Sets a key, replacing an existing value.
    pub(super) fn set(&mut self, key: &str, value: Self) {
        if let Self::Map(entries) = self {
            match entries.iter_mut().find(|(k, _)| k == key) {
                Some((_, old)) => *old = value,
                None => entries.push((key.to_owned(), value)),
            }
        }
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: &str) {
        if let Self::Map(entries) = self {
            entries.retain(|(k, _)| k != key);
        }
    }

    /// The value, whose keys have no order.
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Leaf(value) => value.clone(),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Map(entries) => entries.iter().map(|(k, v)| (k.clone(), v.to_value())).collect(),
        }
    }

    /// Applies a JSON merge patch (RFC 7396).
    pub(super) fn merge(&mut self, patch: Value) {
        let Value::Object(changes) = patch else {
            *self = Self::from(patch);
            return;
        };
        if !matches!(self, Self::Map(_)) {
            *self = Self::Map(Vec::new());
        }
        for (key, change) in changes {
            if change.is_null() {
                self.remove(&key);
            } else {
                let mut value = self.get(&key).cloned().unwrap_or_else(Self::null);
                value.merge(change);
                self.set(&key, value);
            }
        }
    }

    /// Whether it is empty: null, false, zero, or without content.
    pub(super) fn is_nothing(&self) -> bool {
        match self {
            Self::Leaf(Value::Null | Value::Bool(false)) => true,
            Self::Leaf(Value::String(text)) => text.is_empty(),
            Self::Leaf(Value::Number(number)) => number.as_f64() == Some(0.0),
            Self::Leaf(_) => false,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
        }
    }

    /// The text of a release's file.
    pub(super) fn to_file(&self) -> String {
        let mut out = String::new();
        self.pretty(&mut out, 0);
        out.push('\n');
        out
    }

    /// One line without spaces.
    pub(super) fn to_compact(&self) -> String {
        let mut out = String::new();
        self.line(&mut out, ",", ":");
        out.push('\n');
        out
    }

    fn pretty(&self, out: &mut String, level: usize) {
        const LEVELS: usize = 2;
        let nested = |json: &Self| !matches!(json, Self::Leaf(_));
        match self {
            Self::Map(entries) if level < LEVELS && !entries.is_empty() => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    next_line(out, index, level + 1);
                    string(out, key);
                    out.push_str(": ");
                    value.pretty(out, level + 1);
                }
                last_line(out, level, '}');
            }
            Self::List(items) if level < LEVELS && items.first().is_some_and(nested) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    next_line(out, index, level + 1);
                    item.line(out, ", ", ": ");
                }
                last_line(out, level, ']');
            }
            _ => self.line(out, ", ", ": "),
        }
    }

    fn line(&self, out: &mut String, comma: &str, colon: &str) {
        match self {
            Self::Leaf(Value::String(text)) => string(out, text),
            Self::Leaf(value) => {
                let _ = write!(out, "{value}");
            }
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { comma } else { "" });
                    item.line(out, comma, colon);
                }
                out.push(']');
            }
            Self::Map(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if index > 0 { comma } else { "" });
                    string(out, key);
                    out.push_str(colon);
                    value.line(out, comma, colon);
                }
                out.push('}');
            }
        }
    }
}

fn next_line(out: &mut String, index: usize, level: usize) {
    out.push_str(if index > 0 { ",\n" } else { "\n" });
    out.push_str(&" ".repeat(level));
}

fn last_line(out: &mut String, level: usize, bracket: char) {
    out.push('\n');
    out.push_str(&" ".repeat(level));
    out.push(bracket);
}

/// A JSON string in ASCII.
fn string(out: &mut String, text: &str) {
    for c in Value::from(text).to_string().chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(map) => Self::Map(map.into_iter().map(|(k, v)| (k, Self::from(v))).collect()),
            leaf => Self::Leaf(leaf),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::null())
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Leaf(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Leaf(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Leaf(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(Json::Leaf(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::text(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
                let mut out = Vec::new();
                while let Some(item) = items.next_element()? {
                    out.push(item);
                }
                Ok(Json::List(out))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    out.push(entry);
                }
                Ok(Json::Map(out))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_line_for_each_entry() {
        let text = r#"{"z": 1, "a": {"b": [1, "é"], "c": {"d": null}}, "e": [], "f": [{"g": 0.5}]}"#;
        let json: Json = serde_json::from_str(text).expect("JSON");
        let expected = "{\n \"z\": 1,\n \"a\": {\n  \"b\": [1, \"\\u00e9\"],\n  \"c\": {\"d\": null}\n },\n \
                        \"e\": [],\n \"f\": [\n  {\"g\": 0.5}\n ]\n}\n";
        assert_eq!(json.to_file(), expected);
        let compact = text.replace(", ", ",").replace(": ", ":").replace('é', "\\u00e9");
        assert_eq!(json.to_compact(), compact + "\n");
        assert!(json.at("a.c.d").expect("there").is_nothing());
    }
}
