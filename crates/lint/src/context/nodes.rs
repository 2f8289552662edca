//! The declared nodes with their locations.

use super::Context;
use super::prelude::*;
use crate::lists::labels_of;
use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, Node};
use hcoplan_repository::inventory::{NodeLocations, is_left_out};
use hcoplan_yaml::Trail;

/// Kinds of objects that label nodes.
static LABELLERS: Rows<&str> = Rows::of("nodeLabellers");

/// A declared node.
#[derive(Debug, Clone, Copy)]
pub struct NodeRef<'a> {
    /// Its index in the inventory.
    pub index: usize,
    /// The declaration.
    pub node: &'a Node,
    /// Its location.
    pub place: Option<&'a NodeLocations>,
}

impl<'a> Context<'a> {
    /// Whether nodes are declared.
    pub fn has_nodes(&self) -> bool {
        self.input.inventory.states_nodes
    }

    /// Whether everything that is declared of the cluster is valid.
    pub fn has_valid_inventory(&self) -> bool {
        self.input.inventory.valid
    }

    /// The location of a field of the inventory's `spec` (`release`, `platform`); `None` if it isn't set.
    pub fn inventory_place(&self, field: &str) -> Option<&'a Location> {
        self.input.inventory.locations.field(field)
    }

    /// Every declared node.
    pub fn nodes(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let places = &self.input.inventory.locations.nodes;
        let nodes = self.inventory().nodes.iter().enumerate();
        nodes.map(move |(index, node)| NodeRef { index, node, place: places.get(index) })
    }

    /// The workload nodes.
    pub fn workload_nodes(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let workload = &self.topology().workload_nodes;
        self.nodes().filter(|n| workload.binary_search(&n.index).is_ok())
    }

    /// The architectures of control-plane and workload nodes, sorted.
    pub fn node_architectures(&self) -> Vec<&'a str> {
        let topology = self.topology();
        let lists = [&topology.control_plane_architectures, &topology.workload_architectures];
        distinct(lists.into_iter().flatten().map(String::as_str))
    }

    /// KubeVirt's default architecture, if its object sets one; `None` means virt-operator decides.
    pub fn default_architecture(&self) -> Option<&'a str> {
        let architecture =
            self.rendered_kubevirt("configuration.architectureConfiguration.defaultArchitecture").as_str();
        architecture.filter(|a| !a.is_empty())
    }

    /// The control-plane nodes.
    pub fn control_plane_nodes(&self) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        self.nodes().filter(|n| n.node.is_control_plane())
    }

    /// Whether the inventory would have a label, or a field, that nodes have: a pool has no names, and components of the
    /// cluster add labels that an import leaves out, or that it has no values of.
    pub fn shows_label(&self, key: &str) -> bool {
        const OF_EACH_NODE: [&str; 2] = [ARCHITECTURE_LABEL, "kubernetes.io/os"];
        if ["kubernetes.io/hostname", "metadata.name"].contains(&key) {
            return !self.kinds_of_nodes().has_pool;
        }
        let is_added = !OF_EACH_NODE.contains(&key) && (is_left_out(key) || key.starts_with("nvidia.com/"));
        (!is_added || self.kinds_of_nodes().have_label(key)) && !self.kinds_of_nodes().unlisted.contains(key)
    }

    /// The keys of labels whose values the inventory doesn't list, or that an object of the repository sets and no
    /// declared node has: its nodes may come.
    pub(super) fn unlisted_labels(&self) -> HashSet<String> {
        let mut out: HashSet<String> = self.nodes().flat_map(|node| &node.node.other_labels).cloned().collect();
        let is_to_come = |(key, value): &(String, String)| self.nodes().all(|n| n.node.labels.get(key) != Some(value));
        for document in LABELLERS.iter().flat_map(|kind| self.other_objects().of_kind(kind)) {
            document.root.walk(&Trail::ROOT, &mut |_, node| {
                let labels = labels_of(node.get("labels")).chain(labels_of(node.get("nodeLabels")));
                out.extend(labels.filter(is_to_come).map(|(key, _)| key));
                true
            });
        }
        out
    }

    /// One workload node per architecture, sorted by architecture.
    pub fn node_per_architecture(&self) -> Vec<NodeRef<'a>> {
        let architectures = &self.topology().workload_architectures;
        architectures.iter().filter_map(|a| self.workload_nodes().find(|n| n.node.architecture == *a)).collect()
    }
}

impl NodeRef<'_> {
    /// The location of its architecture, else of its name.
    pub fn architecture_place(&self) -> Option<Location> {
        let place = self.place?;
        Some(place.architecture.as_ref().unwrap_or(&place.name).clone())
    }

    /// Whether its name is declared rather than generated for a pool's node.
    pub fn has_own_name(&self) -> bool {
        self.place.is_none_or(|p| p.name.text().contains(&self.node.name))
    }

    /// The location of its name.
    pub fn name_place(&self) -> Option<Location> {
        Some(self.place?.name.clone())
    }
}
