//! Finds the objects in lists and in other [wrappers].
//!
//! kubectl treats everything with `items` as a list, kustomize everything whose kind ends in `List`, and both expand
//! nested lists. Items without a kind have the list's. Source: `decodeToList` of apimachinery's unstructured.

use std::borrow::Cow;

use hcoplan_yaml::Key;

use super::mentions::HCO;
use super::nodes::alone;
use super::statements::StatementKind;
use super::wrappers::unknown::{fill_in_defaults, fill_in_known_values};
use super::wrappers::{self, Unknown, Wrapper};
use crate::prelude::*;

/// An object of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'n> {
    pub(super) node: &'n Node,
    /// The list that determines its kind if it has none.
    list: Option<&'n Node>,
    /// Its wrapper, if that determines how it is read.
    pub(super) wrapper: Option<Wrapper<'n>>,
    /// Whether it is in the document's list, not in a nested one.
    pub(super) is_direct: bool,
}

/// Whether a document is a list or wrapper.
pub(super) fn is_list(root: &Node) -> bool {
    items(root).is_some() || wrappers::wrapped_nodes(root).is_some()
}

fn items(node: &Node) -> Option<&[Node]> {
    match &node.get("items")?.value {
        Value::Seq(items) => Some(items),
        // `decodeToList` asks only whether the key is there.
        Value::Null => Some(&[]),
        _ => None,
    }
}

/// An object that is in no list.
pub(super) fn single(node: &Node) -> Object<'_> {
    Object { node, list: None, wrapper: None, is_direct: false }
}

/// The objects of a list in the order of the text. An object of HCO's group with `items` whose kind isn't a list is
/// also an object, as for kustomize.
pub(super) fn objects(root: &Node) -> Vec<Object<'_>> {
    let mut out = Vec::new();
    add(root, None, None, 0, &mut out);
    out
}

fn add<'n>(
    node: &'n Node,
    list: Option<&'n Node>,
    wrapper: Option<Wrapper<'n>>,
    depth: usize,
    out: &mut Vec<Object<'n>>,
) {
    let list = list.filter(|_| node.text("kind").is_empty());
    let object = Object { node, list, wrapper, is_direct: depth == 1 };
    let Some(items) = items(node) else {
        let Some(inside) = wrappers::wrapped_nodes(node) else {
            return out.push(object);
        };
        for (inner, own) in inside {
            // The outer template is expanded before the inner one is examined.
            let own = wrapper.filter(|outer| outer.is_template).unwrap_or(own);
            add(inner, None, Some(own), depth + 1, out);
        }
        return;
    };
    if wrappers::group(node) == HCO && !node.text("kind").ends_with("List") {
        out.push(object);
    }
    for item in items {
        add(item, Some(node), wrapper, depth + 1, out);
    }
}

impl<'n> Object<'n> {
    /// Its API version, or the list's.
    pub(super) fn api_version(&self) -> &'n str {
        self.list.unwrap_or(self.node).text("apiVersion")
    }

    /// Its kind, or that of the list's items.
    pub(super) fn kind(&self) -> Cow<'n, str> {
        let own = self.node.text("kind");
        match self.list {
            Some(list) => list.text("kind").trim_end_matches("List").into(),
            None => own.into(),
        }
    }

    /// Whether it is of HCO's API group, or of a templated one.
    pub(super) fn is_ours(&self) -> bool {
        super::unrecognized::is_ours(self.api_version(), &self.kind())
    }

    /// The object as its own document.
    pub(super) fn as_document(&self, document: &Document) -> Document {
        self.resolved(document).0
    }

    /// The object that a Template creates if nobody sets its parameters, as its own document.
    pub(super) fn created(&self, document: &Document, template: &Wrapper<'_>) -> Document {
        let mut object = self.as_document(document);
        fill_in_defaults(&mut object.root, template);
        object
    }

    /// The object as its own document, with its unknown values.
    pub(super) fn resolved(&self, document: &Document) -> (Document, Vec<Unknown>) {
        let mut root = self.node.clone();
        if let (Some(list), Value::Map(entries)) = (self.list, &mut root.value) {
            for key in ["apiVersion", "kind"] {
                let Some(given) = list.entry(key) else {
                    continue;
                };
                let mut value = given.value.clone();
                if key == "kind" {
                    value.value = Value::String(self.kind().into_owned());
                }
                entries.retain(|e| e.key.text != key);
                let key = Key { text: key.to_owned(), span: given.key.span };
                entries.push(Entry { key, value });
            }
        }
        let is_read = self.is_ours() || StatementKind::of(self.node).is_some();
        let unknown = if is_read { fill_in_known_values(&mut root, self.wrapper.as_ref()) } else { Vec::new() };
        (alone(root, document), unknown)
    }
}
