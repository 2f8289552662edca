//! A cluster with other nodes.

use super::sufficient_change::{Edit, SufficientChange};
use crate::prelude::*;
use crate::why::plan_input::PlanInput;
use crate::why::target::{FoundValue, Target};
use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, ROLE_LABEL};

/// Roles that another node may have.
const ROLES: [&str; 2] = ["worker", "control-plane"];

/// One more node of each role and each of these architectures.
pub(super) fn more_nodes(inventory: &Inventory, architectures: &[&str]) -> Vec<Edit> {
    let one = |role: &str, architecture: &str| {
        let alike = inventory.nodes.iter().find(|node| node.roles().eq([role]));
        let mut node = alike.cloned().unwrap_or_default();
        node.name = "one-more".to_owned();
        node.architecture = architecture.to_owned();
        let labels = [(format!("{ROLE_LABEL}{role}"), ""), (ARCHITECTURE_LABEL.to_owned(), architecture)];
        node.labels.extend(labels.map(|(label, value)| (label, value.to_owned())));
        Edit::Node(role.to_owned(), Box::new(node))
    };
    ROLES.iter().flat_map(|role| architectures.iter().map(|architecture| one(role, architecture))).collect()
}

/// The value with one node more if it differs; `None` also if the operators then fail.
pub(super) fn with_node(
    plan_input: &PlanInput<'_>,
    target: &Target,
    base: &FoundValue,
    node: &Edit,
) -> Option<SufficientChange> {
    let (mut object, mut inventory) = (plan_input.object.clone(), plan_input.inventory().clone());
    node.apply(&mut object, &mut inventory.nodes);
    let plan = plan_input.planned(&inventory, &object);
    let value = if plan_input.stops_operators(&plan) { return None } else { target.read(&plan) };
    (value != *base).then(|| SufficientChange { edits: vec![node.clone()], how: String::new(), gives: value })
}

/// The first node more, of an architecture that the cluster has, with another value.
pub(super) fn first_that_matters(
    plan_input: &PlanInput<'_>,
    target: &Target,
    base: &FoundValue,
) -> Option<SufficientChange> {
    let nodes = more_nodes(plan_input.inventory(), &architectures(plan_input));
    nodes.iter().find_map(|node| with_node(plan_input, target, base, node))
}

/// Whether the value differs in a cluster that has each node three times.
pub(super) fn count_matters(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> bool {
    differs(
        plan_input,
        target,
        base,
        std::iter::repeat_n(&plan_input.inventory().nodes, 3).flatten().cloned().collect(),
    )
}

/// Whether the value differs in a cluster whose nodes have another architecture.
pub(super) fn architecture_matters(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue) -> bool {
    let mut nodes = plan_input.inventory().nodes.clone();
    let other = if nodes.iter().any(|node| node.architecture == "amd64") { "arm64" } else { "amd64" };
    for node in &mut nodes {
        node.architecture = other.to_owned();
        node.labels.insert(ARCHITECTURE_LABEL.to_owned(), other.to_owned());
    }
    differs(plan_input, target, base, nodes)
}

/// Whether the value differs with other nodes, and the operators don't fail.
fn differs(plan_input: &PlanInput<'_>, target: &Target, base: &FoundValue, nodes: Vec<Node>) -> bool {
    let plan = plan_input.with([Delta::Nodes(nodes)]);
    !plan_input.stops_operators(&plan) && target.read(&plan) != *base
}

/// The architectures of the nodes.
pub(super) fn architectures<'w>(plan_input: &'w PlanInput<'_>) -> Vec<&'w str> {
    let nodes = plan_input.inventory().nodes.iter();
    let mut all: Vec<&str> = nodes.map(|n| n.architecture.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
