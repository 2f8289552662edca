//! Moves fields as lines of text, which keeps their layout except for the indentation.

use hcoplan_diagnostics::finding::{Applicability, Fix};
use hcoplan_diagnostics::source::SourceFile;
use hcoplan_yaml::edit::{Change, line_edits};
use hcoplan_yaml::{Node, Path, Segment, Value, parse};

use serde_json::Value as Json;

use super::{Shape, with_comments};

impl Shape<'_, '_> {
    /// A fix that moves fields of the object with their comments. `removed` are the removed paths: the fields or their
    /// parents. Moves whole lines if possible, else rewrites the fields.
    pub fn relocation(
        &self,
        title: impl Into<String>,
        applicability: Applicability,
        moves: &[(Path, Path)],
        removed: &[Path],
    ) -> Option<Fix> {
        let root = &self.document.root;
        let title = title.into();
        let value = |from: &Path, to: &Path| {
            let node = root.at(from)?;
            let is_text = self.schema.field(to).is_some_and(|field| field.kind == "string");
            Some(match node.to_json() {
                // The value of a label is a string in any notation.
                value @ (Json::Bool(_) | Json::Number(_)) if is_text => value.to_string().into(),
                value => value,
            })
        };
        let set = moves.iter().map(|(from, to)| Some(Change::Set(to.clone(), value(from, to)?)));
        let set = set.collect::<Option<Vec<_>>>()?;
        let changes: Vec<Change> = removed.iter().cloned().map(Change::Remove).chain(set).collect();
        if let Some(text) = self.as_lines(moves, removed, &changes) {
            return Some(Fix { title, applicability, edits: line_edits(&self.document.file, &text) });
        }
        with_comments(self.document, self.fix(title, applicability, &changes)?, moves)
    }

    /// The file with the fields' lines moved; `None` if the result differs from the changes.
    fn as_lines(&self, moves: &[(Path, Path)], removed: &[Path], changes: &[Change]) -> Option<String> {
        let [removed] = removed else {
            return None;
        };
        let (document, (_, to)) = (self.document, moves.first()?);
        let (text, root) = (document.file.text(), &document.root);
        let cut = lines_of(text, root, removed)?;
        // The existing parents of the new path, except removed ones.
        let (_, depth) = root.nearest(to);
        let inside = if to.starts_with(removed) { removed.0.len() - 1 } else { depth };
        let depth = depth.min(to.0.len() - 1).min(inside);
        let above = Path(to.0.get(..depth)?.to_vec());
        let around = root.at(&above)?;
        let first = around.entries().first()?;
        let column = column(text, first.key.span.start as usize)?;
        let at = if above == removed.parent() {
            cut.0
        } else {
            let others = around.entries().iter().filter(|e| above.key(&e.key.text) != *removed);
            let last = others.max_by_key(|e| e.value.span.end)?;
            line_end(text, last.value.span.end as usize)
        };
        let mut moved = String::new();
        let mut indent = column;
        let levels = to.0.get(depth..to.0.len() - 1)?;
        for level in levels {
            let Segment::Key(key) = level else {
                return None;
            };
            moved.push_str(&format!("{}{key}:\n", " ".repeat(indent)));
            indent += 2;
        }
        for (from, _) in moves {
            let (start, end) = lines_of(text, root, from)?;
            let own = self::column(text, root.key_at(from)?.span.start as usize)?;
            for line in text.get(start..end)?.split_inclusive('\n') {
                let bare = line.trim_start_matches(' ');
                let blanks = (line.len() - bare.len() + indent).saturating_sub(own);
                moved.push_str(&" ".repeat(if bare.trim().is_empty() { 0 } else { blanks }));
                moved.push_str(bare);
            }
        }
        let mut new = text.to_owned();
        if at >= cut.1 {
            new.insert_str(at, &moved);
            new.replace_range(cut.0..cut.1, "");
        } else {
            new.replace_range(cut.0..cut.1, "");
            new.insert_str(at, &moved);
        }
        self.is_meant(&new, changes).then_some(new)
    }

    /// Whether a text of the file equals the result of the changes, with all comments.
    pub(super) fn is_meant(&self, text: &str, changes: &[Change]) -> bool {
        let document = self.document;
        let mut intended = document.root.to_json();
        if changes.iter().try_for_each(|change| change.apply(&mut intended)).is_err() {
            return false;
        }
        let read = parse(&SourceFile::new(document.file.path(), text));
        let comments = |documents: &[hcoplan_yaml::Document]| documents.iter().map(|d| d.comments.len()).sum::<usize>();
        let before = parse(&document.file).documents;
        read.documents.len() == before.len()
            && read.documents.get(document.index).is_some_and(|read| read.root.to_json() == intended)
            && comments(&read.documents) == comments(&before)
            && !read.problems.iter().any(|problem| problem.kind.is_fatal())
    }
}

/// The lines of an entry of a block, with the comments directly above it; `None` if it shares a line.
fn lines_of(text: &str, root: &Node, path: &Path) -> Option<(usize, usize)> {
    let key = root.key_at(path)?.span.start as usize;
    let value = root.at(path)?;
    let own = column(text, key)?;
    let mut start = key - own;
    while let Some(above) = text.get(..start.checked_sub(1)?) {
        let line = above.rfind('\n').map_or(0, |end| end + 1);
        let is_comment = above.get(line..)?.trim_start().starts_with('#') && column(text, line + own).is_some();
        if !is_comment || above.as_bytes().get(line + own) != Some(&b'#') {
            break;
        }
        start = line;
    }
    // A block's text ends with a line break.
    let end = value.span.end as usize;
    let is_ended = matches!(value.value, Value::String(_)) && text.get(..end)?.ends_with('\n');
    Some((start, if is_ended { end } else { line_end(text, end) }))
}

/// The column of an offset if only spaces precede it on its line.
fn column(text: &str, at: usize) -> Option<usize> {
    let line = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    text.get(line..at)?.bytes().all(|b| b == b' ').then_some(at - line)
}

/// The end of an offset's line, including the line break.
fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end + 1)
}
