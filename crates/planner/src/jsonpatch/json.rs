//! A JSON reader that keeps locations and the text of numbers.
//!
//! The operator compares numbers in `test` as written and prints rejected operations, and findings point at single
//! tokens, so parsed values are not enough. Accepts the same JSON as Go's `json.Valid`, except that Go nests 10000 deep
//! and this reader [`MAX_DEPTH`].

use hcoplan_diagnostics::source::Span;

/// How deep values may nest, here and in a patched document. Kubernetes objects stay far below.
pub(super) const MAX_DEPTH: usize = 256;

/// A value with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) span: Span,
    pub(super) value: Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// The text as written.
    Number(String),
    /// Decoded.
    String(String),
    Array(Vec<Item>),
    /// In written order, including duplicates.
    Object(Vec<Member>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    /// With its quotes.
    pub(super) key_span: Span,
    pub(super) value: Item,
}

impl Json {
    /// The type's name in Go's errors.
    pub(super) fn go_type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

/// Parses one JSON value, surrounded by white space at most.
///
/// # Errors
/// The offset of the first invalid byte.
pub(super) fn parse(text: &str) -> Result<Item, usize> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_space();
    let item = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.at);
    }
    Ok(item)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), usize> {
        if self.take(byte) { Ok(()) } else { Err(self.at) }
    }

    fn value(&mut self, depth: usize) -> Result<Item, usize> {
        let start = self.at;
        let value = match self.peek().ok_or(start)? {
            b'{' | b'[' if depth >= MAX_DEPTH => return Err(start),
            b'{' => Json::Object(self.object(depth + 1)?),
            b'[' => Json::Array(self.array(depth + 1)?),
            b'"' => Json::String(self.string()?),
            b't' => self.word("true", Json::Bool(true))?,
            b'f' => self.word("false", Json::Bool(false))?,
            b'n' => self.word("null", Json::Null)?,
            _ => self.number()?,
        };
        Ok(Item { span: Span::new(start, self.at), value })
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, usize> {
        for byte in word.bytes() {
            self.expect(byte)?;
        }
        Ok(value)
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, usize> {
        let mut members = Vec::new();
        self.expect(b'{')?;
        self.skip_space();
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            let start = self.at;
            let key = self.string()?;
            let key_span = Span::new(start, self.at);
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let value = self.value(depth)?;
            members.push(Member { key, key_span, value });
            self.skip_space();
            if self.take(b'}') {
                return Ok(members);
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Item>, usize> {
        let mut items = Vec::new();
        self.expect(b'[')?;
        self.skip_space();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(items);
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn number(&mut self) -> Result<Json, usize> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(Json::Number(text.to_owned()))
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<(), usize> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(start) }
    }

    fn string(&mut self) -> Result<String, usize> {
        self.expect(b'"')?;
        let mut decoded = String::new();
        loop {
            let plain = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            decoded.push_str(self.text.get(plain..self.at).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(decoded);
                }
                Some(b'\\') => {
                    self.at += 1;
                    decoded.push(self.escape()?);
                }
                _ => return Err(self.at),
            }
        }
    }

    /// Reads the rest of an escape sequence.
    fn escape(&mut self) -> Result<char, usize> {
        let at = self.at;
        let letter = self.peek().ok_or(at)?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.hex()?;
                self.surrogates(unit)
            }
            _ => return Err(at),
        })
    }

    fn hex(&mut self) -> Result<u32, usize> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            unit = unit * 16 + digit.ok_or(self.at)?;
            self.at += 1;
        }
        Ok(unit)
    }

    /// The character of a UTF-16 unit, reading the second unit of a pair. Half a pair is the replacement character.
    fn surrogates(&mut self, unit: u32) -> char {
        if (0xd800..0xdc00).contains(&unit) {
            let back = self.at;
            if self.take(b'\\')
                && self.take(b'u')
                && let Ok(low @ 0xdc00..0xe000) = self.hex()
            {
                let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            self.at = back;
        }
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
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
            assert_eq!(parse(text), Err(at), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn decodes_strings_but_not_spans() {
        let text = r#" {"p": "a\ud83d\ude00\ud800z"} "#;
        let Json::Object(members) = parse(text).unwrap().value else { panic!("an object") };
        assert_eq!(members[0].value.value, Json::String("a😀\u{fffd}z".to_owned()));
        assert_eq!(&text[members[0].value.span.range()], r#""a\ud83d\ude00\ud800z""#);
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
