//! One node more and one node less, of each architecture and role.

use std::collections::BTreeMap;

use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, Inventory, Node, ROLE_LABEL};

use super::plan_input::PlanInput;
use super::sufficient_change::{Edit, SufficientChange};
use super::target::{FoundValue, Target};

/// So many sets of roles are tried; no cluster has as many.
const MOST_ROLES: usize = 16;

/// Roles that a cluster may have although none of its nodes says so.
const USUAL: [&[&str]; 2] = [&["worker"], &["control-plane"]];

/// One node more, and two, of each of these architectures and each role; one less of each that is there. (Two,
/// as a control plane of one becomes one of three.)
pub(super) fn node_count_variants(inventory: &Inventory, architectures: &[&str]) -> Vec<Edit> {
    let mut like: BTreeMap<Vec<&str>, Option<&Node>> = BTreeMap::new();
    for node in &inventory.nodes {
        let first = like.entry(node.roles().collect());
        first.or_insert(Some(node));
    }
    for roles in USUAL {
        like.entry(roles.to_vec()).or_default();
    }
    let mut out = Vec::new();
    for (number, words) in [(1, "one more"), (2, "two more")] {
        for (roles, like) in like.iter().rev().take(MOST_ROLES) {
            for architecture in architectures {
                let another = |_| another(*like, roles, architecture);
                out.push(Edit::Nodes {
                    words: format!("{words} {}", called(architecture, roles, number)),
                    more: (0..number).map(another).collect(),
                    less: None,
                });
            }
        }
    }
    let mut there: BTreeMap<(&str, Vec<&str>), usize> = BTreeMap::new();
    for (index, node) in inventory.nodes.iter().enumerate() {
        let kind = (node.architecture.as_str(), node.roles().collect());
        there.insert(kind, index);
    }
    for ((architecture, roles), last) in there.into_iter().take(MOST_ROLES) {
        let words = format!("{} less", called_one(architecture, &roles));
        out.push(Edit::Nodes { words, more: Vec::new(), less: Some(last) });
    }
    out
}

/// A node like one that is there, with these roles and another architecture.
fn another(like: Option<&Node>, roles: &[&str], architecture: &str) -> Node {
    let mut node = like.cloned().unwrap_or_default();
    node.name = "one-more".to_owned();
    node.architecture = architecture.to_owned();
    let labels = roles.iter().map(|r| (format!("{ROLE_LABEL}{r}"), String::new()));
    node.labels.extend(labels);
    let own = (ARCHITECTURE_LABEL.to_owned(), architecture.to_owned());
    node.labels.extend([own]);
    node
}

/// `amd64 worker`, `arm64 nodes (infra, worker)`
fn called(architecture: &str, roles: &[&str], number: usize) -> String {
    let s = if number == 1 { "" } else { "s" };
    let what = match roles {
        ["worker"] => format!("worker{s}"),
        ["control-plane" | "master"] => format!("control-plane node{s}"),
        [] => format!("node{s} without a role"),
        several => format!("node{s} ({})", several.join(", ")),
    };
    match architecture {
        "" => what,
        known => format!("{known} {what}"),
    }
}

fn called_one(architecture: &str, roles: &[&str]) -> String {
    format!("one {}", called(architecture, roles, 1))
}

/// The value with another number of nodes, where it differs; `None` where the operators stop with that number.
pub(super) fn with_node_count(
    plan_input: &PlanInput<'_>,
    target: &Target,
    base: &FoundValue,
    count: &Edit,
) -> Option<SufficientChange> {
    let (mut object, mut inventory) = (plan_input.object.clone(), plan_input.inventory().clone());
    count.apply(&mut object, &mut inventory.nodes);
    let plan = plan_input.planned(&inventory, &object);
    let reading = if plan_input.stops_operators(&plan) { return None } else { target.read(&plan) };
    (reading != *base).then(|| SufficientChange { edits: vec![count.clone()], how: String::new(), gives: reading })
}

/// The first count with which it would be something else, in the order of [`counts`]: of the architectures
/// that are there.
pub(super) fn first_that_matters(
    plan_input: &PlanInput<'_>,
    target: &Target,
    base: &FoundValue,
) -> Option<SufficientChange> {
    let counts = node_count_variants(plan_input.inventory(), &architectures(plan_input));
    counts.iter().find_map(|c| with_node_count(plan_input, target, base, c))
}

/// The architectures of the nodes.
pub(super) fn architectures<'w>(plan_input: &'w PlanInput<'_>) -> Vec<&'w str> {
    let nodes = plan_input.inventory().nodes.iter();
    let mut all: Vec<&str> = nodes.map(|n| n.architecture.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
