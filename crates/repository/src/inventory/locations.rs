//! The locations of an inventory's nodes and fields.

use crate::prelude::*;

/// Where a node or its pool was declared.
#[derive(Debug, Clone)]
pub struct NodeLocations {
    /// The location of its name.
    pub name: Location,
    /// The location of its architecture, if there is one.
    pub architecture: Option<Location>,
}

/// The locations of an inventory's nodes and fields.
#[derive(Debug, Clone, Default)]
pub struct InventoryLocations {
    /// The location of each node, in the inventory's order. Nodes of one pool share theirs.
    pub nodes: Vec<NodeLocations>,
    /// The location of the value of each field of `spec`, by name (`release`, `platform`, …).
    pub fields: BTreeMap<String, Location>,
}

impl InventoryLocations {
    /// The location of a field of `spec`; `None` when no ClusterInventory sets it.
    pub fn field(&self, name: &str) -> Option<&Location> {
        self.fields.get(name)
    }
}
