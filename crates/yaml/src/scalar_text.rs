//! From a place inside a string to the bytes that it was written with.
//!
//! A JSON patch in an annotation is a string with a text of its own. Its parser counts in the
//! string; the caret has to be in the file, past quotes, escapes, indentation and folds.

use std::ops::Range;
use std::sync::Arc;

use super::{Document, Node, Style, Value};
use crate::source::{Edit, Span};

/// A part of a string and the bytes it comes from, both counted from the scalar's start.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    decoded: Range<usize>,
    source: Range<usize>,
    /// Whether both are the same bytes.
    verbatim: bool,
}

/// The bytes of `range` of a string, counted from the file's start.
///
/// An empty range gives the empty span in front of what follows. What isn't a string, or was
/// reached through an alias, gives the node's own span, and so does a range outside the string.
pub fn locate_in_scalar(document: &Document, node: &Node, range: Range<usize>) -> Span {
    ScalarPlaces::of(document, node).locate(range)
}

/// An edit that puts `text` in the place of a part of a string (an insertion where the part is empty),
/// written as the string's style wants it; `None` where that can't be done: an alias, a bare value that would
/// need quotes, a break inside a block.
pub fn edit_part(document: &Document, node: &Node, part: Range<usize>, text: &str) -> Option<Edit> {
    let written = match node.style {
        Style::SingleQuoted => text.replace('\'', "''"),
        Style::DoubleQuoted => {
            let quoted = serde_json::Value::from(text).to_string();
            quoted.get(1..quoted.len() - 1)?.to_owned()
        }
        Style::Literal | Style::Folded if !text.contains('\n') => text.to_owned(),
        Style::Plain if text.chars().all(char::is_alphanumeric) => text.to_owned(),
        _ => return None,
    };
    Some(Edit { file: Arc::clone(&document.file), span: locate_in_scalar(document, node, part), text: written })
}

/// How a literal block is written once its string is another one: with the header, the indentation and the end
/// that it has.
pub(crate) fn block_of(block: &str, string: &str) -> String {
    let mut lines = block.lines();
    let header = lines.next().unwrap_or("|-");
    let first = lines.find(|l| !l.trim().is_empty());
    let indent = first.map_or(0, |l| l.len() - l.trim_start().len());
    let body = string
        .trim_end()
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("\n{}{line}", " ".repeat(indent)) });
    let end = &block[block.trim_end().len()..];
    format!("{header}{}{end}", body.collect::<String>())
}

/// Where the bytes of a string are in its file: for many places of one scalar, which is read once.
#[derive(Debug, Clone)]
pub struct ScalarPlaces {
    span: Span,
    /// How long the string is.
    len: usize,
    /// `None` where only the whole can be pointed at.
    pieces: Option<Vec<Piece>>,
}

impl ScalarPlaces {
    /// Those of a node of a document.
    pub fn of(document: &Document, node: &Node) -> Self {
        let value = node.as_str().unwrap_or_default();
        let source = || document.file.text().get(node.span.range());
        let pieces = match &node.value {
            Value::String(value) => source().and_then(|s| pieces(s, node.style, value)),
            _ => None,
        };
        Self { span: node.span, len: value.len(), pieces }
    }

    /// As [`locate_in_scalar`].
    pub fn locate(&self, range: Range<usize>) -> Span {
        let found = || {
            let pieces = self.pieces.as_ref()?;
            let start = place(pieces, range.start, self.len)?.start;
            let end = match range.end.checked_sub(1) {
                Some(last) if range.end > range.start => place(pieces, last, self.len)?.end,
                _ => start,
            };
            let base = self.span.start as usize;
            Some(Span::new(base + start, base + end.max(start)))
        };
        found().unwrap_or(self.span)
    }
}

/// The bytes of one byte of the string; at its end the empty range after the last one.
fn place(pieces: &[Piece], at: usize, len: usize) -> Option<Range<usize>> {
    if at == len {
        let end = pieces.last().map_or(0, |p| p.source.end);
        return Some(end..end);
    }
    let before = pieces.partition_point(|p| p.decoded.end <= at);
    let piece = pieces.get(before).filter(|p| p.decoded.contains(&at))?;
    if !piece.verbatim {
        return Some(piece.source.clone());
    }
    let start = piece.source.start + (at - piece.decoded.start);
    Some(start..start + 1)
}

/// The pieces of a scalar; `None` when they don't add up to its value.
fn pieces(source: &str, style: Style, value: &str) -> Option<Vec<Piece>> {
    let read = |how: fn(&mut Reader<'_>, &str)| {
        let mut reader = Reader { source, pos: 0, decoded: String::with_capacity(value.len()), pieces: Vec::new() };
        how(&mut reader, value);
        (reader.decoded == value).then_some(reader.pieces)
    };
    match style {
        Style::Plain => read(|r, _| r.flow(None, true)),
        Style::SingleQuoted => read(|r, _| r.flow(Some('\''), true)),
        // JSON has no folds.
        Style::DoubleQuoted => read(|r, _| r.flow(Some('"'), true)).or_else(|| read(|r, _| r.flow(Some('"'), false))),
        Style::Literal => read(|r, value| r.block(value, true)),
        Style::Folded => read(|r, value| r.block(value, false)),
        Style::Block | Style::Flow | Style::Alias => None,
    }
}

struct Reader<'s> {
    source: &'s str,
    pos: usize,
    decoded: String,
    pieces: Vec<Piece>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.source[self.pos..]
    }

    /// The next bytes are what they are.
    fn verbatim(&mut self, len: usize) {
        let start = self.decoded.len();
        let source = self.pos..self.pos + len;
        self.decoded.push_str(&self.source[source.clone()]);
        self.pos = source.end;
        let decoded = start..self.decoded.len();
        match self.pieces.last_mut() {
            Some(last) if last.verbatim && last.source.end == source.start => {
                last.decoded.end = decoded.end;
                last.source.end = source.end;
            }
            _ if decoded.is_empty() => {}
            _ => self.pieces.push(Piece { decoded, source, verbatim: true }),
        }
    }

    /// Replaces the next bytes.
    fn replaced(&mut self, len: usize, by: &str) {
        let start = self.decoded.len();
        self.decoded.push_str(by);
        let source = self.pos..self.pos + len;
        self.pos = source.end;
        if !by.is_empty() {
            self.pieces.push(Piece { decoded: start..self.decoded.len(), source, verbatim: false });
        }
    }

    /// A plain or quoted scalar.
    fn flow(&mut self, quote: Option<char>, folds: bool) {
        self.pos += usize::from(quote.is_some());
        let end = self.source.len() - usize::from(quote.is_some());
        while self.pos < end {
            let rest = &self.source[self.pos..end];
            let space = rest.len() - rest.trim_start_matches(is_space).len();
            if space > 0 {
                match fold(&rest[..space]).filter(|_| folds) {
                    Some(folded) => self.replaced(space, &folded),
                    None => self.verbatim(space),
                }
            } else if quote == Some('\'') && rest.starts_with("''") {
                self.replaced(2, "'");
            } else if quote == Some('"') && rest.starts_with('\\') {
                let (len, text) = escape(rest);
                self.replaced(len, &text);
            } else {
                self.verbatim(rest.chars().next().map_or(1, char::len_utf8));
            }
        }
    }

    /// A block scalar. Its indentation is found by comparing its first line with the
    /// value.
    fn block(&mut self, value: &str, literal: bool) {
        self.pos = break_at(self.source).map_or(self.source.len(), |(at, len)| at + len);
        let empty = value.len() - value.trim_start_matches(is_break).len();
        for _ in value[..empty].chars() {
            let line = break_at(self.rest()).map_or(self.rest().len(), |(at, len)| at + len);
            let by = value[self.decoded.len()..].chars().next().map(String::from);
            self.replaced(line, &by.unwrap_or_default());
        }
        let leading = |text: &str| text.len() - text.trim_start_matches(' ').len();
        let indent = leading(self.rest()).saturating_sub(leading(&value[empty..]));
        let mut before = Line::default();
        let mut first = true;
        while self.pos < self.source.len() {
            let line = self.rest();
            let (end, width) = break_at(line).unwrap_or((line.len(), 0));
            let own = leading(&line[..end]).min(indent);
            if own == end {
                // A line of indentation only.
                before.more.push_str(kept(&line[end..end + width]));
                before.len += end + width;
                self.pos += end + width;
                continue;
            }
            let indented = line[own..].starts_with([' ', '\t']);
            self.pos -= before.len;
            let space = before.len + own;
            let folded = if first {
                before.more
            } else if !literal && before.end == "\n" && !before.indented && !indented {
                if before.more.is_empty() { " ".to_owned() } else { before.more }
            } else {
                before.end.to_owned() + &before.more
            };
            self.replaced(space, &folded);
            self.verbatim(end - own);
            first = false;
            let text = self.rest();
            before = Line { end: kept(&text[..width]), more: String::new(), indented, len: width };
            self.pos += width;
        }
        self.pos = self.source.len();
        let tail = value.get(self.decoded.len()..).unwrap_or("").to_owned();
        if tail.chars().all(is_break) {
            self.replaced(0, &tail);
        }
    }
}

/// The text between two lines of a block scalar.
#[derive(Default)]
struct Line {
    end: &'static str,
    more: String,
    indented: bool,
    /// Its bytes, which were stepped over already.
    len: usize,
}

pub(crate) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t') || is_break(c)
}

/// Where the first line break is, and how many bytes it has.
fn break_at(text: &str) -> Option<(usize, usize)> {
    let (at, c) = text.char_indices().find(|(_, c)| is_break(*c))?;
    let len = if text[at..].starts_with("\r\n") { 2 } else { c.len_utf8() };
    Some((at, len))
}

/// A line break as it ends up in the value.
fn kept(line_break: &str) -> &'static str {
    match line_break {
        "" => "",
        "\u{2028}" => "\u{2028}",
        "\u{2029}" => "\u{2029}",
        _ => "\n",
    }
}

/// The line breaks of a run of space, as they end up in the value.
fn breaks(mut space: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    while let Some((at, len)) = break_at(space) {
        found.push(kept(&space[at..at + len]));
        space = &space[at + len..];
    }
    found
}

/// What a run of space with line breaks becomes; `None` without one.
fn fold(space: &str) -> Option<String> {
    let breaks = breaks(space);
    let (first, more) = breaks.split_first()?;
    Some(match (*first, more) {
        ("\n", []) => " ".to_owned(),
        ("\n", more) => more.concat(),
        (first, more) => first.to_owned() + &more.concat(),
    })
}

/// The letters of escapes in double quotes, and what they mean.
pub(crate) const ESCAPES: [(char, char); 15] = [
    ('0', '\0'),
    ('a', '\u{7}'),
    ('b', '\u{8}'),
    ('t', '\t'),
    ('n', '\n'),
    ('v', '\u{B}'),
    ('f', '\u{C}'),
    ('r', '\r'),
    ('e', '\u{1B}'),
    ('"', '"'),
    ('\\', '\\'),
    ('N', '\u{85}'),
    ('_', '\u{A0}'),
    ('L', '\u{2028}'),
    ('P', '\u{2029}'),
];

/// What the letter of an escape means.
pub(crate) fn escaped(letter: char) -> Option<char> {
    ESCAPES.iter().find_map(|(own, c)| (*own == letter).then_some(*c))
}

/// An escape's length and its value; an escaped line break includes the space after it.
fn escape(text: &str) -> (usize, String) {
    let rest = &text[1..];
    // Looked for only here: a search for the next one would take each escape to the end of the text.
    if let Some((_, len)) = rest.starts_with(is_break).then(|| break_at(rest)).flatten() {
        let after = &rest[len..];
        let space = after.len() - after.trim_start_matches(is_space).len();
        return (1 + len + space, breaks(&after[..space]).concat());
    }
    let hex = |from: usize, digits: usize| {
        let digits = rest.get(from..from + digits)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let code = |digits: usize| {
        let code = hex(1, digits).unwrap_or(0xFFFD);
        // JSON writes characters beyond 16 bits as two.
        if (0xD800..0xDC00).contains(&code)
            && rest.get(5..7) == Some("\\u")
            && let Some(low) = hex(7, 4).filter(|low| (0xDC00..0xE000).contains(low))
        {
            return (12, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
        }
        (2 + digits, code)
    };
    let (len, code) = match rest.chars().next().unwrap_or('\\') {
        'x' => code(2),
        'u' => code(4),
        'U' => code(8),
        other => (1 + other.len_utf8(), u32::from(escaped(other).unwrap_or(other))),
    };
    (len.min(text.len()), char::from_u32(code).unwrap_or('\u{FFFD}').to_string())
}

/// Whether a character is a control character, changes the direction of text, breaks a line, or is
/// invisible (Unicode's `Default_Ignorable_Code_Point`, and blanks that look like no character).
pub fn is_invisible_or_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;
    use crate::{emit, parse};

    /// The bytes that `part` of the value at `a` is written with.
    fn written(text: &str, part: &str) -> String {
        let document = parse(&SourceFile::new("f.yaml", text)).documents.remove(0);
        let node = document.root.get("a").unwrap();
        let start = node.as_str().unwrap().find(part).unwrap();
        let span = locate_in_scalar(&document, node, start..start + part.len());
        text[span.range()].to_owned()
    }

    #[test]
    fn locates_parts_of_a_string_in_its_source() {
        assert_eq!(written("a: one two\n", "two"), "two");
        assert_eq!(written("a: one\n  two\n\n  three\n", "two\nthree"), "two\n\n  three");
        assert_eq!(written("a: 'it''s  so'\n", "'s"), "''s");
        assert_eq!(written("a: \"t\\tx\\u00e9 \\\n   y\"\n", "é y"), "\\u00e9 \\\n   y");
        assert_eq!(written("a: \"x\\n\"\n", "\n"), "\\n");
        assert_eq!(written("a: |\n  one\n    two\n", "two"), "two");
        assert_eq!(written("a: |2-\n    one\n  two\n", "two"), "two");
        assert_eq!(written("a: |\n\n\n  x\n  é y\n\n", "y"), "y");
        assert_eq!(written("a: >\n  one\n  two\n\n  three\n", "three"), "three");
        assert_eq!(written("a: >-\n  one\n   two\n  three\n", "two"), "two");
        assert_eq!(written("a: |\r\n  one\r\n  two\r\n", "two"), "two");
        assert_eq!(written("{\"a\": \"\\/x\\ud83d\\ude00y\"}", "😀y"), "\\ud83d\\ude00y");
        assert_eq!(written("a: |\n  x", "x\n"), "x");
    }

    #[test]
    fn locates_any_range() {
        let text = "a: 'x'\nb: [1]\nc: &c y\nd: *c\n";
        let document = parse(&SourceFile::new("f.yaml", text)).documents.remove(0);
        let find = |key: &str, range| {
            let node = document.root.get(key).unwrap();
            &text[locate_in_scalar(&document, node, range).range()]
        };
        assert_eq!(find("a", 0..0), "");
        assert_eq!(find("a", 1..1), "");
        assert_eq!(find("a", 5..9), "'x'");
        assert_eq!(find("b", 0..1), "[1]");
        assert_eq!(find("d", 0..1), "*c");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..Default::default()
        })]

        /// Every string's pieces add up, and each verbatim one is what is in the file.
        #[test]
        fn pieces_concatenate_to_the_string(value in "[-:,#a \t\n\r\u{1}\u{2028}é😀'\"\\\\{]{0,20}|(word |it's |\"q\" |  ){0,40}") {
            let texts = [
                emit(&serde_json::json!({ "a": value })),
                serde_json::json!({ "a": value }).to_string(),
                format!("a: |2\n  {}\n", value.replace(['\n', '\r', '\u{1}'], "\n  ")),
                format!("a: >2\n  {}\n", value.replace(['\n', '\r', '\u{1}'], "\n  ")),
                format!("a: >+\n\n  x\n  {}\n\n", value.replace(['\n', '\r', '\u{1}'], "\n  ")),
                format!("a: \"{}\"\n", value.replace(['"', '\\', '\u{1}'], "\\\n  ").replace('\n', "\n  ")),
                format!("a: '{}'\n", value.replace('\u{1}', "").replace('\'', "''").replace('\n', "\n  ")),
            ];
            for text in texts {
                let parsed = parse(&SourceFile::new("f.yaml", text.clone()));
                let Some(document) = parsed.documents.first() else { continue };
                let Some(node) = document.root.get("a") else { continue };
                let Value::String(value) = &node.value else { continue };
                let source = &text[node.span.range()];
                let found = pieces(source, node.style, value);
                let found = found.unwrap_or_else(|| panic!("{text:?} is {value:?}"));
                for piece in found.into_iter().filter(|p| p.verbatim) {
                    assert_eq!(&source[piece.source], &value[piece.decoded]);
                }
            }
        }
    }
}
