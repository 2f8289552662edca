//! JSON as the operator reads and prints it.
//!
//! The operator compares numbers in `test` as written and prints rejected operations, and findings point at single
//! tokens, so parsed values are not enough: the tree keeps locations. Accepts the same JSON as Go's `json.Valid`, except
//! that Go nests 10000 deep and this reader [`MAX_DEPTH`].

use hcoplan_kubernetes::schema::html_safe;
use hcoplan_yaml::{Node, read_json};

/// How deep values may nest, here and in a patched document. Kubernetes objects stay far below.
pub(super) const MAX_DEPTH: usize = 256;

/// Parses one JSON value, surrounded by white space at most.
///
/// # Errors
/// The offset of the first invalid byte.
pub(super) fn parse(text: &str) -> Result<Node, usize> {
    read_json(text, MAX_DEPTH).map_err(|problem| problem.span.start as usize)
}

/// A value as Go prints a raw message: without white space, with HTML characters escaped.
pub(super) fn compact(text: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    html_safe(text.chars().filter(|c| {
        if !in_string && matches!(c, ' ' | '\t' | '\r' | '\n') {
            return false;
        }
        if *c == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = *c == '\\' && !escaped;
        true
    }))
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
        let printed = compact("{ \"a\" : \"x \\\" <b>\" , \"c\":[ 1.0 ] }");
        assert_eq!(printed, r#"{"a":"x \" \u003cb\u003e","c":[1.0]}"#);
        let key = hcoplan_kubernetes::schema::go_json(&"a\"&\n\u{1}\u{2028}é".into());
        assert_eq!(key, "\"a\\\"\\u0026\\n\\u0001\\u2028é\"");
    }
}
