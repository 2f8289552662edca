//! Compares two lists of nodes.

use super::drift::roles;
use super::locations::NodeLocations;
use crate::prelude::*;
use hcoplan_planner::inventory::Node;

/// The differences between declared nodes and a dump as text; empty without any. Nodes of pools have no individual names,
/// so nodes are counted by architecture and roles.
pub(super) fn differences(declared: &[(Node, NodeLocations)], dumped: &[(Node, NodeLocations)]) -> String {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for (side, nodes) in [declared, dumped].into_iter().enumerate() {
        for (node, _) in nodes {
            counts.entry((node.architecture.as_str(), roles(node.roles()))).or_default()[side] += 1;
        }
    }
    let differing = counts.into_iter().filter(|(_, [declared, dumped])| declared != dumped);
    let texts = differing.map(|((architecture, roles), [declared, dumped])| {
        let architecture = if architecture.is_empty() { "nodes without an architecture" } else { architecture };
        let roles = if roles.is_empty() { "without a role".to_owned() } else { joined(roles, "+") };
        format!("{architecture} {roles}: {declared} declared, {dumped} dumped")
    });
    joined(texts, "; ")
}
