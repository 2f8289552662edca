//! The variables of Flux's Kustomizations.

use super::{Applied, printed};
use crate::prelude::*;
use crate::repo::names_of;
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

    /// That of a name, in a namespace or without one.
    pub(in crate::repo) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<Document>> {
        let of = |namespace: &str| self.0.get(&(namespace.to_owned(), name.to_owned()));
        of(namespace).or_else(|| of(""))
    }
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
        let config_map = Some(from.text("name")).filter(|_| from.text("kind") == "ConfigMap");
        match config_map.and_then(|name| config_maps.get(applied.document.text("metadata.namespace"), name)) {
            Some(document) => own(document, document.root.get("data"), &mut out),
            None => out.has_others = true,
        }
    }
    own(&applied.document, post.get("substitute"), &mut out);
    (out.has_others || !out.known.is_empty()).then_some(out)
}
