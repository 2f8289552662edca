//! Moves an entry with its comments and notation.

use std::ops::Range;

use serde_json::Value as Json;

use super::editable::{EditableDocument, Splice};
use super::layout::{self, Context, Quotes};
use super::{Reason, no_such_place};
use crate::source::Span;
use crate::{Node, Path, Segment, Style, Value};

/// The path that a move takes away: the moved one, or the topmost of its parents that only holds it. A parent that the
/// new path shares stays, and so does a field of the root.
pub(super) fn cut(from: &Path, to: &Path, len: impl Fn(&Path) -> usize) -> Path {
    let mut cut = from.clone();
    loop {
        let parent = cut.parent();
        let is_shared = to.0.len() > parent.0.len() && to.0.starts_with(&parent.0);
        if parent.0.len() < 2 || is_shared || len(&parent) != 1 {
            return cut;
        }
        cut = parent;
    }
}

/// The number of entries or items of a value.
pub(super) fn len_of(value: Option<&Json>) -> usize {
    match value {
        Some(Json::Object(entries)) => entries.len(),
        Some(Json::Array(items)) => items.len(),
        _ => 0,
    }
}

fn len_of_node(node: &Node) -> usize {
    node.entries().len() + node.items().len()
}

/// Where a moved entry goes.
struct Destination<'p> {
    /// The start of a line.
    at: usize,
    /// The column of the first new key.
    column: usize,
    /// The keys of new parents, then the entry's own.
    keys: &'p [Segment],
    /// What is removed for it: an empty collection.
    emptied: Option<Splice>,
}

impl EditableDocument<'_> {
    /// The path that a move of this document takes away.
    pub(super) fn cut(&self, from: &Path, to: &Path) -> Path {
        cut(from, to, |path| self.document.root.at(path).map_or(0, len_of_node))
    }

    /// Moves the lines of an entry to another path and indentation, or a given value with the comments of the entry.
    pub(super) fn relocate(&self, from: &Path, to: &Path, value: Option<&Json>) -> Result<Vec<Splice>, Reason> {
        self.reject_alias(from, from.0.len())?;
        let root = &self.document.root;
        let node = root.at(from).ok_or_else(|| no_such_place(from))?;
        let cut = self.cut(from, to);
        let lines = self.lines_of(&cut)?;
        let Destination { at, column, keys, emptied } = self.destination(to, &cut, &lines)?;
        let (last, parents) = keys.split_last().ok_or(Reason::Layout)?;
        let line_break = self.layout.line_break;
        let blanks = |column: usize| " ".repeat(column);
        let mut new = String::new();
        let mut inside = column;
        for (parent, below) in parents.iter().zip(&keys[1..]) {
            let Segment::Key(key) = parent else { return Err(Reason::Layout) };
            let key = layout::key(key, Context::Block, Quotes::None);
            new.push_str(&format!("{}{key}:{line_break}", blanks(inside)));
            inside += self.step_to(below);
        }
        // The entry's own lines come along as they are, with the comments in them.
        let own = match (value, root.key_at(from), (from.0.last(), last)) {
            (None, Some(key), (Some(Segment::Key(_)), Segment::Key(_))) => {
                let start = self.line_start(key.span.start as usize);
                self.lines_of(from).ok().map(|lines| (key.span, start..lines.end))
            }
            _ => None,
        };
        let kept = own.as_ref().map_or(lines.end..lines.end, |(_, kept)| kept.clone());
        let comments = self.document.comments.iter().filter(|c| {
            let at = c.span.start as usize;
            lines.contains(&at) && !kept.contains(&at)
        });
        let mut comments: Vec<_> = comments.collect();
        let behind = comments.pop_if(|last| own.is_none() && !last.own_line);
        for comment in comments {
            new.push_str(&format!("{}{}{line_break}", blanks(inside), self.text_of(comment.span)));
        }
        match (own, last) {
            (Some((key, kept)), Segment::Key(name)) => {
                let old = self.column(key.start as usize);
                let name = layout::key(name, Context::Block, Quotes::of(self.text_of(key)));
                new.push_str(&format!("{}{name}", blanks(inside)));
                let rest = &self.text[key.end as usize..kept.end];
                for (nth, line) in rest.split_inclusive('\n').enumerate() {
                    let bare = line.trim_start_matches(' ');
                    let depth = (line.len() - bare.len() + inside).saturating_sub(old);
                    match nth {
                        0 => new.push_str(line),
                        _ if bare.trim().is_empty() => new.push_str(bare),
                        _ => new.push_str(&format!("{}{bare}", blanks(depth))),
                    }
                }
                if !new.ends_with('\n') {
                    new.push_str(line_break);
                }
            }
            (_, last) => {
                let json = value.map_or_else(|| node.to_json(), Clone::clone);
                let entry = match last {
                    Segment::Key(name) => self.layout.entry(name, &json, inside),
                    Segment::Index(_) => self.layout.item(&json, inside),
                };
                let behind = behind.map(|comment| format!(" {}", self.text_of(comment.span)));
                let (first, rest) = entry.split_at(entry.find(line_break).unwrap_or(entry.len()));
                new.push_str(&format!("{}{first}{}{rest}{line_break}", blanks(inside), behind.unwrap_or_default()));
            }
        }
        if at == self.text.len() && at != lines.end && !self.text.ends_with('\n') {
            new.insert_str(0, line_break);
            new.truncate(new.len() - line_break.len());
        }
        let removed = (Span::new(lines.start, lines.end), String::new());
        Ok([removed, (Span::new(at, at), new)].into_iter().chain(emptied).collect())
    }

    /// How far an entry or item is indented below its key.
    fn step_to(&self, below: &Segment) -> usize {
        if matches!(below, Segment::Index(_)) { self.layout.list_step } else { self.layout.step }
    }

    /// The lines of an entry or item of a block collection, with the comments that belong to it.
    fn lines_of(&self, path: &Path) -> Result<Range<usize>, Reason> {
        let root = &self.document.root;
        let holder = root.at(&path.parent()).filter(|holder| holder.style == Style::Block).ok_or(Reason::Layout)?;
        let node = root.at(path).ok_or_else(|| no_such_place(path))?;
        let start = self.start_of(holder, path.0.last().ok_or(Reason::Layout)?)?;
        if !self.begins_line(start) {
            return Err(Reason::Layout);
        }
        Ok(self.own_comments(start)..self.behind(holder, start, node))
    }

    /// Where an entry at a path goes once what is cut is gone.
    fn destination<'p>(&self, to: &'p Path, cut: &Path, lines: &Range<usize>) -> Result<Destination<'p>, Reason> {
        let root = &self.document.root;
        let (mut around, mut depth) = root.nearest(to);
        if to.0.starts_with(&cut.0) {
            depth = cut.0.len() - 1;
            around = root.at(&cut.parent()).ok_or(Reason::Layout)?;
        }
        self.reject_alias(to, depth.min(to.0.len() - 1))?;
        let keys = to.0.get(depth..).filter(|keys| !keys.is_empty()).ok_or_else(|| no_such_place(to))?;
        let above = Path(to.0[..depth].to_vec());
        let emptied = match &around.value {
            Value::Map(_) | Value::Seq(_) if len_of_node(around) > 0 && around.style == Style::Block => {
                let column = self.column(around.span.start as usize);
                let last = Span::new(0, self.end_of(around)).end;
                let end = self.next_line(self.block_end(last, column));
                let at = match end {
                    _ if above == cut.parent() => lines.start,
                    end if lines.contains(&end) => lines.end,
                    end => end,
                };
                return Ok(Destination { at, column, keys, emptied: None });
            }
            Value::Map(_) | Value::Seq(_) if len_of_node(around) == 0 => true,
            Value::Null => false,
            _ => return Err(Reason::Layout),
        };
        let key = root.key_at(&above).ok_or(Reason::Layout)?;
        let after = self.after_colon(key.span).ok_or(Reason::Layout)?;
        let is_written = emptied || around.span.start as usize > after;
        let gone = Span::new(after, (around.span.end as usize).max(after));
        Ok(Destination {
            at: self.next_line(self.line_end(gone.end as usize)),
            column: self.column(key.span.start as usize) + self.step_to(&keys[0]),
            keys,
            emptied: is_written.then(|| (gone, String::new())),
        })
    }
}
