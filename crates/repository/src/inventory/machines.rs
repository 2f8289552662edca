//! Derives the nodes that MachineSets of OpenShift and Cluster API objects create.
//!
//! Sources: OpenShift `machine.openshift.io/v1beta1` (labels and taints of the template's `spec` apply to the node;
//! machines with the role `master` get the control plane's configuration, all others the workers'); Cluster API (only
//! labels of certain domains in the template's `metadata` apply to the node); cluster-autoscaler's scale-from-zero
//! annotations of both.

use super::declared::known_name;
use super::dump::{taints, texts};
use super::locations::NodeLocations;
use crate::prelude::*;
use hcoplan_planner::inventory::{Node, ROLE_LABEL, Taint, control_plane_labels};
use hcoplan_yaml::{Node as Tree, Value as Yaml};

const CAPACITY_LABELS: &str = "capacity.cluster-autoscaler.kubernetes.io/labels";
const CAPACITY_TAINTS: &str = "capacity.cluster-autoscaler.kubernetes.io/taints";
const MACHINE_ROLE: &str = "machine.openshift.io/cluster-api-machine-role";

/// More machines than any set has; the limit keeps a typo from using all memory.
const MAX_REPLICAS: u64 = 10_000;

/// Whether a document's root or a list's item declares machines.
pub(super) fn declares_machines(api_version: &str, kind: &str) -> bool {
    let group = first_part(api_version, '/');
    match group {
        "machine.openshift.io" => kind == "MachineSet",
        "cluster.x-k8s.io" => matches!(kind, "MachineSet" | "MachineDeployment" | "MachinePool"),
        _ => false,
    }
}

/// Derives the nodes of a document's machine sets, in the order of the text.
pub(super) fn read(document: &Document, out: &mut Vec<(Node, NodeLocations)>, findings: &mut Vec<Finding>) {
    let root = std::iter::once(&document.root);
    for object in root.chain(document.root.list_at("items")) {
        if declares_machines(object.text("apiVersion"), object.text("kind")) {
            machines(document, object, out, findings);
        }
    }
}

fn machines(document: &Document, object: &Tree, out: &mut Vec<(Node, NodeLocations)>, findings: &mut Vec<Finding>) {
    let at = |path: &str| object.below(path);
    let Some(name) = at("metadata.name").filter(|n| n.as_str().is_some()) else {
        return;
    };
    let openshift = object.text("apiVersion").starts_with("machine.openshift.io/");
    let annotations = at("metadata.annotations");
    let capacity = |key: &str| annotations.and_then(|a| a.get(key));
    let text = |node: Option<&'_ Tree>| node.and_then(Tree::as_str).unwrap_or_default().to_owned();

    let mut labels: BTreeMap<_, _> = pairs(&text(capacity(CAPACITY_LABELS))).collect();
    let template =
        if openshift { at("spec.template.spec.metadata.labels") } else { at("spec.template.metadata.labels") };
    labels.extend(texts(template).into_iter().filter(|(label, _)| openshift || is_synced(label)));
    if openshift {
        let role = at("spec.template.metadata.labels").and_then(|l| l.get(MACHINE_ROLE));
        if text(role) == "master" {
            labels.extend(control_plane_labels());
        } else {
            labels.insert(format!("{ROLE_LABEL}worker"), String::new());
        }
    }

    // Located at the label's value, or at the whole annotation.
    let written = template.and_then(|t| t.get(ARCHITECTURE_LABEL));
    let location = written.or(capacity(CAPACITY_LABELS));
    let location = location.filter(|_| labels.contains_key(ARCHITECTURE_LABEL));
    let locations =
        NodeLocations { name: document.location(name.span), architecture: location.map(|n| document.location(n.span)) };
    let architecture = labels.get(ARCHITECTURE_LABEL).cloned().unwrap_or_default();
    let place = written.map(|node| document.location(node.span));
    let architecture = known_name(&architecture, place.as_ref(), findings);
    if architecture.is_empty() {
        let finding = Finding::new(&INVENTORY_INCONSISTENT, "the architecture of these machines is unknown");
        findings.push(finding.warning().at(locations.name.clone()).help(format!(
            "label the nodes `{ARCHITECTURE_LABEL}: <architecture>`, or annotate it \
             `{CAPACITY_LABELS}: {ARCHITECTURE_LABEL}=<architecture>`"
        )));
    } else {
        labels.insert(ARCHITECTURE_LABEL.to_owned(), architecture.clone());
    }

    let mut all_taints = taints(object.list_at("spec.template.spec.taints"));
    for taint in text(capacity(CAPACITY_TAINTS)).split(',') {
        all_taints.extend(parse_taint(taint).filter(|t| !all_taints.contains(t)));
    }
    for index in 0..replicas(at("spec.replicas")) {
        let name = format!("{}-{index}", name.as_str().unwrap_or_default());
        let mut labels = labels.clone();
        labels.insert("kubernetes.io/hostname".to_owned(), name.clone());
        labels.insert("kubernetes.io/os".to_owned(), "linux".to_owned());
        let taints = all_taints.clone();
        let node = Node { name, labels, architecture: architecture.clone(), taints, ..Node::default() };
        out.push((node, locations.clone()));
    }
}

/// Missing replicas mean one in both APIs.
fn replicas(node: Option<&Tree>) -> u64 {
    match node.map(|n| &n.value) {
        Some(Yaml::Number(n)) => n.as_u64().unwrap_or(0).min(MAX_REPLICAS),
        _ => 1,
    }
}

/// Parses `a=b,c=` like the autoscaler.
fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()))
}

/// Parses `key=value:effect` or `key:effect`.
fn parse_taint(text: &str) -> Option<Taint> {
    let (rest, effect) = text.trim().rsplit_once(':')?;
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    Some(Taint { key: key.to_owned(), value: value.to_owned(), effect: effect.to_owned() })
}

/// Whether Cluster API copies a label from machines to nodes.
fn is_synced(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let within = |d: &str| domain == d || domain.ends_with(&format!(".{d}"));
    domain == "node-role.kubernetes.io"
        || within("node-restriction.kubernetes.io")
        || within("node.cluster.x-k8s.io")
        || label == ARCHITECTURE_LABEL
}
