//! Everything that is known about one cluster's nodes, put together.

use std::sync::Arc;

use hcoplan_diagnostics::finding::{Finding, Severity};
use hcoplan_yaml::{Document, Node as Tree, Path};

use super::declared::{self, Declared};
use super::dump;
use super::machines;
use super::merge::differences;
use super::places::{NodePlace, Places};
use super::rules::{INVENTORY_INCONSISTENT, INVENTORY_INVALID};
use super::{Inventory, Node};

/// What a document says about a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// A ClusterInventory (any kind of our own API group: only its schema says whether it is one).
    Declared,
    /// Nodes as the cluster prints them.
    Nodes,
    /// What makes nodes: MachineSets, MachineDeployments.
    Machines,
}

impl SourceKind {
    /// What a document with this `apiVersion` and `kind` says, by itself.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let group = api_version.split('/').next().unwrap_or_default();
        match (group, kind) {
            // Functions of kustomize are configured in our group, too, and evidence about images is.
            ("hcoplan.dev", "Lint" | "Render" | "ImageArchitectures") => None,
            ("hcoplan.dev", _) => Some(Self::Declared),
            ("v1", "Node" | "NodeList") => Some(Self::Nodes),
            _ if machines::declares_machines(api_version, kind) => Some(Self::Machines),
            _ => None,
        }
    }
}

/// A document that says something about a cluster.
#[derive(Debug, Clone)]
pub struct Source {
    /// What it says.
    pub kind: SourceKind,
    /// The document; for nodes and machines it may be a v1 List of them.
    pub document: Arc<Document>,
}

/// An inventory with the places that it was read from.
#[derive(Debug, Clone)]
pub struct LoadedInventory {
    /// What it says.
    pub inventory: Inventory,
    /// Whether anything says which nodes there are (an empty list does).
    pub states_nodes: bool,
    /// Whether everything in it was understood. Nothing should be rendered otherwise.
    pub valid: bool,
    /// The documents that it was read from.
    pub documents: Vec<Arc<Document>>,
    /// Where what is in it was read.
    pub places: Places,
}

/// No inventory: every fact is unknown.
impl Default for LoadedInventory {
    fn default() -> Self {
        Self {
            inventory: Inventory::default(),
            states_nodes: false,
            valid: true,
            documents: Vec::new(),
            places: Places::default(),
        }
    }
}

impl LoadedInventory {
    /// The same with other nodes, of which no document says anything.
    #[must_use]
    pub fn with_nodes(&self, nodes: Vec<Node>) -> Self {
        let places = Places { nodes: Vec::new(), ..self.places.clone() };
        let inventory = Inventory { nodes, ..self.inventory.clone() };
        Self { inventory, places, ..self.clone() }
    }
}

/// Puts together what several documents say about one cluster.
///
/// The nodes are those of the ClusterInventory, else those of the dump, else those that the
/// machine sets would make.
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
    let Declared { mut inventory, nodes: own_nodes, mut places, mut findings, mut states_nodes } = own;

    let mut dumped = Vec::new();
    for document in of(SourceKind::Nodes) {
        dump::read(document, &mut dumped, &mut findings);
        used.push(Arc::clone(document));
        states_nodes = true;
    }
    dump::no_name_twice(&mut dumped, &mut findings);

    let mut nodes = own_nodes;
    if nodes.is_empty() {
        nodes = dumped;
    } else if !dumped.is_empty() {
        findings.extend(differ(used.first(), &nodes, &dumped));
    }
    if nodes.is_empty() {
        for document in of(SourceKind::Machines) {
            machines::read(document, &mut nodes, &mut findings);
            used.push(Arc::clone(document));
            states_nodes = true;
        }
    }
    nodes.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    (inventory.nodes, places.nodes) = nodes.into_iter().unzip();
    let valid = !findings.iter().any(|f| f.rule.name == INVENTORY_INVALID.name);
    let loaded = LoadedInventory { inventory, states_nodes, valid, documents: used, places };
    (loaded, findings)
}

fn two_inventories(first: &Document, second: &Document) -> Finding {
    let place = |d: &Document| {
        let name = Path::dotted("metadata.name");
        match d.root.at(&name) {
            Some(node) => d.location(node.span),
            None => d.locate(&Path::dotted("kind")),
        }
    };
    Finding::new(&INVENTORY_INCONSISTENT, "there are two inventories for this cluster")
        .at(place(second))
        .label("this one is not read")
        .related(place(first), "this one is")
        .help("keep one beside the HyperConverged, or pair them in hcoplan.yaml")
}

fn differ(
    inventory: Option<&Arc<Document>>,
    declared: &[(Node, NodePlace)],
    dumped: &[(Node, NodePlace)],
) -> Option<Finding> {
    let nodes = |list: &[(Node, NodePlace)]| -> Vec<Node> { list.iter().map(|(node, _)| node.clone()).collect() };
    let found = differences(&nodes(declared), &nodes(dumped));
    let (document, dump) = (inventory?, dumped.first()?);
    if found.is_empty() {
        return None;
    }
    let list = ["nodePools", "nodes"].into_iter().find(|list| {
        let node = document.root.at(&Path::dotted(&format!("spec.{list}")));
        node.is_some_and(|n: &Tree| !n.items().is_empty())
    });
    let path = Path::dotted(&format!("spec.{}", list.unwrap_or("nodes")));
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    Some(
        Finding::new(
            &INVENTORY_INCONSISTENT,
            format!("the declared nodes are not those of the dump ({})", found.join("; ")),
        )
        .severity(Severity::Warning)
        .at(document.locate_key(&path))
        .label("these are used")
        .related(dump.1.name.clone(), "the dump begins here"),
    )
}
