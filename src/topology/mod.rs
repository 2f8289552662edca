//! What HCO derives from the nodes: architectures, availability.
//!
//! Source: HCO `pkg/nodeinfo` of each release; checked against every recorded case.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::inventory::{Inventory, Node};
use crate::kube::node_affinity::Required;
use crate::kube::tree;

/// Facts about the cluster, as the operator sees them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    /// Architectures of control-plane nodes, sorted.
    pub control_plane_architectures: Vec<String>,
    /// Architectures of workload nodes, sorted.
    pub workload_architectures: Vec<String>,
    /// KubeVirt's default architecture (from 1.18): the first control-plane architecture that
    /// is also a workload architecture, else the one most workload nodes have.
    pub default_architecture: Option<String>,
    /// How many nodes count to the control plane.
    pub control_plane_nodes: usize,
    /// How many nodes are labelled arbiter.
    pub arbiter_nodes: usize,
    /// How many nodes are labelled worker.
    pub worker_nodes: usize,
    /// Indexes into the inventory of the nodes that count as workload nodes.
    pub workload_nodes: Vec<usize>,
}

impl Topology {
    /// The facts of an inventory under a workload placement (`nodePlacements.workload` of the
    /// v1 API, `workloads.nodePlacement` of v1beta1).
    pub fn new(inventory: &Inventory, workload_placement: Option<&Value>) -> Self {
        let control_plane: Vec<&Node> = inventory
            .nodes
            .iter()
            .filter(|n| n.is_control_plane())
            .collect();
        let is_workload_node = workload_nodes(workload_placement);
        let workload_nodes: Vec<usize> = inventory
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| is_workload_node(n))
            .map(|(i, _)| i)
            .collect();
        let workers = workload_nodes
            .iter()
            .filter_map(|i| inventory.nodes.get(*i));
        let control_plane_architectures = architectures(control_plane.iter().copied());
        let workload_architectures = architectures(workers.clone());
        Self {
            default_architecture: default_architecture(
                &control_plane_architectures,
                workers.map(|n| n.architecture.as_str()),
            ),
            control_plane_architectures,
            workload_architectures,
            control_plane_nodes: control_plane.len(),
            arbiter_nodes: count_role(inventory, "arbiter"),
            worker_nodes: count_role(inventory, "worker"),
            workload_nodes,
        }
    }

    /// `status.infrastructureHighlyAvailable`: two or more workers.
    pub fn infrastructure_highly_available(&self) -> bool {
        self.worker_nodes >= 2
    }

    /// Three or more control-plane nodes, or two and an arbiter.
    pub fn control_plane_highly_available(&self) -> bool {
        self.control_plane_nodes >= 3 || (self.control_plane_nodes >= 2 && self.arbiter_nodes >= 1)
    }
}

fn count_role(inventory: &Inventory, role: &str) -> usize {
    inventory.nodes.iter().filter(|n| n.has_role(role)).count()
}

/// Which nodes a workload placement makes workload nodes: those that it selects; where it selects
/// none in particular, the workers.
pub fn workload_nodes(placement: Option<&Value>) -> impl Fn(&Node) -> bool {
    let selection = placement.and_then(Selection::of);
    move |node| match &selection {
        Some(selection) => selection.selects(node),
        None => node.has_role("worker"),
    }
}

/// A node placement's node selector and required node affinity, read once for many nodes.
#[derive(Debug)]
pub struct Selection<'v> {
    labels: Option<&'v Map<String, Value>>,
    affinity: Option<Required<'v>>,
}

impl<'v> Selection<'v> {
    /// `None` when the placement has neither, so that it selects nothing in particular.
    pub fn of(placement: &'v Value) -> Option<Self> {
        let labels = placement.get("nodeSelector").and_then(Value::as_object);
        let labels = labels.filter(|l| !l.is_empty());
        let affinity = tree::get(placement, "affinity.nodeAffinity")
            .filter(|a| !a["requiredDuringSchedulingIgnoredDuringExecution"].is_null())
            .map(Required::of);
        (labels.is_some() || affinity.is_some()).then_some(Self { labels, affinity })
    }

    /// Whether a node matches both.
    pub fn selects(&self, node: &Node) -> bool {
        let matches =
            |(k, v): (&String, &Value)| node.labels.get(k).map(String::as_str) == v.as_str();
        self.labels.is_none_or(|labels| labels.iter().all(matches))
            && self
                .affinity
                .as_ref()
                .is_none_or(|a| a.allows(&node.name, &node.labels))
    }
}

fn architectures<'n>(nodes: impl Iterator<Item = &'n Node>) -> Vec<String> {
    let known = nodes.filter(|n| !n.architecture.is_empty());
    let set: BTreeSet<&str> = known.map(|n| n.architecture.as_str()).collect();
    set.into_iter().map(str::to_owned).collect()
}

fn default_architecture<'n>(
    control_plane: &[String],
    workers: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for architecture in workers.filter(|a| !a.is_empty()) {
        *counts.entry(architecture).or_default() += 1;
    }
    let shared = control_plane
        .first()
        .filter(|a| counts.contains_key(a.as_str()));
    if let Some(architecture) = shared {
        return Some(architecture.clone());
    }
    let most = counts.values().max()?;
    let first = counts.iter().find(|(_, n)| *n == most)?;
    Some((*first.0).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(name: &str, architecture: &str, roles: &[&str]) -> Node {
        Node {
            name: name.into(),
            architecture: architecture.into(),
            labels: roles
                .iter()
                .map(|r| (format!("node-role.kubernetes.io/{r}"), String::new()))
                .collect(),
            ..Node::default()
        }
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
    fn workers_unless_a_placement_says_otherwise() {
        let facts = Topology::new(&inventory(), None);
        assert_eq!(facts.workload_architectures, ["arm64", "s390x"]);
        assert_eq!(facts.default_architecture.as_deref(), Some("arm64"));
        assert_eq!(facts.worker_nodes, 4);
        let placement = json!({"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}});
        let facts = Topology::new(&inventory(), Some(&placement));
        assert_eq!(facts.workload_architectures, ["amd64"]);
        assert_eq!(facts.default_architecture.as_deref(), Some("amd64"));
    }
}
