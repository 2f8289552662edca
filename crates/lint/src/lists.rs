//! The content of values that may be absent.

pub(crate) use hcoplan_kubernetes::tree::{elements, members, texts};

use crate::prelude::*;
use serde_json::Value;

/// The items of a list; empty for anything else.
pub(crate) fn items(node: Option<&Node>) -> &[Node] {
    node.map_or(&[], Node::items)
}

/// The entries of a mapping; empty for anything else.
pub(crate) fn entries(node: Option<&Node>) -> &[Entry] {
    node.map_or(&[], Node::entries)
}

/// A value as JSON; null if absent.
pub(crate) fn json_of(node: Option<&Node>) -> Value {
    node.map(Node::to_json).unwrap_or_default()
}

/// Items in their order, each once.
pub(crate) fn distinct<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}

/// The labels of a mapping.
pub(crate) fn labels_of(node: Option<&Node>) -> impl Iterator<Item = (String, String)> {
    entries(node).iter().filter_map(|e| Some((e.key.text.clone(), e.value.as_str()?.to_owned())))
}

/// The name of an object, else empty.
pub(crate) fn name_of(document: &Document) -> &str {
    document.text("metadata.name")
}

/// The namespace that an object sets, else empty.
pub(crate) fn namespace_of(document: &Document) -> &str {
    document.text("metadata.namespace")
}
