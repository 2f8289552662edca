//! The nodes of a cluster of which nothing says any.

use std::collections::BTreeMap;

use super::declared::labelled;
use super::{Node, ROLE_LABEL};

/// The nodes that are assumed, by role: an installer's default of a cluster with workers of its own.
const ROLES: [(&str, usize); 2] = [("control-plane", 3), ("worker", 2)];
const ARCHITECTURE: &str = "amd64";

/// How [`assumed_nodes`] are described in a message.
pub const ASSUMED_NODES: &str = "three amd64 control-plane nodes and two amd64 workers";

/// Three amd64 control-plane nodes and two amd64 workers, sorted by name.
pub fn assumed_nodes() -> Vec<Node> {
    nodes(&ROLES, ARCHITECTURE)
}

/// Nodes that differ from [`assumed_nodes`] in all that HCO examines: a finding that holds for both doesn't depend on
/// the assumption.
pub fn contrasting_nodes() -> Vec<Node> {
    let mut nodes = nodes(&[("control-plane", 1)], "s390x");
    for node in &mut nodes {
        node.labels.insert(format!("{ROLE_LABEL}worker"), String::new());
    }
    nodes
}

fn nodes(roles: &[(&str, usize)], architecture: &str) -> Vec<Node> {
    let node = |role: &str, number: usize| {
        labelled(Node {
            name: format!("{role}-{number}"),
            labels: BTreeMap::from([(format!("{ROLE_LABEL}{role}"), String::new())]),
            architecture: architecture.to_owned(),
            ..Node::default()
        })
    };
    roles.iter().flat_map(|(role, count)| (0..*count).map(move |number| node(role, number))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_as_they_are_described() {
        let nodes = assumed_nodes();
        let of = |role: &str| nodes.iter().filter(|n| n.has_role(role) && n.architecture == "amd64").count();
        assert_eq!((of("control-plane"), of("worker"), nodes.len()), (3, 2, 5));
        assert!(nodes.is_sorted_by_key(|n| &n.name));
        assert!(ASSUMED_NODES.starts_with("three amd64 control-plane nodes and two amd64 workers"));
        assert!(contrasting_nodes().iter().all(|n| n.has_role("worker") && n.is_control_plane()));
    }
}
