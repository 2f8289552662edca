//! Reads nodes printed by a cluster: `kubectl get nodes -o yaml`, a v1 List, NodeList or Node.

use super::locations::NodeLocations;
use crate::prelude::*;
use hcoplan_planner::inventory::{CORDONED, Node, Taint};
use hcoplan_yaml::Node as Tree;

/// Reads a document's nodes, in the order of the text.
pub(super) fn read(document: &Document, out: &mut Vec<(Node, NodeLocations)>, findings: &mut Vec<Finding>) {
    let root = &document.root;
    // Items of a typed list need not repeat their kind.
    let of_list = root.text("kind").strip_suffix("List");
    for item in std::iter::once(root).chain(root.list_at("items")) {
        if item.text_at("kind").or(of_list) == Some("Node") {
            node(document, item, out, findings);
        }
    }
}

fn node(document: &Document, item: &Tree, out: &mut Vec<(Node, NodeLocations)>, findings: &mut Vec<Finding>) {
    let at = |path: &str| item.below(path);
    let Some(name) = at("metadata.name").filter(|n| n.as_str().is_some()) else {
        findings.push(nameless(document, item, at("metadata.name")));
        return;
    };
    let labels = texts(at("metadata.labels"));
    let info = at("status.nodeInfo");
    let reported = info.and_then(|i| i.get("architecture"));
    let label = at("metadata.labels").and_then(|l| l.get(ARCHITECTURE_LABEL));
    // Without `status` it is a manifest, not a dump; the label is the only source.
    let source = reported.or(label.filter(|_| info.is_none()));
    let mut node = Node {
        other_labels: Vec::new(),
        name: name.as_str().unwrap_or_default().to_owned(),
        architecture: source.and_then(Tree::as_str).unwrap_or("").to_owned(),
        kvm: item.get("status").and_then(|status| kvm(status, &labels)),
        labels,
        taints: taints(item.list_at("spec.taints")),
        states_taints: true,
        hugepages: at("status.capacity").map(hugepages),
        resources: None,
        devices: at("status.capacity").map(devices).unwrap_or_default(),
    };
    let is_cordoned = at("spec.unschedulable").is_some_and(Tree::is_true);
    if is_cordoned && !node.taints.iter().any(|taint| taint.key == CORDONED) {
        node.taints.push(Taint { key: CORDONED.to_owned(), value: String::new(), effect: "NoSchedule".to_owned() });
    }
    let location =
        NodeLocations { name: document.location(name.span), architecture: source.map(|n| document.location(n.span)) };
    if let (Some(label), Some(reported)) = (label, reported)
        && label.as_str() != reported.as_str()
    {
        let (label, reported) = (document.location(label.span), document.location(reported.span));
        findings.push(contradiction(&node, label, reported));
    }
    out.push((node, location));
}

fn nameless(document: &Document, item: &Tree, name: Option<&Tree>) -> Finding {
    let first = || item.entries().first().map_or(item.span, |e| e.key.span);
    let location = document.location(name.map_or_else(first, |n| n.span));
    let message = match name {
        Some(_) => format!("a node's name is not a string: put `{}` in quotes", location.text()),
        None => "a node has no name".to_owned(),
    };
    Finding::new(&INVENTORY_INVALID, message).at(location)
}

/// Whether the node has KVM. `None` if unknown: it has no device of KubeVirt (virt-handler perhaps never ran there), or
/// virt-handler isn't running now.
///
/// Reads the capacity because the kubelet removes the devices from `allocatable` while virt-handler restarts.
fn kvm(status: &Tree, labels: &BTreeMap<String, String>) -> Option<bool> {
    let mut lists = ["capacity", "allocatable"].into_iter().filter_map(|list| status.get(list));
    if lists.clone().flat_map(present).any(|name| name == "devices.kubevirt.io/kvm") {
        return Some(true);
    }
    let has_devices = lists.any(|list| list.entries().iter().any(|e| e.key.text.starts_with("devices.kubevirt.io/")));
    let restarting = labels.get(SCHEDULABLE).is_some_and(|s| s == "false");
    (has_devices && !restarting).then_some(false)
}

/// The sizes of a node's huge pages.
fn hugepages(capacity: &Tree) -> Vec<String> {
    present(capacity).filter_map(|name| name.strip_prefix("hugepages-")).map(str::to_owned).collect()
}

/// The resources of a node's device plugins, without KubeVirt's, which every node has.
fn devices(capacity: &Tree) -> Vec<String> {
    let names = present(capacity).filter(|name| name.contains('/'));
    let of_plugins =
        names.filter(|name| !["devices.kubevirt.io/", "kubernetes.io/"].iter().any(|own| name.contains(own)));
    of_plugins.map(str::to_owned).collect()
}

/// The names of the resources that a node has any of.
fn present(capacity: &Tree) -> impl Iterator<Item = &str> {
    let entries = capacity.entries().iter();
    entries.filter(|e| e.value.as_str().is_some_and(|count| count != "0")).map(|e| e.key.text.as_str())
}

/// The label that says whether virt-handler works on a node.
const SCHEDULABLE: &str = "kubevirt.io/schedulable";

/// The text values of a mapping; others are left out.
pub(super) fn texts(node: Option<&Tree>) -> BTreeMap<String, String> {
    let entries = node.map_or(&[][..], Tree::entries).iter();
    entries.filter_map(|e| Some((e.key.text.clone(), e.value.as_str()?.to_owned()))).collect()
}

pub(super) fn taints(items: &[Tree]) -> Vec<Taint> {
    let taint = |item: &Tree| {
        let [key, value, effect] = ["key", "value", "effect"].map(|key| item.text(key).to_owned());
        Taint { key, value, effect }
    };
    items.iter().map(taint).collect()
}

pub(super) fn contradiction(node: &Node, label: Location, architecture: Location) -> Finding {
    let Node { name, architecture: own, labels, .. } = node;
    let value = labels.get(ARCHITECTURE_LABEL).map_or("", String::as_str);
    let message = format!("`{name}` is {own} by its architecture and {value} by its label");
    Finding::new(&INVENTORY_INCONSISTENT, message)
        .at(label)
        .label("placement matches this")
        .related(architecture, "HCO uses this")
}

/// Keeps the first node of each name, and reports the others with their places.
pub(super) fn remove_duplicate_names(nodes: &mut Vec<(Node, NodeLocations)>, mut report: impl FnMut(&Node, &Location)) {
    let mut seen = BTreeSet::new();
    nodes.retain(|(node, locations)| {
        let is_new = seen.insert(node.name.clone());
        if !is_new {
            report(node, &locations.name);
        }
        is_new
    });
}
