//! Runs a task on every cluster.

use super::cluster_result::ClusterResult;
use super::cluster_task::ClusterTask;
use super::ordered::ordered;
use super::pairs::Pair;
use super::progress::Progress;
use super::{cluster, interrupted, panics};
use crate::prelude::*;

/// With fewer clusters a second thread costs more than it saves.
const FEW: usize = 4;

/// Analyses clusters; `sink` gets the results in order. Stops early if the sink or a signal says so.
pub fn run(
    repo: &Repo,
    pairs: &[Pair<'_>],
    work: &ClusterTask<'_>,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    mut sink: impl FnMut(ClusterResult) -> ControlFlow<()>,
) {
    let one = |pair: &Pair<'_>| {
        let outcome = panics::catch_panic(|| cluster::work(work, repo, pair));
        outcome.unwrap_or_else(|said| panicked(work, &pair.name, said))
    };
    // The useful number of threads.
    let workers = match jobs {
        Some(jobs) => jobs.get(),
        None if pairs.len() < FEW => 1,
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    ordered(pairs, workers, one, |result| {
        progress.step();
        if interrupted() { ControlFlow::Break(()) } else { sink(result) }
    });
}

/// The result of a panic; the cluster keeps its output directory.
fn panicked(work: &ClusterTask<'_>, cluster: &ClusterName, text: String) -> ClusterResult {
    let why = NotPlanned { kind: NotPlannedKind::Bug, text, location: None, help: None };
    let mut outcome = ClusterResult { cluster: cluster.clone(), ..ClusterResult::default() };
    outcome.not_planned(why);
    cluster::keep(work, &mut outcome);
    let diff = ClusterDiff { verdict: outcome.verdict.clone(), ..ClusterDiff::new(cluster) };
    outcome.diff = Some(diff).filter(|_| work.compare);
    outcome
}
