//! The nodes assumed for a cluster without any declared.

use super::declared::with_default_labels;
use crate::inventory::{ARCHITECTURE_LABEL, Node, ROLE_LABEL};
use crate::prelude::*;

/// The assumed nodes by role: an installer's default for a cluster with separate workers.
const ROLES: [(&str, usize); 2] = [("control-plane", 3), ("worker", 2)];
const ARCHITECTURE: &str = "amd64";

/// The architectures that a worker may have, the likelier first.
const ARCHITECTURES: [&str; 3] = [ARCHITECTURE, "arm64", "s390x"];

/// The description of assumed nodes in messages.
pub fn described_assumed_nodes(nodes: &[Node]) -> String {
    let worker = nodes.iter().find(|node| node.has_role("worker")).map_or(ARCHITECTURE, |node| &node.architecture);
    format!("three amd64 control-plane nodes and two {worker} workers")
}

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
            let mut of_role = nodes.iter_mut().filter(|node| node.has_role(role));
            if key == NAME {
                of_role.next().into_iter().for_each(|node| node.name.clone_from(&value));
                continue;
            }
            for node in of_role {
                if key == ARCHITECTURE_LABEL {
                    node.architecture.clone_from(&value);
                }
                node.labels.insert(key.clone(), value.clone());
            }
        }
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

/// Where a HyperConverged has its placements, in both versions, and the role of the nodes that they are for.
const PLACEMENTS: [(&str, &str); 4] = [
    ("/spec/infra/nodePlacement", "worker"),
    ("/spec/workloads/nodePlacement", "worker"),
    ("/spec/deployment/nodePlacements/infra", "worker"),
    ("/spec/deployment/nodePlacements/workload", "worker"),
];

/// The only field of a node that a placement can name.
const NAME: &str = "metadata.name";

/// The labels that a placement requires, and the name.
fn selected_labels(placement: &Value) -> Vec<(String, String)> {
    let selector = members(&placement["nodeSelector"]);
    let mut out: Vec<(String, String)> =
        selector.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let required = &placement["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let first = required["nodeSelectorTerms"].as_array().and_then(|terms| terms.first());
    let lists = ["matchExpressions", "matchFields"].into_iter().filter_map(|list| first?[list].as_array());
    for requirement in lists.flatten() {
        let key = requirement["key"].as_str().unwrap_or_default().to_owned();
        let value = requirement["values"][0].as_str();
        let next_to = |step: i64| Some(value?.parse::<i64>().ok()?.checked_add(step)?.to_string());
        let value = match requirement["operator"].as_str() {
            Some("In") => value.map(ToOwned::to_owned),
            Some("Exists") => Some(String::new()),
            Some("Gt") => next_to(1),
            Some("Lt") => next_to(-1),
            Some("NotIn") if key == ARCHITECTURE_LABEL => {
                let values = requirement["values"].to_string();
                ARCHITECTURES.into_iter().find(|own| !values.contains(own)).map(ToOwned::to_owned)
            }
            _ => None,
        };
        out.extend(value.map(|value| (key, value)));
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
        assert_eq!(described_assumed_nodes(&nodes), "three amd64 control-plane nodes and two amd64 workers");
        assert!(contrasting_nodes().iter().all(|n| n.has_role("worker") && n.is_control_plane()));
    }
}
