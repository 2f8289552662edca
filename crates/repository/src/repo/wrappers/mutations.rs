//! Policies of clusters that change HyperConvergeds when they are applied.

use super::group;
use crate::prelude::*;
use crate::repo::mentions::HCO;
use crate::repo::nodes::all_nodes;

/// The groups and kinds of objects that change others at admission.
const MUTATORS: [(&str, &str); 8] = [
    ("kyverno.io", "ClusterPolicy"),
    ("kyverno.io", "Policy"),
    ("policies.kyverno.io", "MutatingPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("mutations.gatekeeper.sh", "Assign"),
    ("mutations.gatekeeper.sh", "AssignMetadata"),
    ("mutations.gatekeeper.sh", "ModifySet"),
];

/// The groups, as files that are read because of them have them.
pub(in super::super) const GROUPS: [&str; 3] =
    ["kyverno.io/", "admissionregistration.k8s.io/", "mutations.gatekeeper.sh/"];

/// Fields in which a policy names what it matches.
const MATCHES: [&str; 6] = ["kinds", "resources", "apiGroups", "groups", "targets", "kind"];

/// Whether an object changes HyperConvergeds, or makes them.
pub(super) fn changes_hyperconverged(root: &Node) -> bool {
    let is_mutator = MUTATORS.contains(&(group(root), root.text("kind")));
    // HCO's own webhook is planned.
    let is_own = root.list_at("webhooks").iter().any(|hook| hook.text("name").ends_with("hco.kubevirt.io"));
    is_mutator
        && !is_own
        && (!group(root).contains("kyverno.io") || has_key(root, &["mutate", "mutations", "generate"]))
        && names(root, false)
}

fn has_key(node: &Node, keys: &[&str]) -> bool {
    all_nodes(node).any(|node| node.entries().iter().any(|entry| keys.contains(&entry.key.text.as_str())))
}

/// Whether a field of the match names HyperConvergeds, their group, or everything.
fn names(node: &Node, is_match: bool) -> bool {
    let is_meant = |text: &str| {
        let lower = text.to_ascii_lowercase();
        let begins = lower.strip_suffix('*').is_some_and(|begin| "hyperconverged".starts_with(begin));
        lower.contains("hyperconverged") || lower.contains(HCO) || begins || text == "*/*" || text == "*/*/*"
    };
    match &node.value {
        Value::String(text) => is_match && is_meant(text),
        Value::Seq(items) => items.iter().any(|item| names(item, is_match)),
        Value::Map(entries) => {
            entries.iter().any(|entry| names(&entry.value, MATCHES.contains(&entry.key.text.as_str())))
        }
        _ => false,
    }
}
