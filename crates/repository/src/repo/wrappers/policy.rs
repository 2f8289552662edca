//! Finds the objects of Open Cluster Management's policies.
//!
//! Sources: `PolicySpec`, `ConfigurationPolicySpec` and their `complianceType`s of
//! `policy.open-cluster-management.io`; the configuration policy controller compares a `status` and never writes it.

use super::{Wrapper, group};
use crate::prelude::*;

/// The objects that clusters must have, which a policy declares.
pub(super) fn objects(node: &Node) -> Vec<(&Node, Wrapper<'_>)> {
    let wrapper = Wrapper { node, is_template: false };
    definitions(node, false).filter(|object| !is_check(object)).map(|object| (object, wrapper)).collect()
}

/// The objects that must exist, or that must not.
pub(super) fn definitions(node: &Node, are_unwanted: bool) -> impl Iterator<Item = &Node> {
    templates(node).filter(move |t| is_unwanted(t) == are_unwanted).filter_map(|t| t.get("objectDefinition"))
}

/// The value with which a policy enforces nothing: `disabled: true`, or a `remediationAction` that informs. That of a
/// Policy wins over those of its templates.
pub(crate) fn idle(root: &Node) -> Option<&Node> {
    if group(root) != "policy.open-cluster-management.io" {
        return None;
    }
    let own = root.below("spec.remediationAction");
    let definitions = templates(root).filter_map(|template| template.get("objectDefinition"));
    let action = own.or_else(|| definitions.filter_map(|object| object.below("spec.remediationAction")).next());
    root.below("spec.disabled").filter(|disabled| disabled.is_true()).or_else(|| action.filter(informs))
}

/// Whether a `remediationAction` enforces nothing.
pub(crate) fn informs(action: &&Node) -> bool {
    let text = action.as_str().unwrap_or_default();
    ["inform", "informonly"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether an object only has an expected status.
pub(super) fn is_check(object: &Node) -> bool {
    let is_head = |key: &str| ["apiVersion", "kind", "metadata", "status"].contains(&key);
    object.get("status").is_some() && object.entries().iter().all(|entry| is_head(&entry.key.text))
}

/// Whether an entry of a policy's templates forbids its object.
pub(super) fn is_unwanted(template: &Node) -> bool {
    template.text("complianceType").eq_ignore_ascii_case("mustnothave")
}

fn templates(node: &Node) -> impl Iterator<Item = &Node> {
    ["spec.policy-templates", "spec.object-templates"].into_iter().flat_map(|path| node.list_at(path))
}
