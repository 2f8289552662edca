//! Tries changes on a few lines of a file, as if they were a file of their own.
//!
//! Reading a whole file again for each of its findings takes quadratic time. The lines that an entry of a block mapping
//! or an item of a block list has to itself parse the same without those around them:
//!
//! - The reader reaches the first of them in one state, independent of the lines before: what may look ahead (a bare
//!   word, a block scalar) ends at a key or dash of the collection's column.
//! - Between them it only compares columns with those of the open collections. The collection's own is the smallest
//!   that matters until a line is indented less.
//! - What was open in the lines ends at the next key or dash, which isn't indented deeper than they are, as it ends at
//!   the end of a text.
//! - Nothing else crosses the lines' ends: they have no anchors, aliases, tags or merge keys, and the limits are far.
//!
//! A document parses the same without the others of its file, since kubectl splits a file before it parses it. Where
//! the lines alone can't decide, the whole file is parsed.

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::layout::DocumentLayout;
use super::plain::is_plain;
use super::verify::{EditableFile, apply, node_equals};
use super::{Change, Reason, edits_in_turn};
use crate::source::Edit;
use crate::source::{SourceFile, Span};
use crate::{Document, Limits, Node, Path, Segment, Style, Value};

/// Lines that read the same alone.
struct Excerpt<'d> {
    /// What is in them: the value of the entry, the item, or the document's root.
    node: &'d Node,
    /// The steps that lead to it.
    steps: &'d [Segment],
    /// The bytes of the lines.
    lines: Range<usize>,
    /// The column of the key or dash; `None` for a whole document.
    column: Option<usize>,
}

/// The edits that make the changes one after the other, tried on the fewest lines that hold them;
/// `None` where only the whole file can tell.
///
/// # Errors
/// [`Reason::Costly`]
pub(super) fn edits(
    before: &EditableFile,
    document: &Document,
    changes: &[Change],
) -> Result<Option<Vec<Edit>>, Reason> {
    let text = before.file().text();
    if starts_as_json(text) {
        return Ok(None);
    }
    let few = smallest(document, text, common_steps(changes));
    let whole = Some(Excerpt::whole(document)).filter(|whole| whole.lines.len() < text.len());
    for excerpt in few.into_iter().chain(whole) {
        // Once as it is, and once after each change.
        let times = changes.len().saturating_add(1);
        before.spend(excerpt.lines.len().saturating_mul(times))?;
        let layout = before.layout(document);
        if let Some(edits) = excerpt.edits(document, layout, changes) {
            return Ok(Some(edits));
        }
    }
    Ok(None)
}

/// The same on a whole document, whose file nobody has read for edits; `None` where only the file
/// can tell.
pub(super) fn edits_alone(document: &Document, changes: &[Change]) -> Option<Vec<Edit>> {
    // An item of a List may share its lines with others.
    let is_whole = document.span != document.root.span;
    if !is_whole || starts_as_json(document.file.text()) {
        return None;
    }
    Excerpt::whole(document).edits(document, DocumentLayout::of(document), changes)
}

/// Whether a file is one JSON value after the other, which kubectl doesn't cut.
fn starts_as_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// The steps that lead to everything that the changes touch.
fn common_steps(changes: &[Change]) -> &[Segment] {
    // A change affects the collection around it; a move affects two, and parents that it leaves empty.
    let above = |path: &Path| path.0.len().saturating_sub(1);
    let mut all = changes.iter().flat_map(|change| {
        let steps = change.path().0.as_slice();
        match change {
            Change::Append(..) => [steps, steps],
            Change::Move(from, to, _) => [&steps[..above(from).min(1)], &to.0[..above(to).min(1)]],
            _ => [&steps[..above(change.path())]; 2],
        }
    });
    let first = all.next().unwrap_or_default();
    all.fold(first, |common, steps| {
        let pairs = common.iter().zip(steps);
        &common[..pairs.take_while(|(a, b)| a == b).count()]
    })
}

/// The fewest lines on the way that hold everything that the steps lead to.
fn smallest<'d>(document: &'d Document, text: &str, steps: &'d [Segment]) -> Option<Excerpt<'d>> {
    let (mut node, mut end) = (&document.root, document.span.end as usize);
    let mut found = None;
    for (depth, step) in steps.iter().enumerate() {
        if node.style != Style::Block {
            break;
        }
        let Some((lines, column, value)) = lines(text, node, step, end) else {
            break;
        };
        end = lines.end;
        node = value;
        let is_alone = text.get(lines.start..lines.start + column);
        if is_alone.is_some_and(is_blank) {
            found = Some(Excerpt { node, steps: &steps[..=depth], lines, column: Some(column) });
        }
    }
    found
}

/// The lines of an entry or item of a block collection that ends at `end`, the column of its key or
/// dash, and its value. The first line may begin with what isn't its own.
fn lines<'d>(text: &str, holder: &'d Node, step: &Segment, end: usize) -> Option<(Range<usize>, usize, &'d Node)> {
    let column = start_column(text, holder.span.start as usize)?;
    match (&holder.value, step) {
        (Value::Map(entries), Segment::Key(key)) => {
            let line = |at: usize| {
                let key = entries[at].key.span.start as usize;
                let line = key.checked_sub(column)?;
                let is_line = line == 0 || text.as_bytes().get(line - 1) == Some(&b'\n');
                is_line.then_some(line)
            };
            let at = entries.iter().position(|e| e.key.text == *key)?;
            let behind =
                if at + 1 < entries.len() { line(at + 1).filter(|l| is_blank(&text[*l..*l + column]))? } else { end };
            Some((line(at)?..behind, column, &entries[at].value))
        }
        (Value::Seq(items), Segment::Index(at)) => {
            let item = items.get(*at)?;
            let line = |at: usize| match at.checked_sub(1) {
                None => (holder.span.start as usize).checked_sub(column),
                Some(above) => {
                    let between = items[above].span.end..items[at].span.start;
                    dash(text, column, between.start as usize..between.end as usize)
                }
            };
            let behind = if at + 1 < items.len() { line(at + 1)? } else { end };
            Some((line(*at)?..behind, column, item))
        }
        _ => None,
    }
}

/// Whether the text with the edits is certainly within the limits. No character makes more than
/// three values: `?` may be a mapping, its key and its value.
fn is_small(text: &str, edits: &[Edit]) -> bool {
    let limits = Limits::DEFAULT;
    let added: usize = edits.iter().map(|e| e.text.len()).sum();
    let length = text.len().saturating_add(added);
    length <= limits.max_bytes && length.saturating_add(1).saturating_mul(3) <= limits.max_nodes
}

/// The column at which a collection begins; `None` where more than spaces and dashes are in front
/// of it on its line.
fn start_column(text: &str, at: usize) -> Option<usize> {
    let before = text.as_bytes().get(..at)?;
    let line = memrchr(b'\n', before).map_or(0, |line| line + 1);
    let is_indent = before[line..].iter().all(|b| matches!(b, b' ' | b'-'));
    is_indent.then_some(at - line)
}

/// Where the line begins that has a list's next dash: after the item above it only empty lines
/// and comments come before.
fn dash(text: &str, column: usize, between: Range<usize>) -> Option<usize> {
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

fn is_blank(indentation: &str) -> bool {
    indentation.bytes().all(|b| b == b' ')
}

impl<'d> Excerpt<'d> {
    /// All of a document.
    fn whole(document: &'d Document) -> Self {
        Self { node: &document.root, steps: &[], lines: document.span.range(), column: None }
    }

    /// The edits, if reading only these lines proves that they make the changes.
    fn edits(&self, document: &Document, layout: DocumentLayout, changes: &[Change]) -> Option<Vec<Edit>> {
        let all = document.file.text();
        let text = all.get(self.lines.clone())?;
        if !self.is_alone(text, all) {
            return None;
        }
        let file = SourceFile::new(document.file.path(), text);
        let lines = EditableFile::of(&file).with_layout(0, layout);
        let [alone] = &lines.documents[..] else {
            return None;
        };
        if !lines.is_sound || !self.is_read(&alone.root) {
            return None;
        }
        let changes: Vec<Change> = changes.iter().map(|c| self.inside(c)).collect();
        let edits = edits_in_turn(&lines, alone, &changes).ok()?;
        let after = apply(text, &edits).ok()?;
        if !self.is_alone(&after, all) || !is_small(all, &edits) || !self.is_flat(&changes) {
            return None;
        }
        let moved = |edit: Edit| Edit {
            file: Arc::clone(&document.file),
            span: Span::new(self.lines.start + edit.span.start as usize, self.lines.start + edit.span.end as usize),
            text: edit.text,
        };
        Some(edits.into_iter().map(moved).collect())
    }

    /// Whether the lines parse the same without the lines around them.
    fn is_alone(&self, text: &str, all: &str) -> bool {
        let ends = self.lines.end == all.len() || text.ends_with('\n');
        let Some(column) = self.column else {
            return ends && !starts_as_json(text);
        };
        let Some((indentation, rest)) = text.split_at_checked(column) else {
            return false;
        };
        let begins = is_blank(indentation) && !rest.starts_with([' ', '\t', '#', '\r', '\n']);
        begins && ends && is_plain(text)
    }

    /// Whether the root of the parsed lines equals the node, so that nothing was lost or added.
    fn is_read(&self, root: &Node) -> bool {
        let node = self.node.to_json();
        match self.steps.last() {
            None => node_equals(root, &node),
            Some(Segment::Index(_)) => matches!(root.items(), [item] if node_equals(item, &node)),
            Some(Segment::Key(key)) => {
                let entries = root.entries();
                matches!(entries, [e] if e.key.text == *key && node_equals(&e.value, &node))
            }
        }
    }

    /// A change, with its path as it is in the lines.
    fn inside(&self, change: &Change) -> Change {
        let inside = |path: &Path| {
            let Some(above) = self.steps.len().checked_sub(1) else {
                return path.clone();
            };
            let mut steps = path.0[above..].to_vec();
            if let Some(Segment::Index(at)) = steps.first_mut() {
                *at = 0;
            }
            Path(steps)
        };
        match change {
            Change::Set(path, value) => Change::Set(inside(path), value.clone()),
            Change::Remove(path) => Change::Remove(inside(path)),
            Change::Append(path, value) => Change::Append(inside(path), value.clone()),
            Change::Rename(path, name) => Change::Rename(inside(path), name.clone()),
            Change::Move(from, to, value) => Change::Move(inside(from), inside(to), value.clone()),
        }
    }

    /// Whether no change can exceed the depth limit, which counts from the document's root.
    fn is_flat(&self, changes: &[Change]) -> bool {
        let depth = |change: &Change| match change {
            Change::Set(path, value) | Change::Append(path, value) => path.0.len() + 1 + levels(value),
            Change::Move(_, to, value) => {
                to.0.len() + 1 + value.as_ref().map_or_else(|| levels(&self.node.to_json()), levels)
            }
            Change::Remove(_) | Change::Rename(..) => 0,
        };
        let deepest = changes.iter().map(depth).max().unwrap_or_default();
        self.steps.len() + deepest < Limits::DEFAULT.max_depth
    }
}

/// How deep collections are nested, at most.
fn levels(value: &serde_json::Value) -> usize {
    use serde_json::Value as Json;
    match value {
        Json::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Json::Object(entries) => 1 + entries.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}
