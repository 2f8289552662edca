//! What is between tokens: spaces, comments, line breaks.

use memchr::{memchr2, memchr2_iter};

use super::{Comment, Lexer, Span};

impl Lexer<'_> {
    /// Skips spaces, comments and line breaks.
    pub(super) fn skip_to_token(&mut self) {
        loop {
            match self.at(0) {
                b' ' => self.skip_spaces(),
                b'\t' if self.flow_level > 0 || !self.key_allowed => self.pos += 1,
                b'#' => self.comment(),
                _ if self.break_len(0) > 0 => {
                    self.newline();
                    self.key_allowed |= self.flow_level == 0;
                }
                _ => return,
            }
        }
    }

    /// Skips spaces, which are all that indents.
    pub(super) fn skip_spaces(&mut self) {
        let rest = &self.bytes[self.pos..];
        self.pos += rest.iter().position(|b| *b != b' ').unwrap_or(rest.len());
    }

    /// Keeps the comment that starts here.
    pub(super) fn comment(&mut self) {
        let start = self.pos;
        let before = &self.bytes[self.line_start..start];
        self.pos = self.line_end();
        self.comments.push(Comment {
            span: Span::new(start, self.pos),
            own_line: before.iter().all(|b| matches!(b, b' ' | b'\t')),
        });
    }

    /// The bytes of the line break at an offset; 0 when there is none.
    pub(super) fn break_len(&self, offset: usize) -> usize {
        match self.at(offset) {
            b'\n' => 1,
            b'\r' if self.at(offset + 1) == b'\n' => 2,
            b'\r' => 1,
            0xC2 if self.at(offset + 1) == 0x85 => 2,
            0xE2 if self.at(offset + 1) == 0x80 && self.at(offset + 2) & 0xFE == 0xA8 => 3,
            _ => 0,
        }
    }

    pub(super) fn is_blank_or_end(&self, offset: usize) -> bool {
        matches!(self.at(offset), 0 | b' ' | b'\t') || self.break_len(offset) > 0
    }

    /// Where this line's text ends.
    pub(super) fn line_end(&self) -> usize {
        let rest = &self.bytes[self.pos..];
        let line = &rest[..memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
        // The line breaks that only Unicode has are rare, and so is text that isn't ASCII.
        let other = memchr2_iter(0xC2, 0xE2, line).find(|at| self.break_len(*at) > 0);
        self.pos + other.unwrap_or(line.len())
    }

    /// Steps over a line break and gives it as it is folded: `\u2028` and `\u2029` stay.
    pub(super) fn newline(&mut self) -> &'static str {
        let len = self.break_len(0);
        let kept = match (len, self.at(2)) {
            (3, 0xA8) => "\u{2028}",
            (3, _) => "\u{2029}",
            _ => "\n",
        };
        self.pos += len;
        self.line += 1;
        self.line_start = self.pos;
        kept
    }

    pub(super) fn is_document_marker(&self) -> bool {
        let dots = [self.at(0), self.at(1), self.at(2)];
        (dots == *b"---" || dots == *b"...") && self.is_blank_or_end(3)
    }
}
