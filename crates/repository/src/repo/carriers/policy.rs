//! Policies of Open Cluster Management.
//!
//! A Policy holds ConfigurationPolicies, each of which holds objects that a managed cluster must have, must have
//! exactly, or must not have. Sources: the CRDs `policies` and `configurationpolicies` of
//! `policy.open-cluster-management.io`.

use hcoplan_yaml::Node;

use super::{Carrier, CarrierKind, text};

/// The objects that clusters must have.
pub(super) fn objects(node: &Node) -> Vec<(&Node, Carrier<'_>)> {
    let carrier = Carrier { kind: CarrierKind::Policy, node };
    templates(node)
        .filter(|t| compliance(t) != Compliance::Removed)
        .filter_map(|t| Some((t.get("objectDefinition")?, carrier)))
        .collect()
}

/// What it wants to be gone.
pub(super) fn removed_manifests(node: &Node) -> impl Iterator<Item = &Node> {
    let unwanted = templates(node).filter(|t| compliance(t) == Compliance::Removed);
    unwanted.filter_map(|t| t.get("objectDefinition"))
}

fn templates(node: &Node) -> impl Iterator<Item = &Node> {
    let paths = ["spec.policy-templates", "spec.object-templates"];
    let lists = paths.into_iter().filter_map(|path| node.below(path));
    lists.flat_map(Node::items)
}

/// What a policy wants of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compliance {
    /// These fields, beside whatever else there is.
    AtLeast,
    /// This and nothing else.
    Exactly,
    /// That it is gone.
    Removed,
}

fn compliance(template: &Node) -> Compliance {
    let kind = text(template, "complianceType").to_ascii_lowercase();
    match kind.as_str() {
        "mustnothave" => Compliance::Removed,
        "mustonlyhave" => Compliance::Exactly,
        _ => Compliance::AtLeast,
    }
}

/// What the ConfigurationPolicy that holds an object wants of it; `None` for what none holds.
pub(super) fn compliance_of(policy: &Node, object: &Node) -> Option<Compliance> {
    let is_it = |t: &&Node| {
        let own = t.get("objectDefinition");
        own.is_some_and(|own| std::ptr::eq(own, object))
    };
    templates(policy).find(is_it).map(compliance)
}
