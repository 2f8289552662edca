//! The inventory's inputs that can be removed for a trial.

use super::facts::NodeField;
use super::input::InputTree;
use crate::prelude::*;
use crate::why::input::Input;
use hcoplan_planner::inventory::ROLE_LABEL;
use hcoplan_planner::world::Fact;
use hcoplan_repository::inventory::LoadedInventory;
use hcoplan_yaml::Node as Tree;

/// With more pools and single nodes than these, those of one architecture and role are examined together first.
const MAX_SINGLE: usize = 24;

/// The removable inputs of an inventory.
pub(super) fn inventory_inputs(loaded: &LoadedInventory) -> Vec<InputTree> {
    let inventory = &loaded.inventory;
    let mut out: Vec<InputTree> = Vec::new();
    for fact in Fact::ALL {
        let mut without = inventory.clone();
        fact.remove_from(&mut without);
        if fact.value(&without) != fact.value(inventory) {
            out.push(InputTree::leaf(Input::Fact(*fact)));
        }
    }
    let pools = pools(loaded);
    if pools.len() <= MAX_SINGLE {
        out.extend(pools);
        return out;
    }
    let mut classes: Vec<(String, Vec<InputTree>)> = Vec::new();
    for pool in pools {
        let first = match &pool.input {
            Input::Nodes { nodes, .. } => nodes.first().and_then(|i| inventory.nodes.get(*i)),
            _ => None,
        };
        let class = first.map_or_else(String::new, class);
        match classes.iter_mut().find(|(name, _)| *name == class) {
            Some((_, trees)) => trees.push(pool),
            None => classes.push((class, vec![pool])),
        }
    }
    out.extend(classes.into_iter().map(|(name, children)| {
        let nodes = children.iter().flat_map(|u| match &u.input {
            Input::Nodes { nodes, .. } => nodes.clone(),
            _ => Vec::new(),
        });
        let nodes: Vec<usize> = nodes.collect();
        let name = format!("the {} {name}", nodes.len());
        InputTree { input: Input::Nodes { nodes, name }, children, joins: true }
    }));
    out
}

/// `amd64 nodes (worker)`
fn class(node: &Node) -> String {
    let roles: Vec<&str> = node.roles().collect();
    let roles = if roles.is_empty() { "no role".to_owned() } else { roles.join(", ") };
    format!("{} nodes ({roles})", node.architecture)
}

/// Groups the nodes by declaration: a pool, or a single node.
fn pools(loaded: &LoadedInventory) -> Vec<InputTree> {
    let mut groups: Vec<(&Location, Vec<usize>)> = Vec::new();
    let mut known = BTreeMap::new();
    for (index, place) in loaded.locations.nodes.iter().enumerate() {
        let name = &place.name;
        let key = (name.file.path(), name.span.start, name.span.end);
        let group = *known.entry(key).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(index);
    }
    let tree = |(location, nodes): (&Location, Vec<usize>)| {
        let text = location.text().trim_matches(['"', '\'']);
        let name = match nodes.len() {
            1 => format!("the node {text}"),
            n => format!("the {n} nodes {text}"),
        };
        let node = nodes.first().and_then(|i| loaded.inventory.nodes.get(*i));
        let fields = node.map_or_else(Vec::new, |n| fields(n, nodes.len()));
        let children = fields
            .into_iter()
            .map(|field| InputTree::leaf(Input::NodeField { nodes: nodes.clone(), name: name.clone(), field }));
        InputTree { children: children.collect(), input: Input::Nodes { nodes, name }, joins: true }
    };
    groups.into_iter().map(tree).collect()
}

fn fields(node: &Node, count: usize) -> Vec<NodeField> {
    let mut out = Vec::new();
    if !node.architecture.is_empty() {
        out.push(NodeField::Architecture);
    }
    out.extend(node.roles().map(|r| NodeField::Role(r.to_owned())));
    let labels = node.labels.keys();
    let labels = labels.filter(|l| !l.starts_with(ROLE_LABEL) && !NAMES["labelsOfEveryNode"].contains(&l.as_str()));
    out.extend(labels.map(|l| NodeField::Label(l.clone())));
    if count > 1 {
        out.push(NodeField::Count);
    }
    out
}

/// The location of a node's declared fact.
pub(super) fn location(loaded: &LoadedInventory, node: usize, field: &NodeField) -> Option<Location> {
    let places = loaded.locations.nodes.get(node)?;
    if *field == NodeField::Architecture && places.architecture.is_some() {
        return places.architecture.clone();
    }
    let file = &places.name.file;
    let mut documents = loaded.documents.iter();
    let found = documents.find_map(|d| {
        let within = d.file.path() == file.path();
        let entry = entry(&d.root, &places.name).filter(|_| within)?;
        let node = match field {
            NodeField::Architecture => entry.get("architecture"),
            NodeField::Role(role) => match entry.get("roles") {
                Some(roles) => roles.items().iter().find(|r| r.as_str() == Some(role)).or(Some(roles)),
                None => labels(entry)?.get(&format!("{ROLE_LABEL}{role}")),
            },
            NodeField::Label(label) => labels(entry)?.get(label),
            NodeField::Count => entry.get("count").or(entry.below("spec.replicas")),
        };
        Some(d.location(node?.span))
    });
    Some(found.unwrap_or_else(|| places.name.clone()))
}

fn labels(entry: &Tree) -> Option<&Tree> {
    entry.get("labels").or(entry.below("metadata.labels"))
}

/// The mapping whose name is at a location: its own `name`, or its metadata's.
fn entry<'t>(tree: &'t Tree, name: &Location) -> Option<&'t Tree> {
    let contains_name = |n: &Tree| n.span.start <= name.span.start && name.span.end <= n.span.end;
    if tree.get("name").or(tree.below("metadata.name")).is_some_and(|n| n.span == name.span) {
        return Some(tree);
    }
    let children = tree.entries().iter().map(|e| &e.value);
    let mut children = children.chain(tree.items()).filter(|n| contains_name(n));
    children.find_map(|child| entry(child, name))
}
