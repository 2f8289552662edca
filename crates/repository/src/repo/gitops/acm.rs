//! Subscriptions and policy generators of Advanced Cluster Management.

use super::Source;
use crate::prelude::*;
use crate::repo::parent;

/// The directories of git that a Subscription's annotations name.
pub(super) fn subscription(root: &Node, spec: &Node) -> Vec<Source> {
    let annotations = root.below("metadata.annotations").map_or(&[][..], Node::entries);
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
        Source { recurses: false, ..Source::at(path, manifest) }
    };
    manifests.map(source).collect()
}
