//! A value with its location.

use hcoplan_diagnostics::source::Location;
use hcoplan_yaml::{Document, Node};

/// A value with its location.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its location.
    pub place: Location,
}

impl<T> Located<T> {
    pub(super) fn new(value: T, document: &Document, node: &Node) -> Self {
        let place = document.location(node.span);
        Self { value, place }
    }
}

impl Located<String> {
    /// The text at a key of a mapping.
    pub(super) fn text(document: &Document, node: &Node, key: &str) -> Option<Self> {
        let node = node.get(key)?;
        Some(Self::new(node.as_str()?.to_owned(), document, node))
    }

    /// The release at a key as written: `4.20` without quotes is a number of YAML, and not `4.2`.
    pub(super) fn release(document: &Document, node: &Node, key: &str) -> Option<Self> {
        let node = node.get(key)?;
        Some(Self::new(document.written_text(node)?, document, node))
    }

    /// The texts at a key: one, or a list of them.
    pub(super) fn texts(document: &Document, node: &Node, key: &str) -> Vec<Self> {
        let Some(node) = node.get(key) else {
            return Vec::new();
        };
        let nodes = std::iter::once(node).chain(node.items());
        let text = |n: &Node| Some(Self::new(n.as_str()?.to_owned(), document, n));
        nodes.filter_map(text).collect()
    }
}
