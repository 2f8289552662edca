//! Every cluster through the pipeline.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use super::ordered::ordered;
use super::outcome::{Outcome, State};
use super::progress::Progress;
use super::work::Work;
use super::{cluster, interrupted, panics};
use crate::repo::{ClusterRef, Repo};

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
    let one = |cluster: &&ClusterRef| {
        let outcome = panics::catch_panic(|| cluster::work(work, repo, cluster));
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
        if interrupted() { ControlFlow::Break(()) } else { sink(result) }
    });
}

/// A cluster that could not be worked on keeps the directory it had.
fn panicked(work: &Work<'_>, cluster: &ClusterRef, said: String) -> State {
    match work.tree.map(|tree| tree.keep(cluster.name())) {
        Some(Err(error)) => State::Failed(error.into()),
        _ => State::Panicked(said),
    }
}
