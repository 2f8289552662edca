//! Splits a file into its documents as kubectl does, before parsing.
//!
//! kubectl looks for lines that start with `---`, also inside other values: it splits a block scalar whose text starts
//! at column 0. Behind the dashes only a comment may follow. Source of the rule: `YAMLReader.Read` of
//! k8s.io/apimachinery/pkg/util/yaml.

use memchr::{memchr, memmem};

use crate::source::Span;

/// A piece of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk {
    /// One document's text, possibly nothing but comments. A leading `---` line belongs to it.
    Text(Span),
    /// A `---` line with text after it: kubectl stops reading here. The span is that text.
    BadSeparator(Span),
}

/// Cuts a file.
pub fn split(text: &str) -> Vec<Chunk> {
    let bytes = text.as_bytes();
    let mut chunks = Vec::new();
    let mut start = 0;
    for line in memmem::find_iter(bytes, "---") {
        if line > 0 && bytes[line - 1] != b'\n' {
            continue;
        }
        let dashes = line + 3;
        let end = memchr(b'\n', &bytes[dashes..]).map_or(text.len(), |n| dashes + n + 1);
        let rest = &text[dashes..end];
        let trimmed = rest.trim();
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            let offset = end - rest.trim_start().len();
            let span = Span::new(offset, offset + trimmed.len());
            chunks.push(Chunk::BadSeparator(span));
            return chunks;
        }
        if line > start {
            chunks.push(Chunk::Text(Span::new(start, line)));
            start = end;
        }
    }
    if start < text.len() {
        chunks.push(Chunk::Text(Span::new(start, text.len())));
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        split(text)
            .into_iter()
            .map(|c| match c {
                Chunk::Text(span) | Chunk::BadSeparator(span) => &text[span.range()],
            })
            .collect()
    }

    #[test]
    fn cuts_at_lines_of_dashes() {
        assert_eq!(texts("a\n---\nb\n--- # c\nc"), ["a\n", "b\n", "c"]);
        assert_eq!(texts("---\na\n---\n---\nb\n"), ["---\na\n", "---\nb\n"]);
        assert_eq!(texts("a: |\n  ---\n"), ["a: |\n  ---\n"]);
        assert_eq!(texts("a\r\n---  \r\nb"), ["a\r\n", "b"]);
        assert_eq!(texts(""), Vec::<&str>::new());
    }

    #[test]
    fn stops_at_text_behind_the_dashes() {
        assert_eq!(texts("a\n---  {a: b}\nc\n"), ["{a: b}"]);
        assert_eq!(split("----\n"), [Chunk::BadSeparator(Span::new(3, 4))]);
    }
}
