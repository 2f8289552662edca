//! The variables of Flux's Kustomizations.

use super::{Applied, printed};
use crate::prelude::*;
use crate::repo::nodes::{is_on, names_of};
use crate::repo::variables::Variables;

/// ConfigMaps by namespace and name.
#[derive(Debug, Default)]
pub(in crate::repo) struct ConfigMaps(BTreeMap<(String, String), Arc<Document>>);

impl ConfigMaps {
    /// Takes in an object if it is one.
    pub(super) fn add(&mut self, document: Arc<Document>) {
        if document.text("apiVersion") == "v1" && document.text("kind") == "ConfigMap" {
            let [namespace, name] = names_of(&document).map(ToOwned::to_owned);
            self.0.entry((namespace, name)).or_insert(document);
        }
    }

    /// The one that an item of an object's list names, in the object's namespace or without one.
    pub(in crate::repo) fn named_by(&self, by: &Document, item: &Node) -> Option<&Arc<Document>> {
        let of = |namespace: &str| self.0.get(&(namespace.to_owned(), item.text("name").to_owned()));
        let is_one = item.text("kind") == "ConfigMap";
        is_one.then(|| of(by.text("metadata.namespace")).or_else(|| of(""))).flatten()
    }
}

/// Whether Flux goes on without what an item of a list names and the repository lacks: an optional ConfigMap. A Secret is
/// rarely in the repository.
pub(in crate::repo) fn is_absent(from: &Node) -> bool {
    from.text("kind") == "ConfigMap" && is_on(from, "optional")
}

/// What a Kustomization substitutes; later sources win, and its own values win over those of all sources.
pub(super) fn variables(applied: &Applied, post: &Node, config_maps: &ConfigMaps) -> Option<Variables> {
    let mut out = Variables::default();
    let own = |document: &Arc<Document>, node: Option<&Node>, out: &mut Variables| {
        for entry in node.map_or(&[][..], Node::entries) {
            match printed(&entry.value) {
                Some(text) => {
                    out.known.insert(entry.key.text.clone(), (text, document.location(entry.value.span)));
                }
                None => out.has_others = true,
            }
        }
    };
    for from in post.list_at("substituteFrom") {
        match config_maps.named_by(&applied.document, from) {
            Some(document) => own(document, document.root.get("data"), &mut out),
            None => out.has_others |= !is_absent(from),
        }
    }
    own(&applied.document, post.get("substitute"), &mut out);
    (out.has_others || !out.known.is_empty()).then_some(out)
}
