//! What Go says about text that is not JSON.

use crate::schema::go_quote;
use hcoplan_yaml::{Limits, ProblemKind, read_json};

/// The error of Go's scanner; `None` for good JSON, and for values that are nested deeper than is read. The scanner works
/// on bytes, so a character outside ASCII is named by its first byte.
pub fn syntax_error(text: &str) -> Option<String> {
    let problem = read_json(text, Limits::DEFAULT.max_depth).err()?;
    if problem.kind != ProblemKind::JsonSyntax {
        return None;
    }
    let Some(byte) = text.as_bytes().get(problem.span.start as usize) else {
        return Some("unexpected end of JSON input".to_owned());
    };
    let shown = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        byte => go_quote(&char::from(*byte).to_string()).trim_matches('"').to_owned(),
    };
    // What follows the character.
    let (_, place) = problem.message.rsplit_once("' ")?;
    Some(format!("invalid character '{shown}' {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_json_has_no_error() {
        for text in ["null", " [1, -0.5e+3, {\"a\": [true, false]}] ", "\"\\u00e9é\"", "{}"] {
            assert_eq!(syntax_error(text), None, "{text}");
        }
    }

    #[test]
    fn agrees_with_go() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("{\"a\":", "unexpected end of JSON input"),
            ("{qps}", "invalid character 'q' looking for beginning of object key string"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"", "invalid character '\"' after object key:value pair"),
            ("[01]", "invalid character '1' after array element"),
            ("1 2", "invalid character '2' after top-level value"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("tru!", "invalid character '!' in literal true (expecting 'e')"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1e+x", "invalid character 'x' in exponent of numeric literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u00g\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("é", "invalid character 'Ã' looking for beginning of value"),
        ];
        for (text, expected) in cases {
            assert_eq!(syntax_error(text).as_deref(), Some(expected), "{text}");
        }
    }
}
