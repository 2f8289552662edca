//! Compares two lists of nodes.

use crate::prelude::*;
use hcoplan_planner::inventory::Node;
use std::fmt;

/// The numbers of nodes of one kind in two lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The nodes' architecture; empty where unknown.
    pub architecture: String,
    /// Their roles, sorted; `master` counts as `control-plane`.
    pub roles: Vec<String>,
    /// Number in the first list.
    pub declared: usize,
    /// Number in the second list.
    pub dumped: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let architecture = match self.architecture.as_str() {
            "" => "nodes without an architecture",
            known => known,
        };
        let roles = if self.roles.is_empty() { "without a role".to_owned() } else { self.roles.join("+") };
        let (declared, dumped) = (self.declared, self.dumped);
        write!(f, "{architecture} {roles}: {declared} declared, {dumped} dumped")
    }
}

/// Differences between declared nodes and a dump. Nodes of pools have no individual names, so nodes are counted by
/// architecture and roles.
pub fn differences(declared: &[Node], dumped: &[Node]) -> Vec<Difference> {
    let mut counts: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for node in declared {
        counts.entry(kind(node)).or_default().0 += 1;
    }
    for node in dumped {
        counts.entry(kind(node)).or_default().1 += 1;
    }
    let differ = counts.into_iter().filter(|(_, (a, b))| a != b);
    let difference = |((architecture, roles), (declared, dumped)): ((&str, Vec<&str>), _)| Difference {
        architecture: architecture.to_owned(),
        roles: roles.into_iter().map(str::to_owned).collect(),
        declared,
        dumped,
    };
    differ.map(difference).collect()
}

fn kind(node: &Node) -> (&str, Vec<&str>) {
    let mut roles: Vec<&str> = node.roles().map(|r| if r == "master" { "control-plane" } else { r }).collect();
    roles.sort_unstable();
    roles.dedup();
    (&node.architecture, roles)
}
