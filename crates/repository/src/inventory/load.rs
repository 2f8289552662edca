//! Combines all documents about one cluster into its inventory.

use super::declared::{self, Declared};
use super::dump;
use super::locations::{InventoryLocations, NodeLocations};
use super::machines;
use super::merge::differences;
use crate::prelude::*;
use hcoplan_planner::inventory::{Inventory, Node};

/// What a document declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
pub enum SourceKind {
    /// A ClusterInventory (any kind of our API group; its schema decides whether it is one).
    Declared,
    /// Nodes printed by the cluster.
    Nodes,
    /// Objects that create nodes: MachineSets, MachineDeployments.
    Machines,
}

impl SourceKind {
    /// What a document with this `apiVersion` and `kind` declares.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let group = first_part(api_version, '/');
        match (group, kind) {
            // Our group also has configuration of kustomize functions, and evidence about images.
            ("hcoplan.dev", "Lint" | "Render" | "ImageArchitectures") => None,
            // One without its API group is invalid, not something else.
            ("hcoplan.dev", _) | ("", "ClusterInventory") => Some(Self::Declared),
            ("v1", "Node" | "NodeList") => Some(Self::Nodes),
            _ if machines::declares_machines(api_version, kind) => Some(Self::Machines),
            _ => None,
        }
    }
}

/// A document about a cluster.
#[derive(Debug, Clone)]
pub struct Source {
    /// What it declares.
    pub kind: SourceKind,
    /// The document; for nodes and machines it may be a v1 List of them.
    pub document: Arc<Document>,
}

/// An inventory with the locations that it was read from.
#[derive(Debug, Clone)]
pub struct LoadedInventory {
    /// The inventory.
    pub inventory: Inventory,
    /// Whether any document lists the nodes (even none).
    pub states_nodes: bool,
    /// Whether all of it is valid; nothing should be rendered otherwise.
    pub valid: bool,
    /// The documents that were read.
    pub documents: Vec<Arc<Document>>,
    /// The locations of nodes and fields.
    pub locations: InventoryLocations,
}

/// No inventory: every fact is unknown.
impl Default for LoadedInventory {
    fn default() -> Self {
        Self {
            inventory: Inventory::default(),
            states_nodes: false,
            valid: true,
            documents: Vec::new(),
            locations: InventoryLocations::default(),
        }
    }
}

impl LoadedInventory {
    /// The same with other nodes, which no document declares.
    #[must_use]
    pub fn with_nodes(&self, nodes: Vec<Node>) -> Self {
        let locations = InventoryLocations { nodes: Vec::new(), ..self.locations.clone() };
        let inventory = Inventory { nodes, ..self.inventory.clone() };
        Self { inventory, locations, ..self.clone() }
    }
}

/// Combines several documents about one cluster.
///
/// The nodes come from the ClusterInventory, else from the dump, else from the machine sets.
pub fn load(sources: &[Source]) -> (LoadedInventory, Vec<Finding>) {
    let of = |kind| sources.iter().filter(move |s| s.kind == kind).map(|s| &s.document);
    let mut used: Vec<Arc<Document>> = Vec::new();
    let mut own = Declared::default();
    let mut inventories = of(SourceKind::Declared);
    if let Some(first) = inventories.next() {
        own = declared::read(first);
        used.push(Arc::clone(first));
        let more = inventories.map(|second| two_inventories(first, second));
        own.findings.extend(more);
    }
    let Declared { mut inventory, nodes: own_nodes, mut locations, mut findings, mut states_nodes } = own;

    let mut dumped = Vec::new();
    for document in of(SourceKind::Nodes) {
        dump::read(document, &mut dumped, &mut findings);
        used.push(Arc::clone(document));
        states_nodes = true;
    }
    dump::remove_duplicate_names(&mut dumped, |node, location| {
        let message = format!("the node `{}` is dumped twice", node.name);
        let finding = Finding::new(&INVENTORY_INCONSISTENT, message);
        findings.push(finding.at(location.clone()).label("ignored: the first entry is used"));
    });

    let mut nodes = own_nodes;
    if nodes.is_empty() {
        nodes = dumped;
    } else if !dumped.is_empty() {
        findings.extend(dump_difference(used.first(), &nodes, &dumped));
    }
    if nodes.is_empty() {
        let (mut declared, mut found) = (Vec::new(), Vec::new());
        for document in of(SourceKind::Machines) {
            machines::read(document, &mut declared, &mut found);
        }
        // Machine sets for the infrastructure alone are some of the nodes: the others aren't in the repository. Workers
        // may have further roles of any name. Machines whose architecture nothing says are no better than an assumption.
        let is_worker = |node: &Node| !node.is_control_plane() && !node.has_role("infra");
        if declared.iter().any(|(node, _)| is_worker(node) && !node.architecture.is_empty()) {
            used.extend(of(SourceKind::Machines).map(Arc::clone));
            findings.append(&mut found);
            (nodes, states_nodes) = (declared, true);
        }
    }
    nodes.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    (inventory.nodes, locations.nodes) = nodes.into_iter().unzip();
    let mut valid = true;
    for finding in findings.iter_mut().filter(|f| f.rule.name == INVENTORY_INVALID.name) {
        (finding.stops, valid) = (true, false);
    }
    let loaded = LoadedInventory { inventory, states_nodes, valid, documents: used, locations };
    (loaded, findings)
}

fn two_inventories(first: &Document, second: &Document) -> Finding {
    let place = |d: &Document| {
        let name = d.root.below("metadata.name");
        name.map_or_else(|| d.locate(&Path::dotted("kind")), |name| d.location(name.span))
    };
    Finding::new(&INVENTORY_INCONSISTENT, "this cluster has two inventories")
        .at(place(second))
        .label("ignored")
        .related(place(first), "used")
        .help("keep one next to the HyperConverged, or pair them in hcoplan.yaml")
}

fn dump_difference(
    inventory: Option<&Arc<Document>>,
    declared: &[(Node, NodeLocations)],
    dumped: &[(Node, NodeLocations)],
) -> Option<Finding> {
    let (document, dump) = (inventory?, dumped.first()?);
    let differences = differences(declared, dumped);
    let list = if document.root.list_at("spec.nodePools").is_empty() { "spec.nodes" } else { "spec.nodePools" };
    let message = format!("the declared nodes differ from the dump ({differences})");
    let finding = Finding::new(&INVENTORY_INCONSISTENT, message)
        .warning()
        .at(document.locate_key(&Path::dotted(list)))
        .label("used")
        .related(dump.1.name.clone(), "ignored: the dump starts here");
    (!differences.is_empty()).then_some(finding)
}
