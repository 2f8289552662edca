//! Where what is in an inventory was read.

use std::collections::BTreeMap;

use hcoplan_diagnostics::source::Location;

/// Where a node or its pool was declared.
#[derive(Debug, Clone)]
pub struct NodePlace {
    /// The place that names it.
    pub name: Location,
    /// The place that says its architecture, where one does.
    pub architecture: Option<Location>,
}

/// Where what is in an inventory was read.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The place of each node of the inventory, in its order. Nodes of one pool share theirs.
    pub nodes: Vec<NodePlace>,
    /// The value of each field of `spec`, by the field's name (`release`, `platform`, …).
    pub fields: BTreeMap<String, Location>,
}

impl Places {
    /// The location of a field of `spec`; `None` when no ClusterInventory sets it.
    pub fn field(&self, name: &str) -> Option<&Location> {
        self.fields.get(name)
    }
}
