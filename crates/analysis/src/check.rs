//! Runs the rules on one cluster of a repository.

use serde_json::Value;

use hcoplan_lint as lint;
use hcoplan_repository::repo::{ClusterRef, Loaded, Repo};

/// What the rules find in a cluster, with everything of the repository that they may ask for, and
/// the HyperConverged before the change where there is one.
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

/// Everything that rules may ask about a cluster of a repository.
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
