//! JSON as the operator reads and prints it.
//!
//! The operator compares numbers in `test` as written and prints rejected operations, and findings point at single
//! tokens, so parsed values are not enough: the tree keeps locations. Accepts the same JSON as Go's `json.Valid`, except
//! that Go nests 10000 deep and this reader [`MAX_DEPTH`].

use hcoplan_yaml::{Node, Value, read_json};

/// How deep values may nest, here and in a patched document. Kubernetes objects stay far below.
pub(super) const MAX_DEPTH: usize = 256;

/// The type's name in Go's errors.
pub(super) fn go_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Seq(_) => "array",
        Value::Map(_) => "object",
    }
}

/// Parses one JSON value, surrounded by white space at most.
///
/// # Errors
/// The offset of the first invalid byte.
pub(super) fn parse(text: &str) -> Result<Node, usize> {
    read_json(text, MAX_DEPTH)
}

/// A value as Go prints a raw message: without white space, with HTML characters escaped.
pub(super) fn compact(text: &str, out: &mut String) {
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if !in_string && matches!(c, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        if c == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = c == '\\' && !escaped;
        if !push_html_safe(c, out) {
            out.push(c);
        }
    }
}

/// A string as Go prints it.
pub(super) fn quoted(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string"),
            c => {
                if !push_html_safe(c, out) {
                    out.push(c);
                }
            }
        }
    }
    out.push('"');
}

fn push_html_safe(c: char, out: &mut String) -> bool {
    let escape = match c {
        '<' => "\\u003c",
        '>' => "\\u003e",
        '&' => "\\u0026",
        '\u{2028}' => "\\u2028",
        '\u{2029}' => "\\u2029",
        _ => return false,
    };
    out.push_str(escape);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_go_accepts() {
        let nested = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        for text in [
            "null",
            " [1 , -0.5e+3,true ] \n",
            r#"{"a":{"b":[]},"a":"\u00e9\ud83d\ude00\/"}"#,
            "0",
            "-1E9",
            "\"\u{7f}\"",
            &nested,
        ] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn rejects_with_the_location() {
        for (text, at) in [
            ("", 0),
            ("  ", 2),
            ("01", 1),
            ("+1", 0),
            ("1.", 2),
            (".5", 0),
            ("[1,]", 3),
            ("{'a':1}", 1),
            (r#"{"a" 1}"#, 5),
            ("nul", 3),
            ("[] x", 3),
            ("\"a\nb\"", 2),
            (r#""\x""#, 2),
            (r#""\u12g4""#, 5),
            ("\u{feff}[]", 0),
        ] {
            assert_eq!(parse(text).err(), Some(at), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn decodes_strings_but_not_spans() {
        let text = r#" {"p": "a\ud83d\ude00\ud800z"} "#;
        let object = parse(text).unwrap();
        let entries = object.entries();
        assert_eq!(entries[0].value.as_str(), Some("a😀\u{fffd}z"));
        assert_eq!(&text[entries[0].value.span.range()], r#""a\ud83d\ude00\ud800z""#);
    }

    #[test]
    fn prints_back_as_go_does() {
        let mut out = String::new();
        compact("{ \"a\" : \"x \\\" <b>\" , \"c\":[ 1.0 ] }", &mut out);
        assert_eq!(out, r#"{"a":"x \" \u003cb\u003e","c":[1.0]}"#);
        out.clear();
        quoted("a\"&\n\u{1}\u{2028}é", &mut out);
        assert_eq!(out, "\"a\\\"\\u0026\\n\\u0001\\u2028é\"");
    }
}
