//! What many places ask of the values of documents.

use crate::prelude::*;
use hcoplan_yaml::{Comment, Key};

/// Whether the boolean true is at a dotted path of plain keys.
pub(super) fn is_on(node: &Node, path: &str) -> bool {
    node.below(path).is_some_and(Node::is_true)
}

/// The value at a dotted path, if it says anything.
pub(super) fn said<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    node.below(path).filter(|value| !value.is_empty())
}

/// The text at a dotted path, if it has any letter.
pub(super) fn filled<'n>(node: &'n Node, path: &str) -> Option<&'n str> {
    said(node, path)?.as_str()
}

/// The entries at a dotted path; empty if no map is there.
pub(super) fn fields_at<'n>(node: &'n Node, path: &str) -> &'n [Entry] {
    node.below(path).map_or(&[], Node::entries)
}

/// A value and all those in it, in the order of the text.
pub(super) fn all_nodes(root: &Node) -> impl Iterator<Item = &Node> {
    let mut pending = vec![root];
    std::iter::from_fn(move || {
        let node = pending.pop()?;
        pending.extend(node.items().iter().rev());
        pending.extend(node.entries().iter().rev().map(|entry| &entry.value));
        Some(node)
    })
}

/// The value at a key of a mapping, to change it.
pub(super) fn value_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Map(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|entry| entry.key.text == key).map(|entry| &mut entry.value)
}

/// An entry whose key is where its value is.
pub(super) fn entry(key: &str, value: Node) -> Entry {
    Entry { key: Key { text: key.to_owned(), span: value.span }, value }
}

/// Whether an object has a mapping at a key.
pub(super) fn has_map(root: &Node, key: &str) -> bool {
    matches!(root.get(key).map(|node| &node.value), Some(Value::Map(_)))
}

/// The namespace of an object, empty without one, and its name.
pub(super) fn names_of(document: &Document) -> [&str; 2] {
    ["metadata.namespace", "metadata.name"].map(|field| document.text(field))
}

/// An object in a document as its own document, with the comments in it; if it is all of it, also with those around it.
pub(super) fn alone(root: Node, document: &Document) -> Document {
    let span = root.span;
    let is_in = |c: &&Comment| span == document.root.span || span.holds(c.span);
    let comments = document.comments.iter().filter(is_in).copied().collect();
    Document { file: Arc::clone(&document.file), index: document.index, span, root, comments }
}

/// A text as YAML.
pub(super) fn parsed(text: &str) -> yaml::Parsed {
    yaml::parse_yaml(&SourceFile::new("text", text))
}
