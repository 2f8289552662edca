//! The nodes assumed for a cluster without any declared.

use super::admits;
use crate::inventory::{ARCHITECTURE_LABEL, Node, ROLE_LABEL};
use crate::names::NAMES;
use crate::prelude::*;
use hcoplan_diagnostics::words::list;
use hcoplan_kubernetes::label_selector::Requirement;

const ARCHITECTURE: &str = "amd64";

/// The architectures that a worker may have, the likelier first.
const ARCHITECTURES: [&str; 3] = [ARCHITECTURE, "arm64", "s390x"];

/// The description of assumed nodes in messages.
pub fn described_assumed_nodes(nodes: &[Node]) -> String {
    let mut workers: BTreeMap<&str, usize> = BTreeMap::new();
    for node in nodes.iter().filter(|node| !node.is_control_plane()) {
        *workers.entry(&node.architecture).or_default() += 1;
    }
    let workers = workers.into_iter().map(|(architecture, count)| match count {
        2 => format!("two {architecture} workers"),
        count => format!("{count} {architecture} workers"),
    });
    let all: Vec<String> = std::iter::once("three amd64 control-plane nodes".to_owned()).chain(workers).collect();
    list(&all, all.len())
}

/// Three amd64 control-plane nodes and two amd64 workers, sorted by name: an installer's default for a cluster with
/// separate workers.
pub fn assumed_nodes() -> Vec<Node> {
    assumed_nodes_of(&[])
}

/// The same nodes with the labels that the placements of HyperConvergeds select: whoever wrote them has such nodes. The
/// HyperConvergeds are one cluster's, before and after a change, which changes no node. Placements that exclude each
/// other have workers of their own.
pub fn assumed_nodes_of(hyperconvergeds: &[&Value]) -> Vec<Node> {
    let mut nodes = control_plane(3, ARCHITECTURE);
    let worker = node("worker", "", ARCHITECTURE);
    let mut pools = vec![worker.clone()];
    let mut met: Vec<&Value> = Vec::new();
    // In both versions; workloads come first.
    for placement in hyperconvergeds
        .iter()
        .flat_map(|own| NAMES["placementsOfHyperConverged"].iter().filter_map(|at| own.pointer(at)))
    {
        // Those that name the control plane and tolerate its taint need no worker.
        if !admits(placement, &worker) && nodes.iter().any(|node| admits(placement, node)) {
            continue;
        }
        let with = |index: usize| {
            let mut next = pools.clone();
            next.extend((index == pools.len()).then(|| worker.clone()));
            select(placement, &mut next[index]);
            next
        };
        met.push(placement);
        let suits = |next: &Vec<Node>| met.iter().all(|own| next.iter().any(|pool| admits(own, pool)));
        if suits(&pools) {
            continue;
        }
        match (0..=pools.len()).map(with).find(suits) {
            Some(next) => pools = next,
            // No node can meet it.
            None => _ = met.pop(),
        }
    }
    let twice = pools.iter().flat_map(|pool| [pool, pool]);
    for (number, pool) in twice.enumerate() {
        let is_taken = pool.name.is_empty() || nodes.iter().any(|node| node.name == pool.name);
        let name = if is_taken { format!("worker-{number}") } else { pool.name.clone() };
        nodes.push(Node { name, ..pool.clone() }.with_default_labels());
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

/// The only field of a node that a placement can name.
const NAME: &str = "metadata.name";

/// The labels of a node's architecture.
const ARCHITECTURE_LABELS: [&str; 2] = [ARCHITECTURE_LABEL, "beta.kubernetes.io/arch"];

/// Gives a node the labels, or the name, that a placement requires and that it lacks.
fn select(placement: &Value, node: &mut Node) {
    let selector = members(&placement["nodeSelector"]);
    let mut out: Vec<(String, String)> =
        selector.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let required = &placement["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    let first = required["nodeSelectorTerms"].as_array().and_then(|terms| terms.first());
    let lists = ["matchExpressions", "matchFields"].into_iter().filter_map(|list| first?[list].as_array());
    let lacks = |r: &&Value| Requirement::of(r).is_none_or(|r| !r.matches(&node.labels));
    for requirement in lists.flatten().filter(lacks) {
        let key = text(&requirement["key"]).to_owned();
        let value = requirement["values"][0].as_str();
        let next_to = |step: i64| Some(value?.parse::<i64>().ok()?.checked_add(step)?.to_string());
        let value = match requirement["operator"].as_str() {
            Some("In") => value.map(ToOwned::to_owned),
            Some("Exists") => Some(String::new()),
            Some("Gt") => next_to(1),
            Some("Lt") => next_to(-1),
            Some("NotIn") if ARCHITECTURE_LABELS.contains(&&*key) => {
                let values = requirement["values"].to_string();
                ARCHITECTURES.into_iter().find(|own| !values.contains(own)).map(ToOwned::to_owned)
            }
            _ => None,
        };
        out.extend(value.map(|value| (key, value)));
    }
    for (key, value) in out {
        if key == NAME {
            node.name = value;
        } else if ARCHITECTURE_LABELS.contains(&&*key) {
            node.labels.extend(ARCHITECTURE_LABELS.map(|label| (label.to_owned(), value.clone())));
            node.architecture = value;
        } else {
            node.labels.insert(key, value);
        }
    }
}

/// Nodes that differ from [`assumed_nodes`] in everything that HCO examines, of each other architecture. A finding that
/// occurs with all of them doesn't depend on the assumption.
pub fn contrasting_nodes() -> impl Iterator<Item = Vec<Node>> {
    ["s390x", "arm64"].into_iter().map(|architecture| {
        let mut nodes = control_plane(1, architecture);
        for node in &mut nodes {
            node.labels.insert(format!("{ROLE_LABEL}worker"), String::new());
        }
        nodes
    })
}

fn control_plane(count: usize, architecture: &str) -> Vec<Node> {
    (0..count).map(|number| node("control-plane", &format!("control-plane-{number}"), architecture)).collect()
}

fn node(role: &str, name: &str, architecture: &str) -> Node {
    let node = Node {
        name: name.to_owned(),
        labels: BTreeMap::from([(format!("{ROLE_LABEL}{role}"), String::new())]),
        architecture: architecture.to_owned(),
        ..Node::default()
    };
    node.with_default_labels()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The workers' names, architectures and a label under placements of workloads and infra, each of one cluster.
    fn workers(sides: &[[&Value; 2]], label: &str) -> Vec<(String, String, Option<String>)> {
        let object = |[workloads, infra]: &[&Value; 2]| json!({"spec": {"workloads": {"nodePlacement": workloads}, "infra": {"nodePlacement": infra}}});
        let sides: Vec<Value> = sides.iter().map(object).collect();
        let nodes = assumed_nodes_of(&sides.iter().collect::<Vec<_>>());
        let workers = nodes.into_iter().filter(|node| !node.is_control_plane());
        workers.map(|mut node| (node.name, node.architecture, node.labels.remove(label))).collect()
    }

    #[test]
    fn assumed_workers_meet_all_placements() {
        let requires = |expressions: Value| {
            let terms = json!({"nodeSelectorTerms": [{"matchExpressions": expressions}]});
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}})
        };
        let none = json!({});
        let named = |name: &str, architecture: &str, label: Option<&str>| {
            (name.to_owned(), architecture.to_owned(), label.map(ToOwned::to_owned))
        };
        let usual = [named("worker-0", "amd64", None), named("worker-1", "amd64", None)];
        let any = requires(json!([{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"]}]));
        let control_plane = json!({
            "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
            "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}],
        });
        for sides in [&[[&any, &none]][..], &[[&none, &control_plane]], &[[&none, &any], [&none, &none]]] {
            assert_eq!(workers(sides, "rack"), usual);
        }
        let [arm, a, b] = [("kubernetes.io/arch", "arm64"), ("rack", "a"), ("rack", "b")]
            .map(|(key, value)| json!({"nodeSelector": {key: value}}));
        let arms = [named("worker-0", "arm64", None), named("worker-1", "arm64", None)];
        assert_eq!(workers(&[[&arm, &none], [&none, &none]], "rack"), arms);
        assert_eq!(workers(&[[&none, &none], [&arm, &none]], "rack"), arms);
        // What can't be of one node is of two pools.
        let racks = [("worker-0", "a"), ("worker-1", "a"), ("worker-2", "b"), ("worker-3", "b")]
            .map(|(name, rack)| named(name, "amd64", Some(rack)));
        assert_eq!(workers(&[[&a, &none], [&b, &none]], "rack"), racks);
        assert_eq!(workers(&[[&a, &b], [&any, &none]], "rack"), racks);
        let infra = json!({"nodeSelector": {"node-role.kubernetes.io/infra": ""}});
        let others = requires(json!([{"key": "node-role.kubernetes.io/infra", "operator": "DoesNotExist"}]));
        let pair = [("worker-0", None), ("worker-1", None), ("worker-2", Some("")), ("worker-3", Some(""))]
            .map(|(name, label)| named(name, "amd64", label));
        assert_eq!(workers(&[[&others, &infra]], "node-role.kubernetes.io/infra"), pair);
        // No node can meet this one.
        let never = requires(json!([{"key": "rack", "operator": "Lt", "values": ["x"]}]));
        assert_eq!(workers(&[[&never, &none]], "rack"), usual);
    }

    #[test]
    fn description_matches_the_assumed_nodes() {
        let nodes = assumed_nodes();
        let of = |role: &str| nodes.iter().filter(|n| n.has_role(role) && n.architecture == "amd64").count();
        assert_eq!((of("control-plane"), of("worker"), nodes.len()), (3, 2, 5));
        assert!(nodes.is_sorted_by_key(|n| &n.name));
        assert_eq!(described_assumed_nodes(&nodes), "three amd64 control-plane nodes and two amd64 workers");
        assert!(contrasting_nodes().flatten().all(|n| n.has_role("worker") && n.is_control_plane()));
    }
}
