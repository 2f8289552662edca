//! Subscriptions and policy generators of Advanced Cluster Management.

use super::Source;
use crate::prelude::*;
use crate::repo::candidate::is_candidate;
use crate::repo::nodes::fields_at;
use crate::repo::paths::parent;
use crate::repo::wrappers::policy::informs;

/// The directories of git that a Subscription's annotations name.
pub(super) fn subscription(root: &Node, spec: &Node) -> Vec<Source> {
    let annotations = fields_at(root, "metadata.annotations");
    let paths = annotations.iter().filter(|entry| {
        let key = entry.key.text.as_str();
        key.ends_with("/git-path") || key.ends_with("/github-path")
    });
    paths.filter_map(|entry| Some(Source::at(entry.value.as_str()?, spec))).collect()
}

/// The manifests that a policy generator puts into policies, each with its own entry.
pub(super) fn policy_generator(root: &Node, file: &Utf8Path) -> Vec<Source> {
    let manifests = root.list_at("policies").iter().flat_map(|policy| policy.list_at("manifests"));
    let source = |manifest: &Node| {
        let path = parent(file).join(manifest.text("path"));
        let name = path.file_name().filter(|_| is_candidate(&path)).map(ToOwned::to_owned);
        let directory = if name.is_some() { parent(&path) } else { &path };
        Source { recurses: false, only: name, ..Source::at(directory.as_str(), manifest) }
    };
    manifests.map(source).collect()
}

/// A setting of a policy generator for a manifest: the innermost one.
pub(crate) fn setting<'n>(root: &'n Node, manifest: &'n Node, key: &str) -> Option<&'n Node> {
    let has_it = |policy: &&Node| policy.list_at("manifests").iter().any(|own| own.span == manifest.span);
    let policy = root.list_at("policies").iter().find(has_it)?;
    let levels = [Some(manifest), Some(policy), root.get("policyDefaults")];
    levels.into_iter().flatten().find_map(|level| level.get(key))
}

/// The value with which a policy generator makes a policy of a manifest that enforces nothing.
pub(crate) fn idle<'n>(root: &'n Node, manifest: &'n Node) -> Option<&'n Node> {
    let disabled = setting(root, manifest, "disabled").filter(|disabled| disabled.is_true());
    disabled.or_else(|| setting(root, manifest, "remediationAction").filter(informs))
}
