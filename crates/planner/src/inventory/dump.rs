//! Nodes as a cluster prints them: `kubectl get nodes -o yaml`, a v1 List, NodeList or Node.

use std::collections::{BTreeMap, BTreeSet};

use hcoplan_diagnostics::finding::Finding;
use hcoplan_yaml::{Document, Node as Tree, Path};

use super::declared::contradiction;
use super::places::NodePlace;
use super::{ARCHITECTURE_LABEL, INVENTORY_INCONSISTENT, INVENTORY_INVALID, Node, Taint};

/// The nodes of a document, in the order of the text.
pub(super) fn read(document: &Document, out: &mut Vec<(Node, NodePlace)>, findings: &mut Vec<Finding>) {
    let root = &document.root;
    let kind = |n: &Tree| n.get("kind").and_then(Tree::as_str).map(str::to_owned);
    if kind(root).as_deref() == Some("Node") {
        node(document, root, out, findings);
        return;
    }
    let list_of_nodes = kind(root).as_deref() == Some("NodeList");
    for item in root.get("items").map_or(&[][..], Tree::items) {
        // Items of a typed list need not repeat their kind.
        if kind(item).map_or(list_of_nodes, |k| k == "Node") {
            node(document, item, out, findings);
        }
    }
}

fn node(document: &Document, item: &Tree, out: &mut Vec<(Node, NodePlace)>, findings: &mut Vec<Finding>) {
    let at = |path: &str| item.at(&Path::dotted(path));
    let Some(name) = at("metadata.name").filter(|n| n.as_str().is_some()) else {
        findings.push(nameless(document, item, at("metadata.name")));
        return;
    };
    let labels = texts(at("metadata.labels"));
    let info = at("status.nodeInfo");
    let said = info.and_then(|i| i.get("architecture"));
    let label = at("metadata.labels").and_then(|l| l.get(ARCHITECTURE_LABEL));
    // Without `status` it is no dump but a manifest, and the label is all there is.
    let source = said.or(label.filter(|_| info.is_none()));
    let node = Node {
        name: name.as_str().unwrap_or_default().to_owned(),
        architecture: source.and_then(Tree::as_str).unwrap_or("").to_owned(),
        kvm: item.get("status").and_then(|status| kvm(status, &labels)),
        labels,
        taints: taints(at("spec.taints")),
        hugepages: at("status.capacity").map(hugepages),
        resources: None,
        devices: at("status.capacity").map(devices).unwrap_or_default(),
    };
    let place =
        NodePlace { name: document.location(name.span), architecture: source.map(|n| document.location(n.span)) };
    if let (Some(label), Some(said)) = (label, said)
        && label.as_str() != said.as_str()
    {
        let (label, said) = (document.location(label.span), document.location(said.span));
        findings.push(contradiction(&node, label, said));
    }
    out.push((node, place));
}

fn nameless(document: &Document, item: &Tree, name: Option<&Tree>) -> Finding {
    let first = || item.entries().first().map_or(item.span, |e| e.key.span);
    let place = document.location(name.map_or_else(first, |n| n.span));
    let message = match name {
        Some(_) => format!("a node's name must be a text; put `{}` in quotes", place.text()),
        None => "a node has no name".to_owned(),
    };
    Finding::new(&INVENTORY_INVALID, message).at(place)
}

/// Whether the node has KVM; `None` where it is unknown: it has none of KubeVirt's devices
/// at all, so that virt-handler has perhaps never run there, or it doesn't run there now.
///
/// The capacity counts: while virt-handler restarts, the kubelet takes its devices off what is allocatable.
fn kvm(status: &Tree, labels: &BTreeMap<String, String>) -> Option<bool> {
    let lists = ["capacity", "allocatable"].into_iter();
    let devices = lists.filter_map(|list| status.get(list)).flat_map(Tree::entries);
    let devices: Vec<_> = devices.filter(|e| e.key.text.starts_with("devices.kubevirt.io/")).collect();
    let kvm = |e: &&&hcoplan_yaml::Entry| e.key.text == "devices.kubevirt.io/kvm";
    let has = |e: &hcoplan_yaml::Entry| e.value.as_str().is_some_and(|count| count != "0");
    if devices.iter().filter(kvm).any(|e| has(e)) {
        return Some(true);
    }
    let restarting = labels.get(SCHEDULABLE).is_some_and(|s| s == "false");
    (!devices.is_empty() && !restarting).then_some(false)
}

/// The sizes of the huge pages that a node has any of.
fn hugepages(capacity: &Tree) -> Vec<String> {
    let some = capacity.entries().iter().filter(|e| e.value.as_str().is_some_and(|count| count != "0"));
    some.filter_map(|e| e.key.text.strip_prefix("hugepages-")).map(str::to_owned).collect()
}

/// The resources of device plugins that a node has any of; KubeVirt's own are on every node.
fn devices(capacity: &Tree) -> Vec<String> {
    let some = capacity.entries().iter().filter(|e| e.value.as_str().is_some_and(|count| count != "0"));
    let names = some.map(|e| e.key.text.clone()).filter(|name| name.contains('/'));
    let of_plugins =
        names.filter(|name| !["devices.kubevirt.io/", "kubernetes.io/"].iter().any(|own| name.contains(own)));
    of_plugins.collect()
}

/// The label that says whether virt-handler is well on a node.
const SCHEDULABLE: &str = "kubevirt.io/schedulable";

/// A mapping of texts; what is no text is left out.
pub(super) fn texts(node: Option<&Tree>) -> BTreeMap<String, String> {
    let entries = node.map_or(&[][..], Tree::entries).iter();
    let text = |e: &hcoplan_yaml::Entry| Some((e.key.text.clone(), e.value.as_str()?.to_owned()));
    entries.filter_map(text).collect()
}

pub(super) fn taints(node: Option<&Tree>) -> Vec<Taint> {
    let items = node.map_or(&[][..], Tree::items).iter();
    let text = |item: &Tree, key: &str| {
        let value = item.get(key).and_then(Tree::as_str);
        value.unwrap_or_default().to_owned()
    };
    let taint =
        |item: &Tree| Taint { key: text(item, "key"), value: text(item, "value"), effect: text(item, "effect") };
    items.map(taint).collect()
}

/// Leaves the first node of each name.
pub(super) fn no_name_twice(nodes: &mut Vec<(Node, NodePlace)>, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    nodes.retain(|(node, place)| {
        let new = seen.insert(node.name.clone());
        if !new {
            let message = format!("the node `{}` is dumped twice", node.name);
            let finding = Finding::new(&INVENTORY_INCONSISTENT, message);
            findings.push(finding.at(place.name.clone()).label("the first one counts"));
        }
        new
    });
}
