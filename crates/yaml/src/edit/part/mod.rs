//! Reading again only the lines that an edit changed.
//!
//! An edit is verified by reading the file again, most of which is what it was. Where entries of a
//! block mapping stand on lines of their own, those lines read the same alone and in the file:
//!
//! - The reader comes to the first of them in the state that it was in before the edit. The bytes
//!   in front are the same, and what may look ahead (a bare word, a block scalar) ends at a key of
//!   the mapping's column, whatever its name: the first line begins with one, before and after.
//! - Between them it only compares columns with those of the open collections, of which the
//!   mapping's own is the least that counts until something stands further left; that ends the
//!   lines' only node, and lines of more than one node are refused.
//! - Behind them it is in the old state again. What was open in the lines ends at the next key or
//!   dash, which isn't indented deeper than they are, as it ends at the end of a text.
//! - Nothing else reaches across: there are no anchors, aliases, tags and merge keys in the
//!   document, no key stands both in the lines and beside them, and the limits are far.
//! - Lines are lines, and a key on its own begins its entry: there are no line breaks that only
//!   YAML has, and no keys that a `?` makes.
//!
//! So the file reads as what is meant if the lines do. Whatever is not as simple, or not as meant,
//! is not said to be made, and the whole file is read.

use std::ops::Range;

use memchr::{memchr, memrchr};
use serde_json::Value as Json;

use super::plain::is_plain;
use super::verify::{Before, apply_within, is, lost_comment};
use super::{Change, Segment};
use crate::parse::parse_lines;
use crate::source::Edit;
use crate::source::Span;
use crate::{Chunk, Comment, Document, Entry, Limits, Node, Path, Style, Value, split};

/// Whether the edits certainly make the change to a document, and nothing else, and keep every
/// comment but those that they only take away; `false` where only the whole file can tell.
pub(super) fn is_made(
    before: &Before,
    document: &Document,
    change: &Change,
    edits: &[Edit],
) -> bool {
    let text = before.file().text();
    if !before.is_sound || !before.is_plain(document) || !is_small(text, edits) {
        return false;
    }
    let path = change.path();
    let mut parts = parts(document, path, edits).into_iter().rev();
    let lines = parts.find_map(|part| part.below(text, edits).or_else(|| part.lines(text, edits)));
    let affordable = |lines: &Lines<'_>| before.spend(lines.text.len()).is_ok();
    lines.is_some_and(|lines| affordable(&lines) && lines.read_as(before, change, edits))
}

/// Whether the text with the edits is certainly within the limits. No character makes more than
/// three values: `?` may be a mapping, its key and its value.
pub(super) fn is_small(text: &str, edits: &[Edit]) -> bool {
    let limits = Limits::current();
    let added: usize = edits.iter().map(|e| e.text.len()).sum();
    let length = text.len().saturating_add(added);
    length <= limits.max_bytes && length.saturating_add(1).saturating_mul(3) <= limits.max_nodes
}

/// Entries of a block mapping that all of the edits lie in.
struct Part<'d> {
    holder: &'d Node,
    /// How many collections are around it.
    depth: usize,
    /// The column of its keys.
    column: usize,
    entries: Range<usize>,
    /// Where the line behind the last entry of the mapping begins.
    end: usize,
}

/// A part as it is after the edits.
struct Lines<'d> {
    part: Part<'d>,
    /// The bytes that it had before.
    span: Range<usize>,
    text: String,
}

/// The parts that the edits lie in, each inside of the one before it, on the way that the path
/// goes.
fn parts<'d>(document: &'d Document, path: &Path, edits: &[Edit]) -> Vec<Part<'d>> {
    let text = document.file.text();
    let mut parts = Vec::new();
    let (Some(first), Some(last)) = (
        edits.iter().map(|e| e.span.start as usize).min(),
        edits.iter().map(|e| e.span.end as usize).max(),
    ) else {
        return parts;
    };
    let (mut node, mut end) = (&document.root, document.span.end as usize);
    for (depth, step) in path.0.iter().enumerate() {
        if node.style != Style::Block {
            break;
        }
        let Some(column) = start_column(text, node.span.start as usize) else {
            break;
        };
        match (&node.value, step) {
            (Value::Map(entries), Segment::Key(key)) => {
                let line = |e: &Entry| (e.key.span.start as usize).saturating_sub(column);
                let from = entries.partition_point(|e| line(e) <= first);
                let Some(from) = from.checked_sub(1) else {
                    break;
                };
                let to = entries.partition_point(|e| line(e) < last).max(from + 1);
                let part = Part {
                    holder: node,
                    depth,
                    column,
                    entries: from..to,
                    end,
                };
                let Some(behind) = part.line(text, to).filter(|at| last <= *at) else {
                    break;
                };
                parts.push(part);
                if to > from + 1 || entries[from].key.text != *key {
                    break;
                }
                (node, end) = (&entries[from].value, behind);
            }
            (Value::Seq(items), Segment::Index(index)) => {
                let Some(item) = items.get(*index) else {
                    break;
                };
                if let Some(next) = items.get(index + 1) {
                    let between = item.span.end as usize..next.span.start as usize;
                    match dash(text, column, between) {
                        Some(dash) => end = dash,
                        None => break,
                    }
                }
                node = item;
            }
            _ => break,
        }
    }
    parts
}

/// The column at which a collection begins; `None` where more than spaces and dashes stand in front
/// of it on its line.
pub(super) fn start_column(text: &str, at: usize) -> Option<usize> {
    let before = text.as_bytes().get(..at)?;
    let line = memrchr(b'\n', before).map_or(0, |line| line + 1);
    let is_indent = before[line..].iter().all(|b| matches!(b, b' ' | b'-'));
    is_indent.then_some(at - line)
}

/// Where the line begins that has a list's next dash: behind the item above it only empty lines
/// and comments come before.
pub(super) fn dash(text: &str, column: usize, between: Range<usize>) -> Option<usize> {
    let mut at = between.start;
    loop {
        at += memchr(b'\n', text.as_bytes().get(at..between.end)?)? + 1;
        let line = text.get(at..)?;
        let start = line.trim_start_matches(' ');
        if !start.starts_with(['#', '\n', '\r']) {
            let is_dash = line.len() - start.len() == column && start.starts_with('-');
            return is_dash.then_some(at);
        }
    }
}

impl<'d> Part<'d> {
    /// The mapping's entries above the part, in it, and below it.
    fn entries(&self) -> Option<(&'d [Entry], &'d [Entry], &'d [Entry])> {
        let (above, rest) = self.holder.entries().split_at_checked(self.entries.start)?;
        let (old, below) = rest.split_at_checked(self.entries.len())?;
        Some((above, old, below))
    }

    /// Where the line of an entry begins, or the one behind the last; `None` where more than its
    /// indentation stands in front of its key.
    fn line(&self, text: &str, entry: usize) -> Option<usize> {
        let Some(entry) = self.holder.entries().get(entry) else {
            return Some(self.end);
        };
        let key = entry.key.span.start as usize;
        let line = key.checked_sub(self.column)?;
        let is_line = line == 0 || text.as_bytes().get(line - 1) == Some(&b'\n');
        (is_line && is_blank(text.get(line..key)?)).then_some(line)
    }

    /// The lines behind the mapping with the one entry more that is all that the edits add to it.
    /// Above them nothing but a block scalar could end otherwise than it did.
    fn below(&self, text: &str, edits: &[Edit]) -> Option<Lines<'d>> {
        let [
            Edit {
                span, text: new, ..
            },
        ] = edits
        else {
            return None;
        };
        let (before, behind) = text.split_at_checked(span.start as usize)?;
        let line_break = match behind.starts_with('\r') {
            true => "\r\n",
            false => "\n",
        };
        let new = new.strip_prefix(line_break)?;
        let start = before.len() + line_break.len();
        let same = text
            .get(start..self.end)
            .filter(|_| behind.starts_with(line_break))?;
        let rest = before
            .get(self.holder.span.end as usize..)?
            .trim_start_matches([' ', '\t']);
        let is_line_end = rest.is_empty() || rest.starts_with('#') && !rest.contains('\n');
        let is_insertion = span.start == span.end && is_line_end;
        if !is_insertion || matches!(last(self.holder).style, Style::Literal | Style::Folded) {
            return None;
        }
        let entries = self.holder.entries().len();
        Some(Lines {
            part: Part {
                entries: entries..entries,
                ..*self
            },
            span: start..self.end,
            text: [new, line_break, same].concat(),
        })
    }

    /// The lines after the edits, with those of the entry above or below where the edits touch the
    /// first line: they have to begin with a key, and to end with a line break, unless the text does.
    fn lines(mut self, text: &str, edits: &[Edit]) -> Option<Lines<'d>> {
        for _ in 0..2 {
            let span = self.line(text, self.entries.start)?..self.line(text, self.entries.end)?;
            let changed = apply_within(text, span.clone(), edits).ok()?;
            let start = changed.get(self.column..)?;
            if !start.starts_with([' ', '#', '\r', '\n']) && is_blank(&changed[..self.column]) {
                let is_whole = span.end == text.len() || changed.ends_with('\n');
                return is_whole.then_some(Lines {
                    part: self,
                    span,
                    text: changed,
                });
            }
            match self.entries.start.checked_sub(1) {
                Some(above) => self.entries.start = above,
                None if self.entries.end < self.holder.entries().len() => self.entries.end += 1,
                None => return None,
            }
        }
        None
    }
}

/// The last of what is in a node, itself when nothing is.
fn last(node: &Node) -> &Node {
    let entry = node.entries().last().map(|e| &e.value);
    entry.or(node.items().last()).map_or(node, last)
}

pub(super) fn is_blank(indentation: &str) -> bool {
    indentation.bytes().all(|b| b == b' ')
}

impl Lines<'_> {
    /// The entries as they are read after the edits, with the comments of the lines, if the file
    /// then has these in the place of the part's and is otherwise what it was.
    fn read(&self) -> Option<(Node, Vec<Comment>)> {
        let limits = Limits::current();
        let limits = Limits {
            max_depth: limits.max_depth.checked_sub(self.part.depth)?,
            ..limits.clone()
        };
        // kubectl cuts a file before it reads any of it.
        let all = Chunk::Text(Span::new(0, self.text.len()));
        if split(&self.text) != [all] || !is_plain(&self.text) {
            return None;
        }
        let (root, comments) = parse_lines(&self.text, &limits)?;
        let is_map = root.style == Style::Block && !root.entries().is_empty();
        let (above, _, below) = self.part.entries()?;
        let beside = |e: &Entry| above.iter().chain(below).any(|o| o.key.text == e.key.text);
        let is_apart = !root.entries().iter().any(beside);
        let column = self.part.column;
        let begins = root.span.start as usize == column && is_blank(self.text.get(..column)?);
        (is_map && begins && is_apart).then_some((root, comments))
    }

    /// Whether they read as what the change makes of the entries, and have their comments.
    fn read_as(&self, before: &Before, change: &Change, edits: &[Edit]) -> bool {
        let (Some((root, comments)), Some((_, old, _))) = (self.read(), self.part.entries()) else {
            return false;
        };
        let pair = |e: &Entry| (e.key.text.clone(), e.value.to_json());
        let mut meant = Json::Object(old.iter().map(pair).collect());
        if change.apply_below(self.part.depth, &mut meant).is_err() || !is(&root, &meant) {
            return false;
        }
        let known = &before.comments;
        let from = known.partition_point(|c| (c.start as usize) < self.span.start);
        let to = known.partition_point(|c| (c.start as usize) < self.span.end);
        let still = comments.iter().map(|c| &self.text[c.span.range()]);
        lost_comment(before.file().text(), &known[from..to], edits, still).is_none()
    }
}

#[cfg(test)]
mod tests;
