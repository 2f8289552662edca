//! What is in front of a value: anchors, tags, and directives in front of a document.

use super::{Lexer, Result, Tag, Token};

const CORE: &str = "tag:yaml.org,2002:";

impl Lexer<'_> {
    /// `&name` or `*name`; names are letters, digits, `-` and `_`.
    pub(super) fn anchor_or_alias(&mut self) -> Result<()> {
        let start = self.pos;
        let alias = self.at(0) == b'*';
        self.pos += 1;
        self.word();
        let name = &self.text[start + 1..self.pos];
        let ends =
            self.is_blank_or_end(0) || matches!(self.at(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return self.fail_since(
                "did not find expected alphabetic or numeric character",
                start,
                if alias { "while scanning an alias" } else { "while scanning an anchor" },
            );
        }
        let token = if alias { Token::Alias } else { Token::Anchor };
        self.push(token, start);
        Ok(())
    }

    fn word(&mut self) {
        while matches!(self.at(0), b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-') {
            self.pos += 1;
        }
    }

    /// `!`, `!local`, `!!core`, `!<uri>`. A `!named!tag` would need a `%TAG` directive, which
    /// can't be in a document that kubectl has cut out.
    pub(super) fn tag(&mut self) -> Result<()> {
        let start = self.pos;
        let what = "while scanning a tag";
        let mut name = String::new();
        if self.at(1) == b'<' {
            self.pos += 2;
            self.uri(&mut name, start)?;
            if name.is_empty() {
                return self.fail_since("did not find expected tag URI", start, what);
            }
            if self.at(0) != b'>' {
                return self.fail_since("did not find the expected '>'", start, what);
            }
            self.pos += 1;
        } else {
            self.pos += 1;
            self.word();
            let handle = &self.text[start + 1..self.pos];
            if self.at(0) == b'!' {
                self.pos += 1;
                if !handle.is_empty() {
                    return self.fail_since("found undefined tag handle", start, what);
                }
                name.push_str(CORE);
                self.uri(&mut name, start)?;
                if name == CORE {
                    return self.fail_since("did not find expected tag URI", start, what);
                }
            } else {
                name.push('!');
                name.push_str(handle);
                self.uri(&mut name, start)?;
            }
        }
        if !self.is_blank_or_end(0) {
            let message = "did not find expected whitespace or line break";
            return self.fail_since(message, start, what);
        }
        let tag = match name.strip_prefix(CORE) {
            Some("str") => Tag::Str,
            Some("int") => Tag::Int,
            Some("float") => Tag::Float,
            Some("bool") => Tag::Bool,
            Some("null") => Tag::Null,
            Some("timestamp") => Tag::Timestamp,
            Some("binary") => Tag::Binary,
            Some("merge") => Tag::Merge,
            _ => Tag::Other,
        };
        self.push(Token::Tag(tag), start);
        Ok(())
    }

    /// The rest of a tag, with its `%41` escapes decoded.
    fn uri(&mut self, out: &mut String, start: usize) -> Result<()> {
        loop {
            match self.at(0) {
                b'%' => {
                    let hex = self.text.get(self.pos + 1..self.pos + 3).unwrap_or("");
                    let Ok(byte) = u8::from_str_radix(hex, 16) else {
                        let message = "did not find URI escaped octet";
                        return self.fail_since(message, start, "while parsing a tag");
                    };
                    // Only names of the core schema matter, and those are ASCII.
                    out.push(char::from(byte));
                    self.pos += 3;
                }
                byte @ (b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z') => {
                    out.push(char::from(byte));
                    self.pos += 1;
                }
                byte if b"_-;/?:@&=+$,.!~*'()[]".contains(&byte) => {
                    out.push(char::from(byte));
                    self.pos += 1;
                }
                _ => return Ok(()),
            }
        }
    }

    /// `%YAML 1.1` and `%TAG ! !`: read, and rejected by the grammar, because kubectl cuts the
    /// file at the `---` that has to follow.
    pub(super) fn directive(&mut self) -> Result<()> {
        self.close_all()?;
        let start = self.pos;
        let what = "while scanning a directive";
        self.pos += 1;
        self.word();
        let name = &self.text[start + 1..self.pos];
        if name.is_empty() {
            return self.fail_since("could not find expected directive name", start, what);
        }
        if !self.is_blank_or_end(0) {
            let message = "found unexpected non-alphabetical character";
            return self.fail_since(message, start, what);
        }
        let rest = self.text[self.pos..self.line_end()].trim_matches([' ', '\t']);
        let rest = rest.split(" #").next().unwrap_or("").trim_end();
        match name {
            "YAML" => {
                let is_number = |n: &str| matches!(n.len(), 1 | 2) && n.bytes().all(|b| b.is_ascii_digit());
                if !rest.split_once('.').is_some_and(|(a, b)| is_number(a) && is_number(b)) {
                    return self.fail_since("did not find expected version number", start, what);
                }
            }
            "TAG" => {
                if !rest.starts_with('!') || !rest.contains([' ', '\t']) {
                    return self.fail_since("did not find expected '!'", start, what);
                }
            }
            _ => return self.fail_since("found unknown directive name", start, what),
        }
        self.pos = self.line_end();
        self.push(Token::Directive, start);
        Ok(())
    }
}
