//! Every cluster through the pipeline.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use super::ordered::ordered;
use super::{Held, Only, Outcome, Progress, State, cluster, interrupted, panics};
use crate::diff::Before;
use crate::emit::{DiskTree, Texts, Tree};
use crate::kube::ObjectId;
use crate::lint;
use crate::repo::{ClusterRef, Repo};

/// What is to be done with each cluster.
#[derive(Debug, Default)]
pub struct Work<'a> {
    /// Render also what a webhook would refuse.
    pub force: bool,
    /// What the clusters hold before the change, so that it is judged as an update.
    pub held: Option<&'a Held>,
    /// Run the rules.
    pub lint: Option<&'a lint::Settings>,
    /// Only these objects; empty = all.
    pub only: Vec<Only>,
    /// Print each plan as a line of JSON.
    pub json: bool,
    /// Print the objects as a stream of YAML.
    pub yaml: bool,
    /// Print the HyperConverged as it would be stored.
    pub stored: bool,
    /// Say which golden images are there for which architecture, and which alerts would fire.
    pub matrix: bool,
    /// Compare with this tree.
    pub before: Option<&'a Before>,
    /// Write to this tree.
    pub tree: Option<&'a Tree>,
    /// Hold the tree on disk against what would be written.
    pub check: Option<&'a DiskTree>,
    /// Make each cluster's directory of the tree a kustomization.
    pub kustomization: bool,
    /// Texts that clusters share.
    pub texts: Texts,
}

impl Work<'_> {
    /// Whether what would exist is shown or written, so that the nodes must be known.
    pub(super) fn renders(&self) -> bool {
        self.lint.is_none() || self.json || self.emits()
    }

    /// Whether objects are wanted as files.
    pub(super) fn emits(&self) -> bool {
        self.yaml || self.before.is_some() || self.tree.is_some() || self.check.is_some()
    }

    /// Which objects are asked for.
    pub(super) fn wanted(&self) -> impl Fn(&ObjectId) -> bool {
        |id| self.only.is_empty() || self.only.iter().any(|o| o.matches(id))
    }
}

/// Below this many clusters a second thread costs more than it gives.
const FEW: usize = 4;

/// Runs clusters of a repository through the pipeline; `sink` gets what comes of each, in their
/// order. Ends early when the sink says so or somebody interrupts.
pub fn run(
    repo: &Repo,
    clusters: &[&ClusterRef],
    work: &Work<'_>,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    sink: impl FnMut(Outcome) -> ControlFlow<()>,
) {
    let selection = work.lint.map(lint::Selection::of);
    let one = |cluster: &&ClusterRef| {
        let outcome = panics::caught(|| cluster::work(work, selection.as_ref(), repo, cluster));
        outcome.unwrap_or_else(|said| {
            let state = panicked(work, cluster, said);
            Outcome::new(cluster.name(), state)
        })
    };
    each(clusters, jobs, progress, one, sink);
}

/// Works on items on as many threads as are worth it; `sink` gets what comes of each, in their
/// order. Ends early when the sink says so or somebody interrupts.
pub(super) fn each<T: Sync, R: Send>(
    items: &[T],
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    one: impl Fn(&T) -> R + Sync,
    mut sink: impl FnMut(R) -> ControlFlow<()>,
) {
    let workers = match jobs {
        Some(jobs) => jobs.get(),
        None if items.len() < FEW => 1,
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    ordered(items, workers, one, |result| {
        progress.step();
        match interrupted() {
            true => ControlFlow::Break(()),
            false => sink(result),
        }
    });
}

/// A cluster that could not be worked on keeps the directory it had.
fn panicked(work: &Work<'_>, cluster: &ClusterRef, said: String) -> State {
    match work.tree.map(|tree| tree.keep(cluster.name())) {
        Some(Err(error)) => State::Failed(error.into()),
        _ => State::Panicked(said),
    }
}
