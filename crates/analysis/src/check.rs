//! Runs the rules on one cluster of a repository.

use serde_json::Value;

use hcoplan_lint as lint;
use hcoplan_repository::repo::{ClusterRef, Loaded, Repo};

/// The findings of a cluster; `before` is the HyperConverged before the change.
pub(super) fn lint(
    repo: &Repo,
    cluster: &ClusterRef,
    loaded: &Loaded,
    input: lint::Input<'_>,
    before: Option<&Value>,
    selection: &lint::Selection<'_>,
) -> lint::Run {
    lint::run(&context(repo, cluster, loaded, input, selection.settings()).with_before(before), selection)
}

/// The context of the rules: the cluster and all objects of the repository.
pub(super) fn context<'a>(
    repo: &'a Repo,
    cluster: &'a ClusterRef,
    loaded: &'a Loaded,
    input: lint::Input<'a>,
    settings: &'a lint::Settings,
) -> lint::Context<'a> {
    lint::Context::new(input, settings)
        .with_other_objects(|| repo.other_objects(cluster, loaded))
        .with_texts(|| repo.texts(cluster))
        .with_layers(|| repo.layers(cluster))
        .with_editable_file(|| loaded.editable_file())
}
