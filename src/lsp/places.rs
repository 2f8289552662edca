//! Converts between positions of the protocol and byte offsets.
//!
//! A line ends with `\n`, `\r\n` or `\r`. A character is a UTF-16 code unit, unless the client accepts UTF-8, which is
//! cheaper for both. Source: the specification, "Text Documents" and "Position Encoding Kind".

use crate::prelude::*;
use lsp_types::{Position, PositionEncodingKind};

use crate::source::Span;

/// The unit of a position's character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Encoding {
    /// A byte of UTF-8.
    Utf8,
    /// A UTF-16 code unit.
    #[default]
    Utf16,
}

impl Encoding {
    /// The best encoding offered by a client; UTF-16 is mandatory.
    pub(super) fn of(offered: Option<&[PositionEncodingKind]>) -> Self {
        let has_utf8 = offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8));
        if has_utf8 { Self::Utf8 } else { Self::Utf16 }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
        }
    }
}

/// The lines of a text.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// The offset of each line.
    starts: Vec<usize>,
    encoding: Encoding,
    /// Characters of the client's first line that this text lacks: the byte order mark.
    lead: usize,
}

/// The byte order mark, which isn't part of the text.
pub(super) const MARK: char = '\u{feff}';

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        Self { text, starts, encoding, lead: 0 }
    }

    /// For a client whose text starts with a byte order mark.
    pub(super) fn behind_mark(mut self, is_marked: bool) -> Self {
        if is_marked {
            self.lead = self.encoding.width(MARK);
        }
        self
    }

    /// The position of an offset, rounded down if it is beyond the end or inside a character.
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|s| *s <= offset) - 1;
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        let lead = if line == 0 { self.lead } else { 0 };
        let width: usize = before.chars().map(|c| self.encoding.width(c)).sum();
        Position::new(number(line), number(width + lead))
    }

    /// The offset of a position, limited to the line's or the text's end.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line).copied() else {
            return self.text.len();
        };
        let end = self.starts.get(line + 1).copied();
        let content = self.text.get(start..end.unwrap_or(self.text.len()));
        let content = content.unwrap_or_default();
        let content = match end {
            Some(_) => content.trim_end_matches('\n').trim_end_matches('\r'),
            None => content,
        };
        let lead = if line == 0 { self.lead } else { 0 };
        let mut left = (position.character as usize).saturating_sub(lead);
        let mut at = start;
        for c in content.chars() {
            let width = self.encoding.width(c);
            if left < width {
                break;
            }
            left -= width;
            at += c.len_utf8();
        }
        at
    }

    /// The range of a span.
    pub(super) fn range(&self, span: Span) -> Range {
        let Span { start, end } = span;
        let (start, end) = (start as usize, end.max(start) as usize);
        Range::new(self.position(start), self.position(end))
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé😀z\r\nb\rc\n\nlast";

    #[test]
    fn positions_and_bytes_are_the_same_places() {
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let lines = Lines::new(TEXT, encoding);
            for (at, _) in TEXT.char_indices().chain([(TEXT.len(), ' ')]) {
                // No position is between \r and \n.
                let expected = if at == 9 { 8 } else { at };
                let position = lines.position(at);
                assert_eq!(lines.offset(position), expected, "{encoding:?} {position:?}");
            }
        }
    }

    #[test]
    fn counts_characters_as_agreed_with_the_client() {
        let at = |encoding| Lines::new(TEXT, encoding).position(7);
        assert_eq!(at(Encoding::Utf8), Position::new(0, 7));
        assert_eq!(at(Encoding::Utf16), Position::new(0, 4));
        let lines = Lines::new(TEXT, Encoding::Utf16);
        assert_eq!(lines.position(TEXT.len()), Position::new(4, 4));
        // Inside a surrogate pair, after a line, after the text.
        assert_eq!(lines.offset(Position::new(0, 3)), 3);
        assert_eq!(lines.offset(Position::new(0, 99)), 8);
        assert_eq!(lines.offset(Position::new(99, 0)), TEXT.len());
        assert_eq!(lines.position(9000), Position::new(4, 4));
    }

    #[test]
    fn a_byte_order_mark_counts_for_the_client_only() {
        let lines = Lines::new("ab\nc", Encoding::Utf16).behind_mark(true);
        assert_eq!(lines.position(1), Position::new(0, 2));
        assert_eq!(lines.offset(Position::new(0, 2)), 1);
        assert_eq!(lines.position(3), Position::new(1, 0));
    }

    #[test]
    fn chooses_the_cheapest_encoding_of_the_client() {
        use PositionEncodingKind as Kind;
        assert_eq!(Encoding::of(None), Encoding::Utf16);
        assert_eq!(Encoding::of(Some(&[])), Encoding::Utf16);
        assert_eq!(Encoding::of(Some(&[Kind::UTF16, Kind::UTF8])), Encoding::Utf8);
        assert_eq!(Encoding::of(Some(&[Kind::UTF32])), Encoding::Utf16);
    }
}
