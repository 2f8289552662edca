//! What decides to which clusters something is applied: bindings, placements and projects that name it or that it names,
//! and the clusters that these select by their labels.

use hcoplan_kubernetes::text::last_part;

use super::variables::Named;
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::is_same_document;
use crate::repo::nodes::{all_nodes, fields_at};
use crate::repo::wrappers::group;

/// The label of Argo CD's Secrets of clusters.
pub(crate) const CLUSTER_SECRET: &str = "argocd.argoproj.io/secret-type";

/// The objects of a tree that decide it.
#[derive(Debug, Default)]
pub(super) struct Placing {
    /// Those that name what they place, by its kind and name.
    by_placed: BTreeMap<(String, String), Vec<Arc<Document>>>,
    clusters: Vec<Arc<Document>>,
}

/// The kinds and names that an object names; some keys imply the kind.
fn named(root: &Node) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    for node in all_nodes(root) {
        if node.get("metadata").is_none() {
            out.push((node.text("kind"), node.text("name")));
        }
        for entry in node.entries() {
            let kind = fields::pairs_of("placing.keys").find(|(key, _)| *key == entry.key.text);
            let Some((_, kind)) = kind else { continue };
            let names = entry.value.as_str().into_iter().chain(strings(entry.value.items()));
            out.extend(names.map(|name| (kind, last_part(name, '/'))));
        }
    }
    out
}

/// The labels by which controllers select a cluster that an object declares; `None` for another object.
pub(crate) fn labels_of_cluster(document: &Document) -> Option<&[Entry]> {
    let (root, kind) = (&document.root, document.text("kind"));
    let own = format!("{}/{kind}", group(root));
    if let Some((_, labels)) = fields::pairs_of("placing.clusters").find(|(known, _)| *known == own) {
        return Some(fields_at(root, labels));
    }
    // Argo CD's Secrets, and what makes them.
    let is_cluster = |labels: &&Node| labels.get(CLUSTER_SECRET).is_some_and(|own| own.as_str() == Some("cluster"));
    let mut labels = all_nodes(root).filter_map(|node| node.get("labels")).filter(|_| kind.ends_with("Secret"));
    labels.find(is_cluster).map(Node::entries)
}

/// The labels by which an object selects clusters, for each of its selectors.
fn selectors(by: &Document) -> Vec<Vec<&Entry>> {
    let kind = by.text("kind");
    let keys = fields::pairs_of("placing.selectors").filter(|(own, _)| *own == kind);
    let selectors = keys.flat_map(|(_, key)| all_nodes(&by.root).filter_map(move |node| node.get(key)));
    let labels = |one| all_nodes(one).flat_map(|node| fields_at(node, "matchLabels")).collect();
    let mut out: Vec<_> = selectors.map(labels).collect();
    if out.is_empty() && kind == "Placement" {
        out.push(Vec::new());
    }
    out
}

impl Placing {
    /// Takes in an object that decides it.
    pub(super) fn add(&mut self, document: &Arc<Document>) {
        if fields::has("placing", document.text("kind")) {
            for (kind, name) in named(&document.root) {
                let key = (kind.to_owned(), name.to_owned());
                self.by_placed.entry(key).or_default().push(Arc::clone(document));
            }
        }
        self.clusters.extend(labels_of_cluster(document).map(|_| Arc::clone(document)));
    }

    /// What decides to which clusters an object is applied: what it names, what names it, and so on, and the clusters that
    /// these select, or that have the name or address of its destination.
    pub(super) fn of(&self, document: &Arc<Document>, to: Option<&str>, known: &Named) -> Vec<Arc<Document>> {
        let (mut out, mut at) = (vec![Arc::clone(document)], 0);
        while let Some(one) = out.get(at).cloned() {
            let is_placed = at == 0 || fields::has("placing", one.text("kind"));
            let [kind, name] = ["kind", "metadata.name"].map(|field| one.text(field));
            let keys = ["", name].map(|name| (kind.to_owned(), name.to_owned()));
            let by = keys.iter().filter(|_| is_placed).filter_map(|key| self.by_placed.get(key)).flatten();
            let of_it = named(&one.root).into_iter().filter(|(kind, _)| *kind != "ConfigMap");
            let of_it = of_it.flat_map(|(kind, name)| known.get(kind, name)).chain(known.kubeconfigs(&one));
            for other in by.chain(of_it) {
                if !out.iter().any(|own| is_same_document(own, other)) {
                    out.push(Arc::clone(other));
                }
            }
            at += 1;
        }
        let selectors: Vec<_> = out.iter().flat_map(|by| selectors(by)).collect();
        let is_selected = |one: &&Arc<Document>| {
            let labels = labels_of_cluster(one).unwrap_or_default();
            let has = |wanted: &&Entry| {
                let mut named = labels.iter().filter(|own| own.key.text == wanted.key.text);
                named.any(|own| own.value.as_str() == wanted.value.as_str())
            };
            let is_destination = || to.is_some() && all_nodes(&one.root).any(|node| node.as_str() == to);
            selectors.iter().any(|all| all.iter().all(has)) || is_destination()
        };
        let clusters = if selectors.is_empty() && to.is_none() { &[] } else { self.clusters.as_slice() };
        let clusters: Vec<_> = clusters.iter().filter(is_selected).cloned().collect();
        out.into_iter().skip(1).chain(clusters).collect()
    }
}
