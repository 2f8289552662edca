//! JSON as Go's `encoding/json` reads it, with byte spans.
//!
//! kubectl reads a file that starts with `{` as JSON first. The difference to YAML is small and
//! real: `\/` and surrogate pairs are escapes, tabs may indent, a key may be longer than 1,024
//! characters, `yes` needs quotes.

use super::build::keys::merge_and_deduplicate;
use super::number;
use super::problem::{Problem, ProblemKind, Problems};
use super::{Entry, Key, Limits, Node, Style, Value};
use crate::source::Span;

type Result<T> = std::result::Result<T, Problem>;

/// Reads one value of a stream of them.
pub(super) struct Reader<'t, 'l> {
    text: &'t str,
    pos: usize,
    depth: usize,
    limits: &'l Limits,
    nodes: usize,
    /// Whether duplicate keys stay, and numbers that no float can hold: the caller reads those in the text.
    is_raw: bool,
    /// The problems so far that don't end the stream.
    pub(super) problems: Problems,
}

/// Reads one value of JSON, with space around it at most. Duplicate keys stay, in their order; a number's text is at its
/// span.
///
/// # Errors
/// What is wrong at the first byte that is, or that begins a value that is nested too deeply.
pub fn read_json(text: &str, max_depth: usize) -> Result<Node> {
    let limits = Limits { max_depth, max_nodes: usize::MAX, ..Limits::DEFAULT };
    let mut reader = Reader { is_raw: true, ..Reader::new(text, &limits) };
    reader.space();
    let value = reader.value()?;
    reader.space();
    if reader.pos < text.len() { reader.unexpected("after top-level value") } else { Ok(value) }
}

impl<'t, 'l> Reader<'t, 'l> {
    /// Reads `text` from its start.
    pub(super) fn new(text: &'t str, limits: &'l Limits) -> Self {
        Self { text, pos: 0, depth: 0, limits, nodes: 0, is_raw: false, problems: Problems::default() }
    }

    /// The next value; `None` when only space is left.
    pub(super) fn next(&mut self) -> Result<Option<Node>> {
        self.space();
        if self.pos == self.text.len() {
            return Ok(None);
        }
        self.value().map(Some)
    }

    fn at(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.at(), b' ' | b'\t' | b'\r' | b'\n') {
            self.pos += 1;
        }
    }

    /// Go's words for a character in the wrong place.
    fn unexpected<T>(&self, place: &str) -> Result<T> {
        let (len, message) = match self.text[self.pos..].chars().next() {
            None => (0, "unexpected EOF".to_owned()),
            Some('\'') => (1, format!("invalid character '\\'' {place}")),
            Some('"') => (1, format!("invalid character '\"' {place}")),
            Some(c) => {
                let shown: String = c.escape_debug().collect();
                (c.len_utf8(), format!("invalid character '{shown}' {place}"))
            }
        };
        let span = Span::new(self.pos, self.pos + len);
        Err(Problem::new(ProblemKind::JsonSyntax, span, message))
    }

    fn value(&mut self) -> Result<Node> {
        self.nodes += 1;
        let start = self.pos;
        let here = Span::new(start, start);
        if self.nodes > self.limits.max_nodes {
            return Err(Problem::too_big(self.limits, here));
        }
        let (style, value) = match self.at() {
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > self.limits.max_depth {
                    return Err(Problem::too_deep(self.limits.max_depth, here));
                }
                let value = if self.at() == b'{' { self.object()? } else { self.array()? };
                self.depth -= 1;
                (Style::Flow, value)
            }
            b'"' => (Style::DoubleQuoted, Value::String(self.string()?)),
            b't' => (Style::Plain, self.literal("true", Value::Bool(true))?),
            b'f' => (Style::Plain, self.literal("false", Value::Bool(false))?),
            b'n' => (Style::Plain, self.literal("null", Value::Null)?),
            b'-' | b'0'..=b'9' => (Style::Plain, self.number()?),
            _ => return self.unexpected("looking for beginning of value"),
        };
        let span = Span::new(start, self.pos);
        Ok(Node { span, style, value })
    }

    fn object(&mut self) -> Result<Value> {
        let mut entries = Vec::new();
        self.list(b'}', "after object key:value pair", |reader| {
            if reader.at() != b'"' {
                return reader.unexpected("looking for beginning of object key string");
            }
            let start = reader.pos;
            reader.nodes += 1;
            let text = reader.string()?;
            let key = Key { text, span: Span::new(start, reader.pos) };
            reader.space();
            if reader.at() != b':' {
                return reader.unexpected("after object key");
            }
            reader.pos += 1;
            reader.space();
            entries.push(Entry { key, value: reader.value()? });
            Ok(())
        })?;
        if !self.is_raw {
            entries = merge_and_deduplicate(entries, Vec::new(), &mut self.problems);
        }
        Ok(Value::Map(entries))
    }

    fn array(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        self.list(b']', "after array element", |reader| {
            items.push(reader.value()?);
            Ok(())
        })?;
        Ok(Value::Seq(items))
    }

    /// The members of an object or array up to its `end`; `place` names what stands behind one.
    fn list(&mut self, end: u8, place: &str, mut member: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.pos += 1;
        self.space();
        let mut is_over = self.at() == end;
        while !is_over {
            self.space();
            member(self)?;
            self.space();
            is_over = match self.at() {
                b',' => {
                    self.pos += 1;
                    false
                }
                at if at == end => true,
                _ => return self.unexpected(place),
            };
        }
        self.pos += 1;
        Ok(())
    }

    fn literal(&mut self, word: &str, value: Value) -> Result<Value> {
        for expected in word.chars() {
            if char::from(self.at()) != expected {
                return self.unexpected(&format!("in literal {word} (expecting '{expected}')"));
            }
            self.pos += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) -> bool {
        let start = self.pos;
        while self.at().is_ascii_digit() {
            self.pos += 1;
        }
        self.pos > start
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.pos;
        if self.at() == b'-' {
            self.pos += 1;
        }
        if self.at() == b'0' {
            self.pos += 1;
        } else if !self.digits() {
            return self.unexpected("in numeric literal");
        }
        if self.at() == b'.' {
            self.pos += 1;
            if !self.digits() {
                return self.unexpected("after decimal point in numeric literal");
            }
        }
        if matches!(self.at(), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.at(), b'+' | b'-') {
                self.pos += 1;
            }
            if !self.digits() {
                return self.unexpected("in exponent of numeric literal");
            }
        }
        let text = &self.text[start..self.pos];
        if let Ok(integer) = text.parse::<i64>() {
            return Ok(Value::Number(integer.into()));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Number(number::float_number(value))),
            _ if self.is_raw => Ok(Value::Number(0.into())),
            _ => {
                let message = format!("json: cannot unmarshal number {text} into Go value of type float64");
                let span = Span::new(start, self.pos);
                self.problems.push(Problem::new(ProblemKind::NotJson, span, message));
                Ok(Value::Null)
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        self.pos += 1;
        let mut out = String::new();
        loop {
            let start = self.pos;
            while !matches!(self.at(), b'"' | b'\\' | 0..b' ') {
                self.pos += 1;
            }
            out.push_str(&self.text[start..self.pos]);
            match self.at() {
                b'"' => break,
                b'\\' => out.push(self.escape()?),
                _ => return self.unexpected("in string literal"),
            }
        }
        self.pos += 1;
        Ok(out)
    }

    fn escape(&mut self) -> Result<char> {
        self.pos += 1;
        let plain = match self.at() {
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            byte @ (b'\\' | b'/' | b'"') => char::from(byte),
            b'u' => {
                self.pos += 1;
                let first = self.four_digits()?;
                // A pair of surrogates is one character; one alone is replaced.
                if (0xD800..0xDC00).contains(&first) && self.text[self.pos..].starts_with("\\u") {
                    let back = self.pos;
                    self.pos += 2;
                    let second = self.four_digits()?;
                    if (0xDC00..0xE000).contains(&second) {
                        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                        return Ok(char::from_u32(code).unwrap_or('\u{FFFD}'));
                    }
                    self.pos = back;
                }
                return Ok(char::from_u32(first).unwrap_or('\u{FFFD}'));
            }
            _ => return self.unexpected("in string escape code"),
        };
        self.pos += 1;
        Ok(plain)
    }

    fn four_digits(&mut self) -> Result<u32> {
        let mut value = 0;
        for _ in 0..4 {
            match char::from(self.at()).to_digit(16) {
                Some(digit) => value = (value << 4) | digit,
                None => return self.unexpected("in \\u hexadecimal character escape"),
            }
            self.pos += 1;
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<serde_json::Value, String> {
        let limits = Limits::DEFAULT;
        let mut reader = Reader::new(text, &limits);
        match reader.next() {
            Ok(node) => Ok(node.map(|n| n.to_json()).unwrap_or_default()),
            Err(problem) => Err(problem.message),
        }
    }

    #[test]
    fn reads_what_go_reads() {
        let text = r#" {"a": [1, -0, 1.50, 1e3, true, null], "b\/\u00e9\ud83d\ude00\ud800": "\t\n"} "#;
        let expected = serde_json::json!(
            {"a": [1, 0, 1.5, 1000, true, null], "b/é😀\u{FFFD}": "\t\n"}
        );
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read("  "), Ok(serde_json::Value::Null));
    }

    #[test]
    fn rejects_with_gos_messages() {
        let cases = [
            (r#"{"a":1,}"#, "invalid character '}' looking for beginning of object key string"),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (r#"{"a":1 "b"}"#, "invalid character '\"' after object key:value pair"),
            (r#"{"a":[1 2]}"#, "invalid character '2' after array element"),
            (r#"{"a":yes}"#, "invalid character 'y' looking for beginning of value"),
            (r#"{"a":tru}"#, "invalid character '}' in literal true (expecting 'e')"),
            (r#"{"a":01}"#, "invalid character '1' after object key:value pair"),
            (r#"{"a":"\q"}"#, "invalid character 'q' in string escape code"),
            ("{\"a\":\"\n\"}", "invalid character '\\n' in string literal"),
            (r#"{"a":"#, "unexpected EOF"),
        ];
        for (text, message) in cases {
            assert_eq!(read(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn spans_are_exact() {
        let text = r#"{"a": [12, "x\n"]}"#;
        let limits = Limits::DEFAULT;
        let root = Reader::new(text, &limits).next().unwrap().unwrap();
        let list = root.get("a").unwrap();
        assert_eq!(&text[list.span.range()], r#"[12, "x\n"]"#);
        assert_eq!(&text[list.items()[0].span.range()], "12");
        assert_eq!(&text[list.items()[1].span.range()], r#""x\n""#);
        assert_eq!(&text[root.entry("a").unwrap().key.span.range()], r#""a""#);
    }
}
