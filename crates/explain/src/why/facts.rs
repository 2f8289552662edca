//! The facts about nodes, and how each is removed for a trial.

use crate::prelude::*;
use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, ROLE_LABEL};

/// One declared fact of a pool or a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeField {
    /// Its architecture.
    Architecture,
    /// A role.
    Role(String),
    /// Any other label.
    Label(String),
    /// Its number of nodes.
    Count,
}

impl NodeField {
    /// Removes it from the nodes; returns the indexes of nodes to remove.
    pub(super) fn remove_from(&self, inventory: &mut Inventory, nodes: &[usize]) -> Vec<usize> {
        if *self == Self::Count {
            return nodes.iter().skip(1).copied().collect();
        }
        for index in nodes {
            let Some(node) = inventory.nodes.get_mut(*index) else {
                continue;
            };
            match self {
                Self::Architecture => {
                    node.architecture.clear();
                    node.labels.remove(ARCHITECTURE_LABEL);
                }
                Self::Role(role) => node.labels.retain(|label, _| {
                    let own = label.strip_prefix(ROLE_LABEL);
                    own.is_none_or(|own| own != role && (own != "master" || role != "control-plane"))
                }),
                Self::Label(label) => drop(node.labels.remove(label)),
                Self::Count => {}
            }
        }
        Vec::new()
    }
}
