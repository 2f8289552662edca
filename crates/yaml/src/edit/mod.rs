//! Changes to a file that keep everything else in it.
//!
//! A change is a few bytes: comments, quotes, order and layout stay as the author wrote them,
//! new text takes the indentation that the file already has. Each result is verified: the edits are
//! applied, the result is read again (or only the changed lines, where that is enough: [`excerpt`]),
//! and where it isn't the intended tree, or a comment got lost, the caller gets no edits but a
//! [`Reason`].

mod block;
mod editable;
mod excerpt;
mod flow;
mod layout;
mod plain;
mod relocate;
mod verify;

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use self::editable::EditableDocument;
pub use self::verify::{
    EditableFile, apply, apply_and_read, apply_and_verify, character_edits, difference, line_edits,
};
use super::{Document, Node, Path, Segment, Style, Value};
use crate::source::Edit;

/// A value as YAML on one line, valid in a block as well as in `{}` and `[]`.
pub fn inline(value: &Json) -> String {
    layout::inline(value, layout::Context::Flow, layout::Quotes::None)
}

/// One change to a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Puts a value at a path; what is missing above it is created.
    Set(Path, Json),
    /// Takes an entry or an item away, with the comments that belong to it. A collection that
    /// loses its last one stays, empty.
    Remove(Path),
    /// Adds an item to the list at a path, which is created where it is missing.
    Append(Path, Json),
    /// Gives the key at a path another name.
    Rename(Path, String),
    /// Takes an entry or item away, with the parents that it leaves empty, and puts it at another path, with its
    /// comments and notation; or another value, with the comments.
    Move(Path, Path, Option<Json>),
}

/// Why there are no edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The path leads nowhere: through a scalar, past a list's end.
    NoSuchPlace(String),
    /// The value is reached through an alias or a merge key, so that a change would change more
    /// than is meant.
    Alias,
    /// The value has an anchor, which others may refer to.
    Anchor,
    /// The layout is one that edits don't support.
    Layout,
    /// Two edits overlap, or one is outside of the file.
    Overlap,
    /// The result can't be read: what is wrong with it.
    Unreadable(String),
    /// The result is not what was meant: the first path at which it differs.
    Differs(String),
    /// A comment would be lost: its text.
    Comment(String),
    /// So many edits were tried on the file that reading it again would take too long.
    Costly,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchPlace(path) => write!(f, "the document has no {path}"),
            Self::Alias => f.write_str("the value comes from an alias or a merge key"),
            Self::Anchor => f.write_str("the value has an anchor that others may refer to"),
            Self::Layout => f.write_str("hcoplan can't edit this layout"),
            Self::Overlap => f.write_str("two edits overlap"),
            Self::Unreadable(message) => write!(f, "the result would not be readable: {message}"),
            Self::Differs(path) => write!(f, "the result would differ at {path}"),
            Self::Comment(text) => write!(f, "the comment {text:?} would be lost"),
            Self::Costly => f.write_str("too many edits of the file were tried already"),
        }
    }
}

impl Change {
    /// Makes the change to a tree.
    ///
    /// # Errors
    /// [`Reason::NoSuchPlace`]
    pub fn apply(&self, tree: &mut Json) -> Result<(), Reason> {
        self.apply_below(0, tree)
    }

    /// The path that it names.
    pub fn path(&self) -> &Path {
        match self {
            Self::Set(path, _) | Self::Append(path, _) => path,
            Self::Remove(path) | Self::Rename(path, _) | Self::Move(path, ..) => path,
        }
    }

    /// What is at a path once the change is made to a tree: only as much of the tree as that needs
    /// is copied.
    ///
    /// # Errors
    /// [`Reason::NoSuchPlace`]
    pub fn value_after(&self, root: &Node, path: &Path) -> Result<Option<Json>, Reason> {
        let is_move = matches!(self, Self::Move(..));
        let is_inside = !is_move && self.path().0.len() > path.0.len() && self.path().0.starts_with(&path.0);
        let (nearest, depth) = root.nearest(path);
        let (depth, mut tree) = match (path.0.get(depth), &nearest.value) {
            _ if !is_inside => (0, root.to_json()),
            (None, _) => (depth, nearest.to_json()),
            (Some(Segment::Key(_)), Value::Map(_) | Value::Null) => (depth + 1, Json::Null),
            _ => (0, root.to_json()),
        };
        self.apply_below(depth, &mut tree)?;
        let rest = Path(path.0.get(depth..).unwrap_or_default().to_vec());
        Ok(rest.get(&tree).cloned())
    }

    /// Makes the change to what is at the first `depth` steps of its path, which has more.
    fn apply_below(&self, depth: usize, tree: &mut Json) -> Result<(), Reason> {
        match self {
            Self::Set(path, value) => *place(tree, path, depth)? = value.clone(),
            Self::Append(path, value) => {
                let list = place(tree, path, depth)?;
                if list.is_null() {
                    *list = Json::Array(Vec::new());
                }
                let items = list.as_array_mut().ok_or_else(|| no_such_place(path))?;
                items.push(value.clone());
            }
            Self::Move(from, to, value) => {
                let moved = from.get(tree).cloned().ok_or_else(|| no_such_place(from))?;
                let cut = relocate::cut(from, to, |path| relocate::len_of(path.get(tree)));
                Self::Remove(cut).apply(tree)?;
                if to.get(tree).is_some() {
                    return Err(no_such_place(to));
                }
                *place(tree, to, 0)? = value.clone().unwrap_or(moved);
            }
            Self::Remove(path) => {
                let gone = match (path.0.last(), place(tree, &path.parent(), depth)?) {
                    (Some(Segment::Key(key)), Json::Object(entries)) => entries.remove(key),
                    (Some(Segment::Index(i)), Json::Array(items)) if *i < items.len() => Some(items.remove(*i)),
                    _ => None,
                };
                gone.ok_or_else(|| no_such_place(path))?;
            }
            Self::Rename(path, name) => {
                let Json::Object(entries) = place(tree, &path.parent(), depth)? else {
                    return Err(no_such_place(path));
                };
                let value = match path.0.last() {
                    Some(Segment::Key(key)) => entries.remove(key),
                    _ => None,
                };
                let value = value.ok_or_else(|| no_such_place(path))?;
                entries.insert(name.clone(), value);
            }
        }
        Ok(())
    }
}

/// The value at a path, whose first `depth` steps lead to the tree; null values on the prefix become
/// what the path needs.
fn place<'t>(tree: &'t mut Json, path: &Path, depth: usize) -> Result<&'t mut Json, Reason> {
    let steps = path.0.get(depth..).unwrap_or_default();
    steps
        .iter()
        .try_fold(tree, |value, step| match step {
            Segment::Key(key) => {
                if value.is_null() {
                    *value = Json::Object(serde_json::Map::new());
                }
                let entries = value.as_object_mut();
                entries.map(|e| e.entry(key.clone()).or_insert(Json::Null))
            }
            Segment::Index(i) => {
                if value.is_null() {
                    *value = Json::Array(Vec::new());
                }
                let items = value.as_array_mut()?;
                if *i == items.len() {
                    items.push(Json::Null);
                }
                items.get_mut(*i)
            }
        })
        .ok_or_else(|| no_such_place(path))
}

fn no_such_place(path: &Path) -> Reason {
    Reason::NoSuchPlace(path.to_string())
}

/// The edits that make `changes`, one after the other, to a document. They are verified: applied
/// to the file they give the tree that is meant, and keep every comment but those of what was
/// removed.
///
/// # Errors
/// See [`Reason`].
pub fn edits(document: &Document, changes: &[Change]) -> Result<Vec<Edit>, Reason> {
    match excerpt::edits_alone(document, changes) {
        Some(edits) => Ok(edits),
        None => edits_of(&EditableFile::of(&document.file), document, changes),
    }
}

/// [`edits`] of a document whose file was read for them.
///
/// # Errors
/// See [`Reason`].
pub fn edits_of(before: &EditableFile, document: &Document, changes: &[Change]) -> Result<Vec<Edit>, Reason> {
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    // An item of a List has no paths of its own.
    let known = before.document(document.index);
    let known = known.filter(|known| known.span == document.span);
    let document = known.ok_or(Reason::Layout)?;
    if let Some(edits) = excerpt::edits(before, document, changes)? {
        return Ok(edits);
    }
    before.spend(before.file().text().len().saturating_mul(changes.len()))?;
    edits_in_turn(before, document, changes)
}

/// [`edits_of`], with the file read again after each change.
fn edits_in_turn(before: &EditableFile, document: &Document, changes: &[Change]) -> Result<Vec<Edit>, Reason> {
    let Some((last, first)) = changes.split_last() else {
        return Ok(Vec::new());
    };
    if first.is_empty() {
        return Ok(read_again(before, document, last)?.0);
    }
    // Later changes may build on earlier ones: each is made to what the one before it left.
    let mut after: Option<EditableFile> = None;
    for change in first {
        let current = after.as_ref().unwrap_or(before);
        let document = current.document(document.index).ok_or(Reason::Layout)?;
        let (_, made) = read_again(current, document, change)?;
        after = Some(made.with_layout(document.index, current.layout(document)));
    }
    let current = after.as_ref().unwrap_or(before);
    let document = current.document(document.index).ok_or(Reason::Layout)?;
    let (edits, _) = read_again(current, document, last)?;
    Ok(line_edits(before.file(), &apply(current.file().text(), &edits)?))
}

/// The start of the line with a place.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

/// The edits for a change, and the file after them, read as a whole. Reports a missing place before
/// what is wrong with the edits.
fn read_again(
    before: &EditableFile,
    document: &Document,
    change: &Change,
) -> Result<(Vec<Edit>, EditableFile), Reason> {
    let mut intended = before.documents().to_vec();
    let tree = intended.get_mut(document.index).ok_or(Reason::Layout)?;
    change.apply(tree)?;
    let Change::Move(from, to, value) = change else {
        let edits = edits_of_change(before, document, change)?;
        let after = apply_and_verify(before, &edits, &intended)?;
        return Ok((edits, after));
    };
    let verified = |edits: Vec<Edit>| {
        let after = apply_and_verify(before, &edits, &intended)?;
        if before.loses_comment(&edits) { Err(Reason::Layout) } else { Ok((edits, after)) }
    };
    if let Ok(done) = edits_of_change(before, document, change).and_then(verified) {
        return Ok(done);
    }
    // Lines can't be moved in every layout.
    let root = document.root.to_json();
    let value = value.as_ref().or_else(|| from.get(&root)).ok_or_else(|| no_such_place(from))?;
    let cut = EditableDocument::new(document, before.layout(document)).cut(from, to);
    verified(edits_in_turn(before, document, &[Change::Remove(cut), Change::Set(to.clone(), value.clone())])?)
}

fn edits_of_change(before: &EditableFile, document: &Document, change: &Change) -> Result<Vec<Edit>, Reason> {
    let editable = EditableDocument::new(document, before.layout(document));
    let edits = match change {
        Change::Set(path, value) => editable.set(path, value),
        Change::Remove(path) => editable.remove(path),
        Change::Rename(path, name) => editable.rename(path, name),
        Change::Move(from, to, value) => editable.relocate(from, to, value.as_ref()),
        Change::Append(path, value) => {
            let mut end = path.clone();
            let len = document.root.at(path).map_or(0, |list| list.items().len());
            end.0.push(Segment::Index(len));
            editable.set(&end, value)
        }
    };
    let edits = match edits {
        Err(Reason::Alias) => editable.write_out(change)?,
        edits => edits?,
    };
    Ok(edits.into_iter().map(|(span, text)| Edit { file: Arc::clone(&document.file), span, text }).collect())
}

impl EditableDocument<'_> {
    /// Puts a value at a path.
    fn set(&self, path: &Path, value: &Json) -> Result<Vec<editable::Splice>, Reason> {
        let (node, depth) = self.document.root.nearest(path);
        self.reject_alias(path, depth)?;
        if depth == path.0.len() {
            return self.replace(path, node, value);
        }
        let value = nested(&path.0[depth + 1..], value).ok_or_else(|| no_such_place(path))?;
        let here = Path(path.0[..depth].to_vec());
        match (&node.value, &path.0[depth]) {
            (Value::Map(entries), step @ Segment::Key(_)) if !entries.is_empty() => self.insert(node, step, &value),
            (Value::Seq(items), step @ Segment::Index(i)) if !items.is_empty() && *i == items.len() => {
                self.insert(node, step, &value)
            }
            (Value::Null | Value::Map(_), Segment::Key(key)) => {
                let entries = [(key.clone(), value)].into_iter().collect();
                self.replace(&here, node, &Json::Object(entries))
            }
            (Value::Null | Value::Seq(_), Segment::Index(0)) => self.replace(&here, node, &Json::Array(vec![value])),
            _ => Err(no_such_place(path)),
        }
    }

    fn remove(&self, path: &Path) -> Result<Vec<editable::Splice>, Reason> {
        self.reject_alias(path, path.0.len())?;
        let parent = path.parent();
        let holder = self.document.root.at(&parent).ok_or_else(|| no_such_place(path))?;
        let node = self.document.root.at(path).ok_or_else(|| no_such_place(path))?;
        let last_one = match &holder.value {
            Value::Map(entries) => entries.len() == 1,
            Value::Seq(items) => items.len() == 1,
            _ => return Err(no_such_place(path)),
        };
        match (path.0.last().ok_or_else(|| no_such_place(path))?, holder.style) {
            (step, Style::Flow) => self.remove_from_flow(holder, step),
            (Segment::Key(_), _) if last_one => self.empty_collection(&parent, holder, &serde_json::json!({})),
            (Segment::Index(_), _) if last_one => self.empty_collection(&parent, holder, &serde_json::json!([])),
            (step, _) => Ok(self.remove_entry(holder, self.start_of(holder, step)?, node)),
        }
    }

    fn rename(&self, path: &Path, name: &str) -> Result<Vec<editable::Splice>, Reason> {
        self.reject_alias(path, path.0.len())?;
        let holder = self.document.root.at(&path.parent()).ok_or_else(|| no_such_place(path))?;
        let key = self.document.root.key_at(path).ok_or_else(|| no_such_place(path))?;
        let old = self.text_of(key.span);
        let text = layout::key(name, self.context(holder), layout::Quotes::of(old));
        Ok(vec![(key.span, text)])
    }

    /// Writes an alias out with a change in it: where else its anchor is used, nothing changes.
    fn write_out(&self, change: &Change) -> Result<Vec<editable::Splice>, Reason> {
        let steps = &change.path().0;
        let prefixes = (0..steps.len()).map(|n| &steps[..n]);
        let alias = prefixes.filter_map(|prefix| Some((prefix, self.document.root.at_steps(prefix)?)));
        let (prefix, node) = alias.into_iter().find(|(_, node)| node.style == Style::Alias).ok_or(Reason::Alias)?;
        // A value from a merge key has no text of its own to edit.
        let own = |n: usize| self.document.root.key_at_steps(&prefix[..n]).map(|key| key.span);
        if (1..=prefix.len()).filter_map(own).any(|span| self.text_of(span).starts_with('*')) {
            return Err(Reason::Alias);
        }
        let path = Path(prefix.to_vec());
        let value = change.value_after(&self.document.root, &path)?.ok_or(Reason::Alias)?;
        self.replace(&path, node, &value)
    }

    /// Rejects a path that leads through an alias.
    fn reject_alias(&self, path: &Path, depth: usize) -> Result<(), Reason> {
        let on_the_way = |n: usize| self.document.root.at_steps(&path.0[..n]);
        let is_alias = |node: Option<&Node>| node.is_some_and(|n| n.style == Style::Alias);
        // The last one may be an alias if it is replaced as a whole.
        let inner = if depth == path.0.len() { depth } else { depth + 1 };
        if (0..inner).any(|n| is_alias(on_the_way(n))) {
            return Err(Reason::Alias);
        }
        let merged = self.document.root.key_at_steps(&path.0[..depth]);
        match merged {
            Some(key) if self.text_of(key.span).starts_with('*') => Err(Reason::Alias),
            _ => Ok(()),
        }
    }
}

/// The value with everything around it that `steps` name.
fn nested(steps: &[Segment], value: &Json) -> Option<Json> {
    steps.iter().rev().try_fold(value.clone(), |value, step| match step {
        Segment::Key(key) => Some(Json::Object([(key.clone(), value)].into_iter().collect())),
        Segment::Index(0) => Some(Json::Array(vec![value])),
        Segment::Index(_) => None,
    })
}

#[cfg(test)]
mod tests;
