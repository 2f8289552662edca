//! The nodes assumed for a cluster without any declared.

use std::collections::BTreeMap;

use super::declared::with_default_labels;
use serde_json::Value;

use super::{ARCHITECTURE_LABEL, Node, ROLE_LABEL};

/// The assumed nodes by role: an installer's default for a cluster with separate workers.
const ROLES: [(&str, usize); 2] = [("control-plane", 3), ("worker", 2)];
const ARCHITECTURE: &str = "amd64";

/// The description of [`assumed_nodes`] in messages.
pub const ASSUMED_NODES: &str = "three amd64 control-plane nodes and two amd64 workers";

/// Three amd64 control-plane nodes and two amd64 workers, sorted by name.
pub fn assumed_nodes() -> Vec<Node> {
    nodes(&ROLES, ARCHITECTURE)
}

/// The same nodes with the labels that a HyperConverged's placement selects: whoever wrote it has such nodes.
pub fn assumed_nodes_of(hyperconverged: &Value) -> Vec<Node> {
    let mut nodes = assumed_nodes();
    let placements = PLACEMENTS.iter().filter_map(|(pointer, role)| Some((hyperconverged.pointer(pointer)?, *role)));
    for (placement, role) in placements {
        for (key, value) in selected_labels(placement) {
            // Infra pods run on any node; those of the control plane stay as they are.
            for node in nodes.iter_mut().filter(|node| node.has_role(role)) {
                if key == ARCHITECTURE_LABEL {
                    node.architecture.clone_from(&value);
                }
                node.labels.insert(key.clone(), value.clone());
            }
        }
    }
    nodes
}

/// Where a HyperConverged has its placements, in both versions, and the role of the nodes that they are for.
const PLACEMENTS: [(&str, &str); 4] = [
    ("/spec/infra/nodePlacement", "worker"),
    ("/spec/workloads/nodePlacement", "worker"),
    ("/spec/deployment/nodePlacements/infra", "worker"),
    ("/spec/deployment/nodePlacements/workload", "worker"),
];

/// The labels that a placement requires.
fn selected_labels(placement: &Value) -> Vec<(String, String)> {
    let selector = placement["nodeSelector"].as_object().into_iter().flatten();
    let mut out: Vec<(String, String)> =
        selector.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let required = &placement["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let first = required["nodeSelectorTerms"].as_array().and_then(|terms| terms.first());
    for requirement in first.and_then(|term| term["matchExpressions"].as_array()).into_iter().flatten() {
        let key = requirement["key"].as_str().unwrap_or_default().to_owned();
        match requirement["operator"].as_str() {
            Some("In") => out.extend(requirement["values"][0].as_str().map(|value| (key, value.to_owned()))),
            Some("Exists") => out.push((key, String::new())),
            _ => {}
        }
    }
    out
}

/// Nodes that differ from [`assumed_nodes`] in everything that HCO examines. A finding that occurs with both doesn't
/// depend on the assumption.
pub fn contrasting_nodes() -> Vec<Node> {
    let mut nodes = nodes(&[("control-plane", 1)], "s390x");
    for node in &mut nodes {
        node.labels.insert(format!("{ROLE_LABEL}worker"), String::new());
    }
    nodes
}

fn nodes(roles: &[(&str, usize)], architecture: &str) -> Vec<Node> {
    let node = |role: &str, number: usize| {
        with_default_labels(Node {
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
    fn description_matches_the_assumed_nodes() {
        let nodes = assumed_nodes();
        let of = |role: &str| nodes.iter().filter(|n| n.has_role(role) && n.architecture == "amd64").count();
        assert_eq!((of("control-plane"), of("worker"), nodes.len()), (3, 2, 5));
        assert!(nodes.is_sorted_by_key(|n| &n.name));
        assert!(ASSUMED_NODES.starts_with("three amd64 control-plane nodes and two amd64 workers"));
        assert!(contrasting_nodes().iter().all(|n| n.has_role("worker") && n.is_control_plane()));
    }
}
