//! Places and values as the API server prints them in a message.

use crate::prelude::*;
use std::fmt::Write as _;

use hcoplan_yaml::Segment;

/// A path as the API server's messages have it: keys are never quoted.
pub fn server_path(path: &Path) -> String {
    let mut out = String::new();
    for step in &path.0 {
        match step {
            Segment::Key(k) if out.is_empty() => out.push_str(k),
            Segment::Key(k) => {
                out.push('.');
                out.push_str(k);
            }
            Segment::Index(i) => out.push_str(&format!("[{i}]")),
        }
    }
    out
}

/// A bad value in a message: strings quoted, the rest as JSON.
pub(super) fn bad_value(value: &Value) -> String {
    match value {
        Value::String(s) => go_quote(s),
        other => go_json(other),
    }
}

/// What the server says of a value, as it is printed, that isn't one of some.
pub fn unsupported<'s>(value: &str, supported: impl IntoIterator<Item = &'s str>) -> String {
    let supported: Vec<String> = supported.into_iter().map(go_quote).collect();
    format!("Unsupported value: {value}: supported values: {}", supported.join(", "))
}

/// A string as Go's `%q` prints it.
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            ' '..='~' => out.push(c),
            c if printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let written = match code {
                    0..0x80 => write!(out, "\\x{code:02x}"),
                    0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
                written.expect("a String takes everything");
            }
        }
    }
    out.push('"');
    out
}

/// Go prints letters, marks, numbers, punctuation and symbols. Rust's debug form escapes the same
/// characters, and after another one it leaves combining marks alone, as Go does.
fn printable(c: char) -> bool {
    let behind_a_letter = format!("a{c}");
    behind_a_letter.escape_debug().count() == 2
}

/// A value as Go's `json.Marshal` prints it: compact.
pub fn go_json(value: &Value) -> String {
    html_safe(value.to_string().chars())
}

/// JSON as Go prints it, with `<`, `>` and `&` escaped.
pub fn html_safe(json: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for c in json {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes everything");
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_yaml::Trail;
    use serde_json::json;

    #[test]
    fn quotes_as_go_does() {
        assert_eq!(go_quote("a \"b\"\\\n"), r#""a \"b\"\\\n""#);
        assert_eq!(go_quote("\x01é\u{a0}\u{301}\u{10ffff}"), "\"\\x01é\\u00a0\u{301}\\U0010ffff\"");
    }

    #[test]
    fn writes_json_as_go_does() {
        assert_eq!(go_json(&json!({"b": ["<x>", 1.5], "a": null})), r#"{"a":null,"b":["\u003cx\u003e",1.5]}"#);
    }

    #[test]
    fn prints_paths_without_quotes() {
        let spec = Trail::ROOT.key("spec");
        let classes = spec.key("a.b/c");
        assert_eq!(server_path(&classes.index(2).path()), "spec.a.b/c[2]");
        assert_eq!(server_path(&Path::root()), "");
    }
}
