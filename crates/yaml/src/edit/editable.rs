//! A document's text and its layout: line ends, indentation, how lists are below their key.

use crate::source::Span;
use crate::{Document, Node, Segment, Style};

use super::layout::{Context, DocumentLayout, column};
use super::{Reason, line_start};

/// Bytes and what replaces them.
pub(super) type Splice = (Span, String);

/// A document, ready to be changed.
pub(super) struct EditableDocument<'d> {
    pub(super) document: &'d Document,
    /// The whole file: spans count from its start.
    pub(super) text: &'d str,
    pub(super) layout: DocumentLayout,
}

impl<'d> EditableDocument<'d> {
    pub(super) fn new(document: &'d Document, layout: DocumentLayout) -> Self {
        let text = document.file.text();
        Self { document, text, layout }
    }

    /// What a value inside of `holder` may look like.
    pub(super) fn context(&self, holder: &Node) -> Context {
        match holder.style {
            _ if self.layout.json => Context::Json,
            Style::Flow => Context::Flow,
            _ => Context::Block,
        }
    }

    pub(super) fn text_of(&self, span: Span) -> &'d str {
        self.text.get(span.range()).unwrap_or("")
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        line_start(self.text, at)
    }

    /// Where the line's text ends, its line break not included.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let end = rest.find('\n').unwrap_or(rest.len());
        at + end - usize::from(rest[..end].ends_with('\r'))
    }

    /// The start of the next line, or the end of the text.
    pub(super) fn next_line(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |n| at + n + 1)
    }

    /// Characters between the line's start and a place.
    pub(super) fn column(&self, at: usize) -> usize {
        column(self.text, at)
    }

    /// Behind the colon of a key.
    pub(super) fn after_colon(&self, key: Span) -> Option<usize> {
        let end = key.end as usize;
        let rest = &self.text[end..];
        let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest[space..].starts_with(':').then_some(end + space + 1)
    }

    /// Where an entry begins: at its key, or at the `? ` or anchor in front of it.
    fn entry_start(&self, key: Span) -> Result<usize, Reason> {
        let start = key.start as usize;
        let line = self.line_start(start);
        let before = self.text[line..start].trim_end();
        match before.chars().last() {
            None | Some('-') => Ok(start),
            Some('?') => Ok(line + before.len() - 1),
            Some(_) => Err(Reason::Layout),
        }
    }

    /// Where an entry or item of a block collection begins.
    pub(super) fn start_of(&self, holder: &Node, step: &Segment) -> Result<usize, Reason> {
        match step {
            Segment::Key(key) => self.entry_start(holder.entry(key).ok_or(Reason::Layout)?.key.span),
            Segment::Index(index) => self.dash(holder, *index).ok_or(Reason::Layout),
        }
    }

    /// The dash of an item of a block list.
    pub(super) fn dash(&self, list: &Node, index: usize) -> Option<usize> {
        let start = list.span.start as usize;
        let Some(before) = index.checked_sub(1) else {
            return Some(start);
        };
        let column = self.column(start);
        let item = list.items().get(index)?.span.start as usize;
        let mut line = self.next_line(list.items().get(before)?.span.end as usize);
        while line <= item && line < self.text.len() {
            let text = &self.text[line..self.line_end(line)];
            let indent = text.len() - text.trim_start_matches(' ').len();
            if indent == column && text[indent..].starts_with('-') {
                return Some(line + indent);
            }
            line = self.next_line(line);
        }
        None
    }
}
