//! What Go says about text that is not JSON.
//!
//! Source: Go's `encoding/json` scanner. It works on bytes, so a character outside ASCII is
//! named by its first byte.

/// The scanner's error; `None` for good JSON.
pub fn syntax_error(text: &str) -> Option<String> {
    let mut scanner = Scanner { rest: text.as_bytes(), open: Vec::new() };
    scanner.document().err()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// Behind `[`: a value or `]`.
    FirstElement,
    /// Behind `{`: a key or `}`.
    FirstKey,
    Key,
    Colon,
    /// A comma, the container's end, or the text's.
    End,
}

struct Scanner<'a> {
    rest: &'a [u8],
    open: Vec<Container>,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), String> {
        let mut next = Expected::Value;
        loop {
            while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = self.rest {
                self.rest = rest;
            }
            if self.rest.is_empty() && next == Expected::End && self.open.is_empty() {
                return Ok(());
            }
            let byte = self.take()?;
            next = match (next, byte) {
                (Expected::FirstElement, b']') | (Expected::FirstKey, b'}') => self.close(),
                (Expected::Value | Expected::FirstElement, _) => self.value(byte)?,
                (Expected::FirstKey | Expected::Key, b'"') => {
                    self.string()?;
                    Expected::Colon
                }
                (Expected::FirstKey | Expected::Key, _) => {
                    return Err(wrong(byte, "looking for beginning of object key string"));
                }
                (Expected::Colon, b':') => Expected::Value,
                (Expected::Colon, _) => return Err(wrong(byte, "after object key")),
                (Expected::End, _) => match (self.open.last(), byte) {
                    (Some(Container::Object), b',') => Expected::Key,
                    (Some(Container::Array), b',') => Expected::Value,
                    (Some(Container::Object), b'}') | (Some(Container::Array), b']') => self.close(),
                    (Some(Container::Object), _) => {
                        return Err(wrong(byte, "after object key:value pair"));
                    }
                    (Some(Container::Array), _) => {
                        return Err(wrong(byte, "after array element"));
                    }
                    (None, _) => return Err(wrong(byte, "after top-level value")),
                },
            };
        }
    }

    fn take(&mut self) -> Result<u8, String> {
        match self.rest {
            [byte, rest @ ..] => {
                self.rest = rest;
                Ok(*byte)
            }
            [] => Err("unexpected end of JSON input".to_owned()),
        }
    }

    fn close(&mut self) -> Expected {
        self.open.pop();
        Expected::End
    }

    /// A value that begins with this byte.
    fn value(&mut self, byte: u8) -> Result<Expected, String> {
        match byte {
            b'{' => {
                self.open.push(Container::Object);
                return Ok(Expected::FirstKey);
            }
            b'[' => {
                self.open.push(Container::Array);
                return Ok(Expected::FirstElement);
            }
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number(byte)?,
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => return Err(wrong(byte, "looking for beginning of value")),
        }
        Ok(Expected::End)
    }

    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.take()? {
                b'"' => return Ok(()),
                b'\\' => match self.take()? {
                    b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                    b'u' => {
                        for _ in 0..4 {
                            let digit = self.take()?;
                            if !digit.is_ascii_hexdigit() {
                                return Err(wrong(digit, "in \\u hexadecimal character escape"));
                            }
                        }
                    }
                    byte => return Err(wrong(byte, "in string escape code")),
                },
                byte if byte < 0x20 => return Err(wrong(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn number(&mut self, first: u8) -> Result<(), String> {
        let first = match first {
            b'-' => self.digit("in numeric literal")?,
            digit => digit,
        };
        if first != b'0' {
            self.digits();
        }
        if let [b'.', rest @ ..] = self.rest {
            self.rest = rest;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = rest;
            if let [b'+' | b'-', rest @ ..] = self.rest {
                self.rest = rest;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, place: &str) -> Result<u8, String> {
        let byte = self.take()?;
        if byte.is_ascii_digit() { Ok(byte) } else { Err(wrong(byte, place)) }
    }

    fn digits(&mut self) {
        while let [b'0'..=b'9', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes().skip(1) {
            let byte = self.take()?;
            if byte != expected {
                let expected = char::from(expected);
                let place = format!("in literal {word} (expecting '{expected}')");
                return Err(wrong(byte, &place));
            }
        }
        Ok(())
    }
}

fn wrong(byte: u8, place: &str) -> String {
    let quoted = match byte {
        b'\'' => "\\'".to_owned(),
        b'"' => "\"".to_owned(),
        b'\\' => "\\\\".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        9 => "\\t".to_owned(),
        10 => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        13 => "\\r".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        0..=0x7f => format!("\\x{byte:02x}"),
        0x80..=0xa0 | 0xad => format!("\\u{byte:04x}"),
        _ => char::from(byte).to_string(),
    };
    format!("invalid character '{quoted}' {place}")
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
