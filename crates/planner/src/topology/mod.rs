//! Derives HCO's facts from the nodes: architectures, availability.
//!
//! Source: HCO `pkg/nodeinfo` of each release; checked against every recorded case.

mod assumed_nodes;
mod taints;

use crate::inventory::{Inventory, Node};
use crate::prelude::*;
use crate::release::{Platform, Release};
use hcoplan_kubernetes::node_affinity::RequiredNodeAffinity;
use hcoplan_kubernetes::tree;

pub use assumed_nodes::{assumed_nodes, assumed_nodes_of, contrasting_nodes, described_assumed_nodes};
pub use taints::Tolerations;

/// Facts about the cluster, as the operator sees them.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    /// Architectures of control-plane nodes, sorted.
    pub control_plane_architectures: Vec<String>,
    /// Architectures of workload nodes, sorted.
    pub workload_architectures: Vec<String>,
    /// KubeVirt's default architecture (from 1.18 on): the first control-plane architecture that is also a workload
    /// architecture, else that of most workload nodes.
    pub default_architecture: Option<String>,
    /// Number of control-plane nodes.
    pub control_plane_nodes: usize,
    /// Number of nodes with the role arbiter.
    pub arbiter_nodes: usize,
    /// Number of nodes with the role worker.
    pub worker_nodes: usize,
    /// Indexes of the nodes that run virtual machines, in the inventory: HCO's workload nodes; if no node is labelled
    /// as a worker, those where virt-handler runs. HCO doesn't read the architectures of the latter.
    pub workload_nodes: Vec<usize>,
}

impl Topology {
    /// The facts of an inventory under a workload placement (`nodePlacements.workload` of the
    /// v1 API, `workloads.nodePlacement` of v1beta1).
    pub fn new(release: &Release, inventory: &Inventory, workload_placement: Option<&Value>) -> Self {
        let selection = workload_placement.and_then(Selection::of);
        let is_hosted = inventory.hosted_control_plane && inventory.platform == Platform::OpenShift;
        let adds_label = is_hosted && release.has("hosted-workers-become-control-plane");
        let removes_label = is_hosted && release.has("hosted-workers-are-no-control-plane");
        let mut facts = Self::default();
        for (index, node) in inventory.nodes.iter().enumerate() {
            let node = if adds_label || removes_label { labelled(node, adds_label) } else { Cow::Borrowed(node) };
            let node = &*node;
            let is_worker = node.has_role("worker");
            let is_workload_node = match &selection {
                Some(selection) => selection.selects(node),
                None => is_worker,
            };
            if node.is_control_plane() {
                facts.control_plane_nodes += 1;
                add(&node.architecture, &mut facts.control_plane_architectures);
            }
            facts.arbiter_nodes += usize::from(node.has_role("arbiter"));
            facts.worker_nodes += usize::from(is_worker);
            if is_workload_node {
                facts.workload_nodes.push(index);
                add(&node.architecture, &mut facts.workload_architectures);
            }
        }
        if selection.is_none() && facts.workload_nodes.is_empty() {
            facts.workload_nodes = unlabelled_workload_nodes(inventory, workload_placement);
        }
        facts.control_plane_architectures.sort_unstable();
        facts.workload_architectures.sort_unstable();
        facts.default_architecture = facts.default_architecture(inventory);
        facts
    }

    fn default_architecture(&self, inventory: &Inventory) -> Option<String> {
        let first = self.control_plane_architectures.first();
        if let Some(shared) = first.filter(|a| self.workload_architectures.contains(a)) {
            return Some(shared.clone());
        }
        let workers = self.workload_nodes.iter();
        let workers = workers.filter_map(|i| inventory.nodes.get(*i));
        let count = |a: &String| workers.clone().filter(|n| n.architecture == *a).count();
        // Of several with the same number, the first.
        let most = self.workload_architectures.iter().rev().max_by_key(|a| count(a));
        most.cloned()
    }

    /// `status.infrastructureHighlyAvailable`: two or more workers.
    pub fn infrastructure_highly_available(&self) -> bool {
        self.worker_nodes >= 2
    }

    /// Three or more control-plane nodes; or two and an arbiter, in releases that count arbiters.
    pub fn control_plane_highly_available(&self, counts_arbiters: bool) -> bool {
        let has_arbiter = counts_arbiters && self.arbiter_nodes >= 1;
        self.control_plane_nodes >= 3 || (self.control_plane_nodes >= 2 && has_arbiter)
    }
}

/// The nodes of a cluster without labelled workers on which virt-handler runs: Linux is all that it requires.
/// Source: KubeVirt `pkg/virt-operator/resource/placement`, used for DaemonSets with any node as the default.
fn unlabelled_workload_nodes(inventory: &Inventory, placement: Option<&Value>) -> Vec<usize> {
    let tolerations = Tolerations::of(placement.unwrap_or(&Value::Null));
    let is_linux = |node: &Node| node.labels.get("kubernetes.io/os").is_none_or(|os| os == "linux");
    let nodes = inventory.nodes.iter().enumerate();
    nodes.filter(|(_, node)| is_linux(node) && tolerations.admit(node)).map(|(index, _)| index).collect()
}

/// The label that earlier patches of HCO set on workers of a hosted control plane, so that virt-operator runs there.
/// Source: HCO `controllers/nodes`.
const SET_BY_HCO: (&str, &str) = ("node-role.kubernetes.io/control-plane", "set-to-allow-kubevirt-deployment");

/// A worker of a hosted control plane: after the first patches of 1.17 it has the role of the control plane, too; later
/// ones take away what an earlier one set.
fn labelled(node: &Node, adds: bool) -> Cow<'_, Node> {
    let (label, value) = SET_BY_HCO;
    let own = node.labels.get(label);
    let changes = if adds { own.is_none() } else { own.is_some_and(|own| own == value) };
    if !changes || !node.has_role("worker") {
        return Cow::Borrowed(node);
    }
    let mut node = node.clone();
    if adds {
        node.labels.insert(label.to_owned(), value.to_owned());
    } else {
        node.labels.remove(label);
    }
    Cow::Owned(node)
}

/// Adds an architecture unless it is empty or already in the list.
fn add(architecture: &String, all: &mut Vec<String>) {
    if !architecture.is_empty() && !all.contains(architecture) {
        all.push(architecture.clone());
    }
}

/// Whether pods with a placement run on a node.
pub fn admits(placement: &Value, node: &Node) -> bool {
    Selection::of(placement).is_none_or(|selection| selection.selects(node)) && Tolerations::of(placement).admit(node)
}

/// A node placement's node selector and required node affinity, read once for many nodes.
#[derive(Debug)]
pub struct Selection<'v> {
    labels: Option<&'v Map<String, Value>>,
    affinity: Option<RequiredNodeAffinity<'v>>,
}

impl<'v> Selection<'v> {
    /// `None` if the placement has neither.
    pub fn of(placement: &'v Value) -> Option<Self> {
        let labels = placement.get("nodeSelector").and_then(Value::as_object);
        let labels = labels.filter(|l| !l.is_empty());
        let affinity = tree::get(placement, "affinity.nodeAffinity")
            .filter(|a| !a["requiredDuringSchedulingIgnoredDuringExecution"].is_null())
            .map(RequiredNodeAffinity::of);
        (labels.is_some() || affinity.is_some()).then_some(Self { labels, affinity })
    }

    /// Lists of labels of which a matching node has at least one; a name is the label `metadata.name`.
    pub fn needs(&self) -> Vec<Vec<(&'v str, &'v str)>> {
        let labels = self.labels.into_iter().flatten().map(|(key, value)| vec![(key.as_str(), text(value))]);
        labels.chain(self.affinity.as_ref().and_then(RequiredNodeAffinity::needs)).collect()
    }

    /// Whether a node matches both.
    pub fn selects(&self, node: &Node) -> bool {
        // The API server drops a label without a value.
        let matches = |(k, v): (&String, &Value)| v.is_null() || node.labels.get(k).map(String::as_str) == v.as_str();
        self.labels.is_none_or(|labels| labels.iter().all(matches))
            && self.affinity.as_ref().is_none_or(|a| a.allows(&node.name, &node.labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(name: &str, architecture: &str, roles: &[&str]) -> Node {
        Node {
            name: name.into(),
            architecture: architecture.into(),
            labels: roles.iter().map(|r| (format!("node-role.kubernetes.io/{r}"), String::new())).collect(),
            ..Node::default()
        }
    }

    fn release() -> Arc<Release> {
        Release::known("1.17").expect("known")
    }

    fn inventory() -> Inventory {
        Inventory {
            nodes: vec![
                node("cp", "amd64", &["control-plane"]),
                node("w0", "s390x", &["worker"]),
                node("w1", "arm64", &["worker"]),
                node("w2", "arm64", &["worker"]),
                node("odd", "", &["worker"]),
            ],
            ..Inventory::default()
        }
    }

    #[test]
    fn placement_replaces_workers_as_workload_nodes() {
        let facts = Topology::new(&release(), &inventory(), None);
        assert_eq!(facts.workload_architectures, ["arm64", "s390x"]);
        assert_eq!(facts.default_architecture.as_deref(), Some("arm64"));
        assert_eq!(facts.worker_nodes, 4);
        let placement = json!({"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}});
        let facts = Topology::new(&release(), &inventory(), Some(&placement));
        assert_eq!(facts.workload_architectures, ["amd64"]);
        assert_eq!(facts.default_architecture.as_deref(), Some("amd64"));
    }

    #[test]
    fn tie_selects_the_first_architecture() {
        let mut inventory = inventory();
        inventory.nodes.pop();
        inventory.nodes.pop();
        let facts = Topology::new(&release(), &inventory, None);
        assert_eq!(facts.default_architecture.as_deref(), Some("arm64"));
    }

    /// The first patches of 1.17 label workers on hosted control planes.
    #[test]
    fn worker_labelled_by_hco_becomes_control_plane() {
        let inventory = Inventory {
            nodes: vec![node("w", "arm64", &["worker"])],
            hosted_control_plane: true,
            ..Inventory::default()
        };
        let counted = |release: &Release| {
            let facts = Topology::new(release, &inventory, None);
            (facts.control_plane_nodes, facts.worker_nodes)
        };
        let patch = |name| Release::patch(name).expect("known");
        assert_eq!(counted(&patch("1.17.1")), (1, 1));
        assert_eq!(counted(&patch("1.17.2")), (0, 1));
    }

    /// From 1.17.2 on HCO removes the label from workers on hosted control planes.
    #[test]
    fn later_patches_remove_the_role_of_workers() {
        let mut worker = node("w", "arm64", &["worker"]);
        worker.labels.insert("node-role.kubernetes.io/control-plane".into(), "set-to-allow-kubevirt-deployment".into());
        let mut inventory = Inventory { nodes: vec![worker], hosted_control_plane: true, ..Inventory::default() };
        let counted = |name: &str, inventory: &Inventory| {
            let release = Release::known(name).expect("known");
            Topology::new(&release, inventory, None).control_plane_nodes
        };
        assert_eq!(counted("1.16", &inventory), 1);
        assert_eq!(counted("1.17", &inventory), 0);
        inventory.hosted_control_plane = false;
        assert_eq!(counted("1.17", &inventory), 1);
    }
}
