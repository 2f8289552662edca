//! Applies edits and verifies the result.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;
use similar::{ChangeTag, TextDiff};

use super::Reason;
use super::layout::DocumentLayout;
use crate::source::Edit;
use crate::source::{SourceFile, Span};
use crate::{Comment, Document, Node, Parsed, Problem, ProblemKind, Value, parse};

/// A file's text with edits applied.
///
/// # Errors
/// [`Reason::Overlap`] when they overlap or don't fit the text.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, Reason> {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    // Stable: insertions at one place keep their order.
    ordered.sort_by_key(|e| (e.span.start, e.span.end));
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in ordered {
        let range = edit.span.range();
        let before = text.get(at..range.start).ok_or(Reason::Overlap)?;
        if text.get(range.clone()).is_none() {
            return Err(Reason::Overlap);
        }
        out.push_str(before);
        out.push_str(&edit.text);
        at = range.end;
    }
    out.push_str(text.get(at..).ok_or(Reason::Overlap)?);
    Ok(out)
}

/// A file as it is before edits: read once, for all that are tried out on it.
#[derive(Debug)]
pub struct EditableFile {
    file: Arc<SourceFile>,
    pub(super) documents: Vec<Arc<Document>>,
    trees: OnceCell<Vec<Json>>,
    /// Of each document, how it is laid out.
    layout: Vec<OnceCell<DocumentLayout>>,
    /// How many bytes may still be read again to try edits out.
    allowance: Cell<usize>,
    pub(super) comments: Vec<Span>,
    broken: usize,
    /// Whether nothing is wrong with how it reads.
    pub(super) is_sound: bool,
}

/// Whether a text reads as it is nevertheless: kubectl and kustomize disagree about a word, or the lines
/// of a list's item are examined as if they were a file.
fn is_harmless(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::ReadsDifferently | ProblemKind::NotAMapping)
}

/// How often a file may be read again, in all, to try edits out on it. Each edit is tried on few lines
/// where these tell; where they don't, many edits of a large file would take the square of its size.
const MAX_READ_AGAIN: usize = 2000;

/// The bytes that may be read again of a small file.
const MIN_READ_AGAIN_BYTES: usize = 8 << 20;

impl EditableFile {
    /// Reads a file.
    pub fn of(file: &Arc<SourceFile>) -> Self {
        let parsed = parse(file);
        let documents = parsed.documents.into_iter().map(Arc::new).collect();
        Self::read(file, documents, &parsed.comments, &parsed.problems)
    }

    /// A file that was read: its documents, the comments next to them, and what is wrong with it.
    pub fn read(
        file: &Arc<SourceFile>,
        documents: Vec<Arc<Document>>,
        comments: &[Comment],
        problems: &[Problem],
    ) -> Self {
        let inside = documents.iter().flat_map(|d| &d.comments);
        let mut comments: Vec<Span> = inside.chain(comments).map(|c| c.span).collect();
        comments.sort_unstable();
        Self {
            file: Arc::clone(file),
            layout: documents.iter().map(|_| OnceCell::new()).collect(),
            allowance: Cell::new(MAX_READ_AGAIN * file.text().len() + MIN_READ_AGAIN_BYTES),
            documents,
            trees: OnceCell::new(),
            comments,
            broken: problems.iter().filter(|p| p.kind.is_fatal()).count(),
            is_sound: problems.iter().all(is_harmless),
        }
    }

    /// The file.
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// Its documents, in order.
    pub fn documents(&self) -> &[Json] {
        let trees = || self.documents.iter().map(|d| d.root.to_json()).collect();
        self.trees.get_or_init(trees)
    }

    /// How one of them is laid out.
    pub(super) fn layout(&self, document: &Document) -> DocumentLayout {
        let read = || DocumentLayout::of(document);
        let cell = self.layout.get(document.index);
        cell.map_or_else(read, |cell| *cell.get_or_init(read))
    }

    /// The file with a given layout for one of its documents, in place of the detected one.
    pub(super) fn with_layout(self, index: usize, layout: DocumentLayout) -> Self {
        if let Some(cell) = self.layout.get(index) {
            cell.set(layout).ok();
        }
        self
    }

    /// Takes note that bytes are read again.
    ///
    /// # Errors
    /// [`Reason::Costly`] where these are too many.
    pub(super) fn spend(&self, bytes: usize) -> Result<(), Reason> {
        let left = self.allowance.get().checked_sub(bytes);
        self.allowance.set(left.unwrap_or_default());
        left.map(|_| ()).ok_or(Reason::Costly)
    }

    /// Whether so many edits were tried out on the file that further ones aren't.
    pub fn is_spent(&self) -> bool {
        self.allowance.get() == 0
    }

    /// One of them, with its places.
    pub fn document(&self, index: usize) -> Option<&Document> {
        self.documents.get(index).map(|d| &**d)
    }

    /// Whether edits of the file take a comment away: it is in what they replace, and none of them
    /// writes it again.
    pub fn loses_comment(&self, edits: &[Edit]) -> bool {
        let text = self.file.text();
        let mut gone: BTreeMap<&str, usize> = BTreeMap::new();
        for edit in edits {
            let first = self.comments.partition_point(|c| c.end <= edit.span.start);
            let inside = self.comments[first..].iter();
            for span in inside.take_while(|c| c.start < edit.span.end) {
                *gone.entry(&text[span.range()]).or_default() += 1;
            }
        }
        gone.into_iter().any(|(comment, count)| {
            let again = edits.iter().map(|e| e.text.matches(comment).count());
            again.sum::<usize>() < count
        })
    }
}

/// The file after the edits, if every document is then what `intended` says, in order, and every comment is still
/// there, except in what an edit only takes away.
///
/// # Errors
/// What is wrong with the result.
pub fn apply_and_verify(before: &EditableFile, edits: &[Edit], intended: &[Json]) -> Result<EditableFile, Reason> {
    let after = apply_and_read(before, edits)?;
    let found = &after.documents;
    if found.len() == intended.len() && found.iter().zip(intended).all(|(f, i)| node_equals(&f.root, i)) {
        return Ok(after);
    }
    let mut pairs = intended.iter().zip(after.documents()).enumerate();
    let differs = pairs.find_map(|(i, (a, b))| difference(a, b, &format!("[{i}]")));
    let lacking = || {
        let shorter = intended.len().min(found.len());
        (intended.len() != found.len()).then(|| format!("[{shorter}]"))
    };
    match differs.or_else(lacking) {
        Some(path) => Err(Reason::Differs(path)),
        None => Ok(after),
    }
}

/// The file after the edits, if it can be read as well as before and every comment is still there,
/// except in what an edit only takes away.
///
/// # Errors
/// What is wrong with the result.
pub fn apply_and_read(before: &EditableFile, edits: &[Edit]) -> Result<EditableFile, Reason> {
    let file = &before.file;
    let text = apply(file.text(), edits)?;
    let after = SourceFile::new(file.path(), text);
    let Parsed { documents, problems, comments } = parse(&after);
    let documents = documents.into_iter().map(Arc::new).collect();
    let after = EditableFile::read(&after, documents, &comments, &problems);
    if after.broken > before.broken {
        let problem = problems.into_iter().find(|p| p.kind.is_fatal());
        return Err(Reason::Unreadable(problem.map(|p| p.message).unwrap_or_default()));
    }
    let still = after.comments.iter().map(|s| &after.file.text()[s.range()]);
    match lost_comment(file.text(), &before.comments, edits, still) {
        Some(comment) => Err(Reason::Comment(comment.to_owned())),
        None => Ok(after),
    }
}

/// The first of a text's comments that is not among those that are `still` there, in order, although
/// no edit just takes it away.
pub(super) fn lost_comment<'t>(
    text: &'t str,
    comments: &[Span],
    edits: &[Edit],
    mut still: impl Iterator<Item = &'t str>,
) -> Option<&'t str> {
    let removed = |span: Span| {
        edits.iter().filter(|e| e.span.start <= span.start && span.end <= e.span.end).any(|e| e.text.is_empty())
    };
    let kept = comments.iter().filter(|span| !removed(**span));
    let mut kept = kept.map(|span| &text[span.range()]);
    kept.find(|comment| !still.any(|c| c == *comment))
}

/// Whether a node holds a value.
pub(super) fn node_equals(node: &Node, json: &Json) -> bool {
    match (&node.value, json) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::Number(a), Json::Number(b)) => a == b,
        (Value::String(a), Json::String(b)) => a == b,
        (Value::Seq(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| node_equals(a, b)),
        (Value::Map(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|e| b.get(&e.key.text).is_some_and(|b| node_equals(&e.value, b)))
        }
        _ => false,
    }
}

/// The first path at which two trees differ, after `path`.
pub fn difference(a: &Json, b: &Json, path: &str) -> Option<String> {
    match (a, b) {
        _ if a == b => None,
        (Json::Object(a), Json::Object(b)) => {
            let missing = b.keys().find(|key| !a.contains_key(*key)).cloned();
            let differs = a.iter().find_map(|(key, value)| {
                let other = b.get(key).unwrap_or(&Json::Null);
                let path = format!("{path}.{key}");
                if b.contains_key(key) { difference(value, other, &path) } else { Some(path) }
            });
            differs.or_else(|| missing.map(|key| format!("{path}.{key}")))
        }
        (Json::Array(a), Json::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(i, (a, b))| difference(a, b, &format!("{path}[{i}]")))
        }
        _ => Some(path.to_owned()),
    }
}

/// The edits from a file's text to another, line by line.
pub fn line_edits(file: &Arc<SourceFile>, new: &str) -> Vec<Edit> {
    edits_between(file, &TextDiff::from_lines(file.text(), new))
}

/// The edits from a text to another, character by character.
pub fn character_edits(file: &Arc<SourceFile>, new: &str) -> Vec<Edit> {
    edits_between(file, &TextDiff::from_chars(file.text(), new))
}

fn edits_between(file: &Arc<SourceFile>, diff: &TextDiff<'_, '_, str>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut at = 0;
    let mut open = false;
    for change in diff.iter_all_changes() {
        let part = change.value();
        if change.tag() == ChangeTag::Equal {
            at += part.len();
            open = false;
            continue;
        }
        if !open {
            let span = Span::new(at, at);
            let file = Arc::clone(file);
            edits.push(Edit { file, span, text: String::new() });
            open = true;
        }
        let edit = edits.last_mut().expect("one was just pushed");
        if change.tag() == ChangeTag::Delete {
            at += part.len();
            edit.span.end = Span::new(at, at).end;
        } else {
            edit.text.push_str(part);
        }
    }
    edits
}
