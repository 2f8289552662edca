//! Scalars: plain, quoted and block.

use super::set::ByteSet;
use super::{Lexed, Lexer, Result, Span, Style, Token};
use crate::scalar_text::escaped;

/// What may end a run of a plain scalar: space, line breaks, indicators.
static PLAIN_ENDS: ByteSet = ByteSet::of(b"\0 \t\n\r\xC2\xE2:,?[]{}");

/// What may end a run of a quoted scalar: space, line breaks, quotes, escapes.
static QUOTED_ENDS: ByteSet = ByteSet::of(b"\0 \t\n\r\xC2\xE2'\"\\");

/// Line breaks met inside a scalar, before it is known what they fold to.
#[derive(Default)]
struct Breaks {
    first: Option<&'static str>,
    more: String,
}

impl Breaks {
    fn push(&mut self, text: &'static str) {
        match self.first {
            None => self.first = Some(text),
            Some(_) => self.more.push_str(text),
        }
    }

    /// One line break is a space, more are all but the first.
    fn fold_into(self, out: &mut String) {
        match self.first {
            Some("\n") if self.more.is_empty() => out.push(' '),
            Some("\n") | None => {}
            Some(first) => out.push_str(first),
        }
        out.push_str(&self.more);
    }
}

impl Lexer<'_> {
    /// A plain or quoted scalar, which may be a key: mostly its colon is right after it.
    pub(super) fn scalar(&mut self, read: impl Fn(&mut Self) -> Result<Lexed>) -> Result<()> {
        let key = self.possible_key()?;
        self.key_allowed = false;
        let scalar = read(self)?;
        match key.filter(|key| self.has_colon(*key)) {
            Some(key) => {
                self.announce_key(key, self.tokens.len())?;
                self.tokens.push(scalar);
                self.indicator(Token::Colon);
            }
            None => {
                self.keys.extend(key);
                self.tokens.push(scalar);
            }
        }
        Ok(())
    }

    /// A scalar, whose text is kept where that isn't what is in the file.
    fn lexed(&mut self, style: Style, start: usize, end: usize, copied: Option<String>) -> Lexed {
        if let Some(text) = copied {
            self.copied.push_back((start, text));
        }
        Lexed { token: Token::Scalar(style), span: Span::new(start, end) }
    }

    /// A plain scalar, over as many lines as are indented deeper than what holds it.
    pub(super) fn plain(&mut self) -> Result<Lexed> {
        let start = self.pos;
        self.plain_run();
        if self.is_blank_or_end(0) {
            self.plain_words(start)
        } else {
            Ok(self.lexed(Style::Plain, start, self.pos, None))
        }
    }

    /// The rest of a plain scalar, whose first word is read.
    fn plain_words(&mut self, start: usize) -> Result<Lexed> {
        let mut end = self.pos;
        // The text, once it is not what is in the file.
        let mut folded: Option<String> = None;
        let mut breaks = Breaks::default();
        while self.plain_space(start, &mut breaks)? {
            let run = self.pos;
            if self.at(0) == b'#' || (self.column() == 0 && self.is_document_marker()) {
                break;
            }
            self.plain_run();
            if self.pos > run {
                if breaks.first.is_some() {
                    let out = folded.get_or_insert_with(|| self.text[start..end].to_owned());
                    std::mem::take(&mut breaks).fold_into(out);
                    out.push_str(&self.text[run..self.pos]);
                } else if let Some(out) = &mut folded {
                    out.push_str(&self.text[end..self.pos]);
                }
                end = self.pos;
            }
        }
        if breaks.first.is_some() {
            self.key_allowed = true;
        }
        Ok(self.lexed(Style::Plain, start, end, folded))
    }

    /// The characters up to a space, a line break or an indicator.
    fn plain_run(&mut self) {
        let flow = self.flow_level > 0;
        loop {
            self.pos += PLAIN_ENDS.find(&self.bytes[self.pos..]);
            match self.at(0) {
                0 | b' ' | b'\t' | b'\n' | b'\r' => return,
                b':' if self.is_blank_or_end(1) => return,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if flow => return,
                0xC2 | 0xE2 if self.break_len(0) > 0 => return,
                _ => self.pos += 1,
            }
        }
    }

    /// The space after a run; whether the scalar may go on after it.
    fn plain_space(&mut self, start: usize, breaks: &mut Breaks) -> Result<bool> {
        let before = self.pos;
        loop {
            match self.at(0) {
                b'\t' if breaks.first.is_some() && self.column() <= self.indent => {
                    return self.fail_since(
                        "found a tab character that violates indentation",
                        start,
                        "while scanning a plain scalar",
                    );
                }
                b' ' => self.skip_spaces(),
                b'\t' => self.pos += 1,
                _ if self.break_len(0) > 0 => breaks.push(self.newline()),
                _ => break,
            }
        }
        Ok(self.pos > before && (self.flow_level > 0 || self.column() > self.indent))
    }

    /// `'…'` or `"…"`.
    pub(super) fn quoted(&mut self) -> Result<Lexed> {
        let start = self.pos;
        let quote = self.at(0);
        let style = match quote {
            b'"' => Style::DoubleQuoted,
            _ => Style::SingleQuoted,
        };
        self.pos += 1;
        let mut out: Option<String> = None;
        // Where the text begins that is not in `out` yet.
        let mut pending = self.pos;
        loop {
            if self.column() == 0 && self.is_document_marker() {
                return self.fail_since("found unexpected document indicator", start, "while scanning a quoted scalar");
            }
            if self.at(0) == 0 {
                return self.fail_since("found unexpected end of stream", start, "while scanning a quoted scalar");
            }
            let escaped_break = self.quoted_run(quote, start, &mut out, &mut pending)?;
            if self.at(0) == quote {
                break;
            }
            let space = self.pos;
            let mut breaks = Breaks::default();
            let mut more = String::new();
            loop {
                match self.at(0) {
                    b' ' | b'\t' => self.pos += 1,
                    _ if self.break_len(0) == 0 => break,
                    _ if escaped_break => more.push_str(self.newline()),
                    _ => breaks.push(self.newline()),
                }
            }
            if escaped_break || breaks.first.is_some() {
                let out = out.get_or_insert_default();
                if !escaped_break {
                    out.push_str(&self.text[pending..space]);
                }
                breaks.fold_into(out);
                out.push_str(&more);
                pending = self.pos;
            }
        }
        if let Some(out) = &mut out {
            out.push_str(&self.text[pending..self.pos]);
        }
        self.pos += 1;
        Ok(self.lexed(style, start, self.pos, out))
    }

    /// The characters up to space, a line break or the end; whether an escaped line break ended
    /// them, which takes the space after it along.
    fn quoted_run(&mut self, quote: u8, start: usize, out: &mut Option<String>, pending: &mut usize) -> Result<bool> {
        loop {
            self.pos += QUOTED_ENDS.find(&self.bytes[self.pos..]);
            match self.at(0) {
                0 | b' ' | b'\t' | b'\n' | b'\r' => return Ok(false),
                0xC2 | 0xE2 if self.break_len(0) > 0 => return Ok(false),
                b'\'' if quote == b'\'' && self.at(1) == b'\'' => {
                    // One of the two stays.
                    self.pos += 1;
                    let out = out.get_or_insert_default();
                    out.push_str(&self.text[*pending..self.pos]);
                    self.pos += 1;
                    *pending = self.pos;
                }
                byte if byte == quote => return Ok(false),
                b'\\' if quote == b'"' => {
                    let out = out.get_or_insert_default();
                    out.push_str(&self.text[*pending..self.pos]);
                    let line_break = self.break_len(1) > 0;
                    if line_break {
                        self.pos += 1;
                        self.newline();
                    } else {
                        out.push(self.escape(start)?);
                    }
                    *pending = self.pos;
                    if line_break {
                        return Ok(true);
                    }
                }
                _ => self.pos += 1,
            }
        }
    }

    /// The character of an escape.
    fn escape(&mut self, start: usize) -> Result<char> {
        let what = "while parsing a quoted scalar";
        let plain = match self.at(1) {
            b'\t' => '\t',
            byte @ (b' ' | b'\'') => char::from(byte),
            b'x' => return self.hex_escape(2, start),
            b'u' => return self.hex_escape(4, start),
            b'U' => return self.hex_escape(8, start),
            byte => match escaped(char::from(byte)) {
                Some(c) => c,
                None => return self.fail_since("found unknown escape character", start, what),
            },
        };
        self.pos += 2;
        Ok(plain)
    }

    fn hex_escape(&mut self, digits: usize, start: usize) -> Result<char> {
        let what = "while parsing a quoted scalar";
        self.pos += 2;
        let hex = self.bytes.get(self.pos..self.pos + digits).unwrap_or(b"?");
        let mut value = 0u32;
        for byte in hex {
            match char::from(*byte).to_digit(16) {
                Some(digit) => value = (value << 4) | digit,
                None => {
                    let message = "did not find expected hexdecimal number";
                    return self.fail_since(message, start, what);
                }
            }
        }
        let Some(value) = char::from_u32(value) else {
            let message = "found invalid Unicode character escape code";
            return self.fail_since(message, start, what);
        };
        self.pos += digits;
        Ok(value)
    }

    /// `|` or `>`.
    pub(super) fn block_scalar(&mut self) -> Result<()> {
        let start = self.pos;
        let literal = self.at(0) == b'|';
        let what = "while scanning a block scalar";
        self.pos += 1;
        let (chomp, increment) = self.block_header(start)?;
        while matches!(self.at(0), b' ' | b'\t') {
            self.pos += 1;
        }
        if self.at(0) == b'#' {
            self.comment();
        }
        // Without content the scalar is its header, comment not included.
        let mut end = start + self.text[start..self.pos].find(' ').unwrap_or(self.pos - start);
        if self.break_len(0) > 0 {
            self.newline();
        } else if self.at(0) != 0 {
            let message = "did not find expected comment or line break";
            return self.fail_since(message, start, what);
        }
        let mut indent = match increment {
            0 => 0,
            n => self.indent.max(0) + n,
        };
        let mut out = String::new();
        let mut last_break = "";
        let mut empty_lines = String::new();
        let mut was_indented = false;
        self.block_breaks(&mut indent, &mut empty_lines, start)?;
        while self.column() == indent && self.at(0) != 0 {
            let is_indented = matches!(self.at(0), b' ' | b'\t');
            if !literal && last_break == "\n" && !was_indented && !is_indented {
                if empty_lines.is_empty() {
                    out.push(' ');
                }
            } else {
                out.push_str(last_break);
            }
            out.push_str(&empty_lines);
            empty_lines.clear();
            was_indented = is_indented;
            let line = self.pos;
            self.pos = self.line_end();
            out.push_str(&self.text[line..self.pos]);
            end = self.pos;
            last_break = if self.at(0) == 0 { "" } else { self.newline() };
            self.block_breaks(&mut indent, &mut empty_lines, start)?;
        }
        if chomp != b'-' {
            out.push_str(last_break);
        }
        if chomp == b'+' {
            out.push_str(&empty_lines);
        }
        let style = if literal { Style::Literal } else { Style::Folded };
        let scalar = self.lexed(style, start, end, Some(out));
        self.tokens.push(scalar);
        Ok(())
    }

    /// The chomping indicator (`+`, `-`, else 0) and the indentation indicator, in either order.
    fn block_header(&mut self, start: usize) -> Result<(u8, i32)> {
        let (mut chomp, mut increment) = (0, 0);
        for _ in 0..2 {
            match self.at(0) {
                sign @ (b'+' | b'-') if chomp == 0 => chomp = sign,
                b'0' if increment == 0 => {
                    return self.fail_since(
                        "found an indentation indicator equal to 0",
                        start,
                        "while scanning a block scalar",
                    );
                }
                digit @ b'1'..=b'9' if increment == 0 => increment = i32::from(digit - b'0'),
                _ => break,
            }
            self.pos += 1;
        }
        Ok((chomp, increment))
    }

    /// Indentation and empty lines; finds out the indentation where it isn't known (0).
    fn block_breaks(&mut self, indent: &mut i32, empty: &mut String, start: usize) -> Result<()> {
        let mut deepest = 0;
        loop {
            while (*indent == 0 || self.column() < *indent) && self.at(0) == b' ' {
                self.pos += 1;
            }
            deepest = deepest.max(self.column());
            if (*indent == 0 || self.column() < *indent) && self.at(0) == b'\t' {
                return self.fail_since(
                    "found a tab character where an indentation space is expected",
                    start,
                    "while scanning a block scalar",
                );
            }
            if self.break_len(0) == 0 {
                break;
            }
            empty.push_str(self.newline());
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}
