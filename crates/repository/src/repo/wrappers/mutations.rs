//! Policies of clusters that change HyperConvergeds when they are applied, or delete them on a schedule.

use globset::Glob;

use super::group;
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::mentions::HCO;
use crate::repo::nodes::{all_nodes, is_on, parsed};

/// Whether an object changes HyperConvergeds, or makes them.
pub(super) fn changes_hyperconverged(root: &Node) -> bool {
    let kind = format!("{}/{}", group(root), root.text("kind"));
    let is_mutator = fields::has("mutators", &kind);
    // HCO's own webhook is planned.
    let is_own = root.list_at("webhooks").iter().any(|hook| hook.text("name").ends_with("hco.kubevirt.io"));
    let acts = match group(root) {
        "kyverno.io" | "policies.kyverno.io" => has_key(root, &["mutate", "mutations", "generate", "schedule"]),
        "policies.kubewarden.io" => is_on(root, "spec.mutating"),
        _ => true,
    };
    is_mutator && !is_own && acts && names(root, false)
}

/// Whether it is Argo CD's own configuration, or that of its operator, and has Argo CD leave HyperConvergeds alone.
pub(super) fn excludes_hyperconverged(root: &Node) -> bool {
    let own = if root.text("kind") == "ArgoCD" { "spec" } else { "data" };
    let is_own = own == "spec" || root.text_at("metadata.name") == Some("argocd-cm");
    let is_meant = |exclusion: &Node| {
        let texts = |key: &str| strings(exclusion.list_at(key)).collect::<Vec<_>>();
        let (groups, kinds) = (texts("apiGroups"), texts("kinds"));
        groups.iter().any(|group| kinds.iter().any(|kind| matches_kind(&format!("{group}/v/{kind}").to_lowercase())))
    };
    let any_is_meant = |key: &str| {
        let parsed = parsed(root.get(own).filter(|_| is_own)?.get(key)?.as_str()?);
        let filters = parsed.documents.first().map(|document| document.root.items()).filter(|all| !all.is_empty())?;
        Some(filters.iter().any(is_meant))
    };
    ["resource.exclusions", "resourceExclusions"].iter().any(|key| any_is_meant(key) == Some(true))
        || ["resource.inclusions", "resourceInclusions"].iter().any(|key| any_is_meant(key) == Some(false))
}

fn has_key(node: &Node, keys: &[&str]) -> bool {
    all_nodes(node).any(|node| node.entries().iter().any(|entry| keys.contains(&entry.key.text.as_str())))
}

/// Whether a pattern in lower case, `group/version/kind` or its end, matches the kind and, if it has one, the group.
fn matches_kind(pattern: &str) -> bool {
    let matches =
        |pattern: &str, name: &str| Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name));
    let mut parts = pattern.rsplit('/');
    let (kind, group) = (parts.next().unwrap_or_default(), parts.nth(1));
    matches(kind, "hyperconverged") && group.is_none_or(|group| matches(group, HCO))
}

/// Whether a field of the match names HyperConvergeds, their group, or everything. Of groups and kinds next to each other
/// both have to.
fn names(node: &Node, is_match: bool) -> bool {
    let is_meant = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower.contains("hyperconverged") || lower.contains(HCO) || matches_kind(&lower)
    };
    match &node.value {
        Value::String(text) => is_match && is_meant(text),
        Value::Seq(items) => items.iter().any(|item| names(item, is_match)),
        Value::Map(entries) => {
            let is_named = |entry: &&Entry| names(&entry.value, fields::has("mutators.matches", &entry.key.text));
            let kinds = ["kinds", "resources"].iter().find_map(|key| node.entry(key));
            let groups = ["apiGroups", "groups"].iter().find_map(|key| node.entry(key));
            entries.iter().any(|entry| is_named(&entry))
                && kinds.zip(groups).is_none_or(|(kinds, groups)| is_named(&kinds) && is_named(&groups))
        }
        _ => false,
    }
}
