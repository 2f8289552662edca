//! Edits in block collections.

use serde_json::Value as Json;

use super::editable::{EditableDocument, Splice};
use super::layout::{self, Context, Quotes};
use super::{Reason, character_edits};
use crate::scalar_text::block_of;
use crate::source::{Edit, SourceFile, Span};
use crate::{Node, Path, Segment, Style, edit_part};

impl EditableDocument<'_> {
    /// Adds an entry or item after the last one of a collection.
    pub(super) fn insert(&self, holder: &Node, step: &Segment, value: &Json) -> Result<Vec<Splice>, Reason> {
        if holder.style == Style::Flow {
            return self.insert_in_flow(holder, step, value);
        }
        let column = self.column(holder.span.start as usize);
        let text = match step {
            Segment::Key(key) => self.layout.entry(key, value, column),
            Segment::Index(_) => self.layout.item(value, column),
        };
        let at = self.end_of(holder);
        Ok(vec![(Span::new(at, at), self.layout.new_line(column) + &text)])
    }

    /// The end of a block collection's last line, a comment on it and the empty lines that a
    /// `|+` keeps included.
    pub(super) fn end_of(&self, node: &Node) -> usize {
        let end = self.line_end(node.span.end as usize);
        let mut last = node;
        loop {
            let entry = last.entries().iter().map(|e| &e.value);
            let below = entry.chain(last.items()).max_by_key(|n| n.span.end);
            match below {
                Some(below) if below.span.end == last.span.end => last = below,
                _ => break,
            }
        }
        let header = self.text_of(last.span).lines().next().unwrap_or("");
        let keeps = matches!(last.style, Style::Literal | Style::Folded) && header.contains('+');
        if !keeps {
            return end;
        }
        let mut at = end;
        loop {
            let next = self.next_line(at);
            let line = &self.text[next..self.line_end(next)];
            if next == at || next == self.text.len() || !line.trim().is_empty() {
                return at;
            }
            at = self.line_end(next);
        }
    }

    /// Replaces the value at a path.
    pub(super) fn replace(&self, path: &Path, old: &Node, new: &Json) -> Result<Vec<Splice>, Reason> {
        let parent = path.parent();
        let holder = if path.0.is_empty() { None } else { self.document.root.at(&parent) };
        let context = match holder {
            None if self.layout.json => Context::Json,
            None => Context::Block,
            Some(holder) => self.context(holder),
        };
        if let Some(splices) = self.replace_lines(old, new) {
            return Ok(splices);
        }
        let own_flow = old.style == Style::Flow && !(old.items().is_empty() && old.entries().is_empty());
        let old_text = self.text_of(old.span);
        if context != Context::Block {
            let text = layout::inline(new, context, Quotes::of(old_text));
            return self.replace_in_flow(path, old, &text);
        }
        let (column, start) = match (path.0.last(), holder) {
            (None, _) | (_, None) => {
                let column = self.column(old.span.start as usize);
                let text = if layout::is_block(new) {
                    self.layout.block(new, column)
                } else {
                    layout::inline(new, context, Quotes::of(old_text))
                };
                return Ok(vec![(old.span, text)]);
            }
            (Some(Segment::Key(_)), Some(holder)) => {
                let key = self.document.root.key_at(path).ok_or(Reason::Layout)?;
                let after = self.after_colon(key.span).ok_or(Reason::Layout)?;
                (self.column(holder.span.start as usize), after)
            }
            (Some(Segment::Index(i)), Some(holder)) => {
                let dash = self.dash(holder, *i).ok_or(Reason::Layout)?;
                (self.column(dash) + 2, dash + 1)
            }
        };
        self.reject_properties(start, old)?;
        let is_item = matches!(path.0.last(), Some(Segment::Index(_)));
        let text = if own_flow || !layout::is_block(new) {
            let quotes = match old.style {
                Style::SingleQuoted | Style::DoubleQuoted => Quotes::of(old_text),
                _ => Quotes::None,
            };
            format!(" {}", layout::inline(new, context, quotes))
        } else if is_item {
            format!(" {}", self.layout.block(new, column))
        } else {
            self.layout.below_key(new, column)
        };
        Ok(self.put(start, old, column, &text))
    }

    /// Changes the parts of a text over several lines that are others, or else writes its block again: its lines stay
    /// as they are. `None` for other texts, and where the last line would end otherwise.
    fn replace_lines(&self, old: &Node, new: &Json) -> Option<Vec<Splice>> {
        let (was, new) = (old.as_str()?, new.as_str()?);
        let written = self.text_of(old.span);
        if !written.contains('\n') || was.ends_with('\n') != new.ends_with('\n') || new.starts_with([' ', '\n']) {
            return None;
        }
        let parts = character_edits(&SourceFile::new("", was), new).into_iter();
        let parts = parts.map(|part| edit_part(self.document, old, part.span.range(), &part.text));
        match parts.collect::<Option<Vec<Edit>>>() {
            Some(parts) => Some(parts.into_iter().map(|part| (part.span, part.text)).collect()),
            None => (old.style == Style::Literal).then(|| vec![(old.span, block_of(written, new))]),
        }
    }

    /// Puts `text` after the indicator that ends at `start`, in place of `old`; a comment on
    /// the indicator's line stays there.
    fn put(&self, start: usize, old: &Node, column: usize, text: &str) -> Vec<Splice> {
        let (from, to) = (old.span.start as usize, old.span.end as usize);
        let line_end = self.line_end(start);
        // The rest of the first line, and everything below.
        let (first, below) = text.split_at(text.find(self.layout.line_break).unwrap_or(text.len()));
        let header = match old.style {
            Style::Literal | Style::Folded => {
                let line = &self.text[from..self.line_end(from).min(to.max(from))];
                from + line.find([' ', '\t']).unwrap_or(line.len())
            }
            Style::Block => start,
            _ if to <= line_end => to,
            // A value over several lines that isn't a block: no comment can be in it.
            _ => return vec![(Span::new(start, to), text.to_owned())],
        };
        let mut splices = Vec::new();
        if old.style == Style::Block && from <= line_end {
            // `- a: 1`: the whole line is replaced.
            let gone = Span::new(start, self.block_end(old.span.end, column));
            return vec![(Span::new(start, start), text.to_owned()), (gone, String::new())];
        }
        let value_line_end = self.line_end(header.max(start));
        let first_span = match old.style {
            Style::Block => Span::new(start, start),
            _ => Span::new(start, header.max(start)),
        };
        if value_line_end == first_span.end as usize && to <= value_line_end {
            splices.push((first_span, text.to_owned()));
            return splices;
        }
        splices.push((first_span, first.to_owned()));
        let rest_end = match old.style {
            Style::Block => self.block_end(old.span.end, column),
            _ => to.max(value_line_end),
        };
        if rest_end > value_line_end || !below.is_empty() {
            splices.push((Span::new(value_line_end, rest_end), below.to_owned()));
        }
        splices
    }

    /// Rejects values with an anchor, and tags that would change what the new value means.
    fn reject_properties(&self, start: usize, old: &Node) -> Result<(), Reason> {
        let before = self.text.get(start..old.span.start as usize).unwrap_or("");
        let mut comment = false;
        for (i, c) in before.char_indices() {
            match c {
                '\n' => comment = false,
                '#' if before[..i].ends_with([' ', '\t', '\n']) => comment = true,
                '&' if !comment => return Err(Reason::Anchor),
                '!' if !comment => return Err(Reason::Layout),
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes a block collection empty: removes its entries and their comments.
    pub(super) fn empty_collection(&self, path: &Path, node: &Node, new: &Json) -> Result<Vec<Splice>, Reason> {
        if !path.0.is_empty() {
            return self.replace(path, node, new);
        }
        let start = node.span.start as usize;
        let column = self.column(start);
        let gone = Span::new(start, self.block_end(node.span.end, column));
        let text = layout::inline(new, Context::Block, Quotes::None);
        Ok(vec![(Span::new(start, start), text), (gone, String::new())])
    }

    /// The end of the line on which a value ends, and of the comments below that are indented
    /// deeper than `column`: they belong to the value.
    pub(super) fn block_end(&self, value_end: u32, column: usize) -> usize {
        let mut end = self.line_end(value_end as usize);
        loop {
            let next = self.next_line(end);
            let text = &self.text[next..self.line_end(next)];
            let indent = text.len() - text.trim_start_matches(' ').len();
            if next == self.text.len() || !text[indent..].starts_with('#') || indent <= column {
                return end;
            }
            end = self.line_end(next);
        }
    }

    /// Takes an entry or item away that begins at `start`, one of several.
    pub(super) fn remove_entry(&self, holder: &Node, start: usize, node: &Node) -> Vec<Splice> {
        let next = self.behind(holder, start, node);
        let span = if self.begins_line(start) {
            Span::new(self.own_comments(start), next)
        } else {
            // The first of a mapping in a list: what comes next moves up to its dash.
            let rest = &self.text[next..];
            let space = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            Span::new(start, next + space)
        };
        vec![(span, String::new())]
    }

    /// The line behind an entry or item that begins at `start`.
    pub(super) fn behind(&self, holder: &Node, start: usize, node: &Node) -> usize {
        let column = self.column(holder.span.start as usize);
        self.next_line(self.block_end(node.span.end.max(Span::new(start, start).end), column))
    }

    pub(super) fn begins_line(&self, start: usize) -> bool {
        self.text[self.line_start(start)..start].trim().is_empty()
    }

    /// The start of the lines of an entry that begins at `start`: comments right above, at the same column, are its own.
    pub(super) fn own_comments(&self, start: usize) -> usize {
        let mut first = self.line_start(start);
        while first > 0 {
            let above = self.line_start(first - 1);
            let text = &self.text[above..first];
            let indent = text.len() - text.trim_start_matches(' ').len();
            if indent != self.column(start)
                || !text[indent..].starts_with('#')
                || above < self.document.span.start as usize
            {
                break;
            }
            first = above;
        }
        first
    }
}
