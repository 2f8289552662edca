//! Compares a ClusterInventory with the cluster's nodes: finds each node's pool, and outdated declarations.

use super::declared::{count, flag};
use super::dump::taints;
use super::pools::{Labels, Offers, Pool, lasting_taints, offer_fields, offers, pools};
use crate::prelude::*;
use hcoplan_planner::inventory::{Architecture, Node};
use hcoplan_yaml::Node as Tree;
use std::cmp::Reverse;

/// Differences between an inventory and the cluster's nodes.
#[derive(Debug, Clone)]
pub struct Drift {
    /// Entries of `nodePools` and `nodes` whose number of nodes differs.
    pub counts: Vec<CountDrift>,
    /// Nodes that no entry describes, grouped into pools.
    pub unknown: Vec<UnknownPool>,
}

/// An entry whose declared number of nodes differs from the cluster's.
#[derive(Debug, Clone)]
pub struct CountDrift {
    /// `nodePools` or `nodes`.
    pub list: &'static str,
    /// Its index in the list, from 0.
    pub index: usize,
    /// The pool's or the node's name.
    pub name: String,
    /// Where it is declared.
    pub place: Location,
    /// Number of declared nodes.
    pub declared: usize,
    /// Names of the cluster's nodes of this entry, sorted.
    pub nodes: Vec<String>,
}

/// Nodes that no entry describes.
#[derive(Debug, Clone)]
pub struct UnknownPool {
    /// Their common properties.
    pub pool: Pool,
    /// The most similar entry's name, and the differences.
    pub nearest: Option<(String, String)>,
}

impl Drift {
    /// Whether the inventory matches the cluster.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.unknown.is_empty()
    }
}

/// An entry of `nodePools` or `nodes`.
struct Entry {
    counted: CountDrift,
    architecture: String,
    roles: BTreeSet<String>,
    written_roles: BTreeSet<String>,
    labels: Labels,
    taints: BTreeSet<[String; 3]>,
    kvm: Option<bool>,
    offers: Offers,
}

/// Compares an inventory with the cluster's nodes.
///
/// A node belongs to the entry with its architecture, roles and lasting taints, and with none but its labels; of
/// several, to the most specific one. What an entry leaves out (labels, KVM, devices) is not compared. `named` tells
/// whether a placement uses a label, for the pools of unknown nodes.
pub fn drift(document: &Document, found: &[Node], named: impl Fn(&str) -> bool) -> Drift {
    let mut entries = entries(document);
    let mut unknown: Vec<Node> = Vec::new();
    let is_single = |entry: &Entry| entry.counted.list == "nodes";
    let is_own = |entry: &Entry, node: &Node| is_single(entry) && entry.counted.name == node.name;
    // Nodes declared by name come first, so that no other node takes their entry.
    let (own, others): (Vec<&Node>, Vec<&Node>) =
        (found.iter()).partition(|node| entries.iter().any(|e| is_own(e, node)));
    for node in own.into_iter().chain(others) {
        let is_free = |e: &Entry| !is_single(e) || e.counted.nodes.is_empty();
        let candidates = entries.iter_mut().filter(|e| is_free(e) && e.differences(node).is_empty());
        match candidates.min_by_key(|e| Reverse((is_own(e, node), e.similarity(node)))) {
            Some(entry) => entry.counted.nodes.push(node.name.clone()),
            None => unknown.push(node.clone()),
        }
    }
    let mentioned: BTreeSet<&str> = entries
        .iter()
        .flat_map(|e| e.labels.keys().map(String::as_str))
        .filter(|key| *key != ARCHITECTURE_LABEL)
        .collect();
    let new = pools(&unknown, |key| named(key) || mentioned.contains(key));
    let unknown = new.into_iter().map(|pool| {
        let node = unknown.iter().find(|n| pool.nodes.first() == Some(&n.name));
        let nearest = node.and_then(|node| nearest(&entries, node));
        UnknownPool { pool, nearest }
    });
    let unknown = unknown.collect();
    let mut counts: Vec<CountDrift> = entries.into_iter().map(|entry| entry.counted).collect();
    counts.retain(|entry| entry.nodes.len() != entry.declared);
    counts.iter_mut().for_each(|entry| entry.nodes.sort());
    Drift { counts, unknown }
}

/// The name of the most similar entry to a node, and the differences.
fn nearest(entries: &[Entry], node: &Node) -> Option<(String, String)> {
    let differing = entries.iter().map(|e| (e, e.differences(node)));
    let (entry, differences) = differing.min_by_key(|(_, d)| d.len())?;
    Some((entry.counted.name.clone(), differences.join(", ")))
}

fn entries(document: &Document) -> Vec<Entry> {
    let mut out = Vec::new();
    for list in ["nodePools", "nodes"] {
        for (index, item) in (0..).zip(document.root.list_at(&format!("spec.{list}"))) {
            let place = document.location(item.get("name").unwrap_or(item).span);
            let declared = if list == "nodes" { 1 } else { count(item) };
            let written = item.text("architecture");
            let written_roles = strings(item.list_at("roles"));
            out.push(Entry {
                counted: CountDrift {
                    list,
                    index,
                    name: item.text("name").to_owned(),
                    place,
                    declared,
                    nodes: Vec::new(),
                },
                architecture: Architecture::name(written).unwrap_or(written).to_owned(),
                roles: roles(written_roles.clone()),
                written_roles: written_roles.map(ToOwned::to_owned).collect(),
                labels: declared_labels(item),
                taints: lasting_taints(&taints(item.list_at("taints"))),
                kvm: flag(item, "kvm"),
                offers: declared_offers(item),
            });
        }
    }
    out
}

/// The labels that an entry declares; a node has that of its architecture, too, unless the entry says no.
fn declared_labels(entry: &Tree) -> Labels {
    let own = entry.text_at("architecture").map(|name| Architecture::name(name).unwrap_or(name));
    let own = own.map(|name| (ARCHITECTURE_LABEL.to_owned(), Some(name.to_owned())));
    let written = entry.get("labels").map_or(&[][..], Tree::entries).iter();
    let written = written.map(|label| (label.key.text.clone(), label.value.as_str().map(str::to_owned)));
    own.into_iter().chain(written).collect()
}

/// The offers that an entry declares.
fn declared_offers(entry: &Tree) -> Offers {
    let list = |field| Some((field, strings(entry.get(field)?.items()).map(str::to_owned).collect()));
    offer_fields().filter_map(list).collect()
}

/// Normalises roles: clusters use `master`, `control-plane` or both.
pub(super) fn roles<'r>(roles: impl Iterator<Item = &'r str>) -> BTreeSet<String> {
    let one = |role| {
        if role == "master" { "control-plane" } else { role }
    };
    roles.map(|r| one(r).to_owned()).collect()
}

impl Entry {
    /// How well a node of this entry fits: exact roles, KVM, number of its labels and offers.
    fn similarity(&self, node: &Node) -> (bool, bool, usize) {
        let roles = node.roles().eq(&self.written_roles);
        let same_kvm = (self.kvm == Some(false)) == (node.kvm == Some(false));
        (roles, same_kvm, self.labels.len() + self.offers.len())
    }

    /// How a node differs from the declaration; empty if it belongs to this entry.
    fn differences(&self, node: &Node) -> Vec<String> {
        let mut out = Vec::new();
        let mut differ = |what: &str, found: String, declared: String| {
            if found != declared {
                out.push(format!("{what} {found} instead of {declared}"));
            }
        };
        let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
        let of_names = |set: &BTreeSet<String>, with| or_none(joined(set.iter().map(String::as_str), with));
        let of_taints = |set: &BTreeSet<[String; 3]>| or_none(joined(set.iter().map(|t| t.join(":")), " "));
        differ("architecture", or_none(node.architecture.clone()), or_none(self.architecture.clone()));
        differ("roles", of_names(&roles(node.roles()), "+"), of_names(&self.roles, "+"));
        differ("taints", of_taints(&lasting_taints(&node.taints)), of_taints(&self.taints));
        // An own line reports the architecture.
        let is_said = |key: &str| key == ARCHITECTURE_LABEL && node.architecture != self.architecture;
        for (key, value) in self.labels.iter().filter(|(key, _)| !is_said(key)) {
            // The value follows its key, so that output can mask it.
            let text =
                |value: Option<&String>| value.map_or_else(|| format!("no {key}"), |value| format!("{key}={value}"));
            differ("label", text(node.labels.get(key)), text(value.as_ref()));
        }
        if let (Some(declared), Some(found)) = (self.kvm, node.kvm) {
            differ("kvm", found.to_string(), declared.to_string());
        }
        for (field, declared) in &self.offers {
            // Which devices a plugin offers depends on the HyperConverged, so one declared device is enough.
            match offers(node).get(field) {
                Some(found) if *field == "resources" && !found.is_disjoint(declared) => {}
                Some(found) => differ(field, of_names(found, " "), of_names(declared, " ")),
                None if *field == "resources" => differ(field, "none".to_owned(), of_names(declared, " ")),
                None => {}
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_yaml as yaml;

    use super::*;

    fn node(name: &str, architecture: &str, role: &str, kvm: Option<bool>) -> Node {
        Node {
            name: name.to_owned(),
            architecture: architecture.to_owned(),
            labels: [
                (format!("node-role.kubernetes.io/{role}"), String::new()),
                (ARCHITECTURE_LABEL.to_owned(), architecture.to_owned()),
            ]
            .into(),
            kvm,
            ..Node::default()
        }
    }

    fn drifts(found: &[Node]) -> Vec<String> {
        let text = "spec:
  nodePools:
    - {name: masters, count: 1, architecture: amd64, roles: [control-plane]}
    - {name: workers, count: 2, architecture: x86_64, roles: [worker], kvm: true}
  nodes:
    - {name: gpu, architecture: amd64, roles: [worker], labels: {gpu: 'true'}}
";
        let file = SourceFile::new("inventory.yaml", text);
        let parsed = yaml::parse(&file);
        let drift = drift(&parsed.documents[0], found, |_| false);
        let counts = drift.counts.iter().map(|c| {
            let line = c.place.start().line;
            format!("{line} {} {} {}", c.name, c.declared, c.nodes.join("+"))
        });
        let unknown = drift.unknown.iter().map(|u| format!("{:?} {:?}", u.pool.nodes, u.nearest));
        counts.chain(unknown).collect()
    }

    #[test]
    fn cluster_as_declared_has_no_drift() {
        let mut nodes = vec![
            node("m", "amd64", "master", None),
            node("w-0", "amd64", "worker", Some(true)),
            node("w-1", "amd64", "worker", None),
            node("gpu", "amd64", "worker", Some(true)),
        ];
        nodes[3].labels.insert("gpu".to_owned(), "true".to_owned());
        assert_eq!(drifts(&nodes), [""; 0]);
        nodes[3].labels.insert("kubevirt.io/schedulable".to_owned(), "false".to_owned());
        assert_eq!(drifts(&nodes), [""; 0]);
        nodes[1].architecture = "arm64".to_owned();
        nodes.remove(3);
        assert_eq!(
            drifts(&nodes),
            ["4 workers 2 w-1", "6 gpu 1 ", "[\"w-0\"] Some((\"workers\", \"architecture arm64 instead of amd64\"))",]
        );
    }
}
