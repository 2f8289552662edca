//! Variants of an inventory with more or fewer nodes of each architecture and role.

use std::collections::BTreeMap;

use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, Inventory, Node, ROLE_LABEL};

use super::plan_input::PlanInput;
use super::sufficient_change::{Edit, SufficientChange};
use super::target::{FoundValue, Target};

/// The largest number of role sets that are tried; no cluster has as many.
const MAX_ROLE_SETS: usize = 16;

/// Roles that are tried even if no node has them.
const USUAL_ROLES: [&[&str]; 2] = [&["worker"], &["control-plane"]];

/// One and two more nodes of each of these architectures and each role set; one less of each existing kind. (Two, as a
/// control plane of one becomes one of three.)
pub(super) fn node_count_variants(inventory: &Inventory, architectures: &[&str]) -> Vec<Edit> {
    let mut templates: BTreeMap<Vec<&str>, Option<&Node>> = BTreeMap::new();
    for node in &inventory.nodes {
        let first = templates.entry(node.roles().collect());
        first.or_insert(Some(node));
    }
    for roles in USUAL_ROLES {
        templates.entry(roles.to_vec()).or_default();
    }
    let mut out = Vec::new();
    for (number, words) in [(1, "one more"), (2, "two more")] {
        for (roles, template) in templates.iter().rev().take(MAX_ROLE_SETS) {
            for architecture in architectures {
                out.push(Edit::Nodes {
                    words: format!("{words} {}", described(architecture, roles, number)),
                    more: (0..number).map(|_| another(*template, roles, architecture)).collect(),
                    less: None,
                });
            }
        }
    }
    let mut existing: BTreeMap<(&str, Vec<&str>), usize> = BTreeMap::new();
    for (index, node) in inventory.nodes.iter().enumerate() {
        let kind = (node.architecture.as_str(), node.roles().collect());
        existing.insert(kind, index);
    }
    for ((architecture, roles), last) in existing.into_iter().take(MAX_ROLE_SETS) {
        let words = format!("one {} less", described(architecture, &roles, 1));
        out.push(Edit::Nodes { words, more: Vec::new(), less: Some(last) });
    }
    out
}

/// A copy of an existing node, if any, with these roles and another architecture.
fn another(template: Option<&Node>, roles: &[&str], architecture: &str) -> Node {
    let mut node = template.cloned().unwrap_or_default();
    node.name = "one-more".to_owned();
    node.architecture = architecture.to_owned();
    let labels = roles.iter().map(|r| (format!("{ROLE_LABEL}{r}"), String::new()));
    node.labels.extend(labels);
    let own = (ARCHITECTURE_LABEL.to_owned(), architecture.to_owned());
    node.labels.extend([own]);
    node
}

/// `amd64 worker`, `arm64 nodes (infra, worker)`
fn described(architecture: &str, roles: &[&str], number: usize) -> String {
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

/// The value with another number of nodes if it differs; `None` also if the operators then fail.
pub(super) fn with_node_count(
    plan_input: &PlanInput<'_>,
    target: &Target,
    base: &FoundValue,
    count: &Edit,
) -> Option<SufficientChange> {
    let (mut object, mut inventory) = (plan_input.object.clone(), plan_input.inventory().clone());
    count.apply(&mut object, &mut inventory.nodes);
    let plan = plan_input.planned(&inventory, &object);
    let value = if plan_input.stops_operators(&plan) { return None } else { target.read(&plan) };
    (value != *base).then(|| SufficientChange { edits: vec![count.clone()], how: String::new(), gives: value })
}

/// The first variant of [`node_count_variants`], for the nodes' architectures, with another value.
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
