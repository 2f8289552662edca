//! Clusters against objects that no sources are known of: an output tree, an export.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use camino::Utf8Path;

use super::compare::PairOutcome;
use super::pipeline::each;
use super::planned::plan;
use super::prior_state::Prior;
use super::{PriorState, Progress, transition};
use crate::diff::{self, Broken, ClusterDiff, Kind, PreviousTree, SideOrigin, VerdictChange};
use crate::emit::cluster_directory;
use crate::kube::Object;
use crate::lifecycle::UpdateMethod;
use crate::lint;
use crate::release::Release;
use crate::repo::{ClusterRef, Repo};

/// The objects on the left.
#[derive(Debug)]
pub enum OldSide<'a> {
    /// An output tree's.
    Tree(&'a PreviousTree),
    /// A cluster's, with what its API server set.
    Live(&'a [Object]),
}

/// Compares clusters with the objects on the left; as [`super::compare`].
pub fn compare_with(
    left: &OldSide<'_>,
    repo: &Repo,
    clusters: &[&ClusterRef],
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    sink: impl FnMut(PairOutcome) -> ControlFlow<()>,
) {
    let one = |cluster: &&ClusterRef| {
        PairOutcome::of(cluster.name(), |diff| {
            if let Err(why) = compare(left, repo, cluster, diff) {
                diff.broken = Some(why);
            }
        })
    };
    each(clusters, jobs, progress, one, sink);
}

/// Compares clusters with what they hold: what an update of it leads to; as [`super::compare`].
pub fn compare_with_prior(
    (prior, update): (&PriorState, UpdateMethod),
    repo: &Repo,
    clusters: &[&ClusterRef],
    settings: &lint::Settings,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    sink: impl FnMut(PairOutcome) -> ControlFlow<()>,
) {
    let selection = lint::Selection::of(settings).without_fixes();
    let one = |cluster: &&ClusterRef| {
        PairOutcome::of(cluster.name(), |diff| {
            if let Err(why) = follow(prior, update, repo, cluster, &selection, diff) {
                diff.broken = Some(why);
            }
        })
    };
    each(clusters, jobs, progress, one, sink);
}

fn follow(
    prior: &PriorState,
    update: UpdateMethod,
    repo: &Repo,
    cluster: &ClusterRef,
    selection: &lint::Selection<'_>,
    diff: &mut ClusterDiff,
) -> Result<(), Broken> {
    let planned = plan(repo, cluster).map_err(|why| why.broken(false))?;
    let release = Some(planned.release());
    let old = prior.of(cluster, planned.manifest(), release).ok();
    diff.refused = !planned.plan().admission.accepted;
    let Some(old) = old.and_then(Prior::object) else {
        diff.whole = Some(Kind::Add);
        diff.comparison = diff::compare_objects(planned.release(), &[], &planned.objects());
        diff.findings_added = planned.findings(repo, cluster, None, selection);
        return Ok(());
    };
    let state = old.state(planned.empty_state(), planned.manifest(), update);
    transition::follow_prior(&state, &planned, update, diff);
    Ok(())
}

fn compare(left: &OldSide<'_>, repo: &Repo, cluster: &ClusterRef, diff: &mut ClusterDiff) -> Result<(), Broken> {
    let planned = plan(repo, cluster).map_err(|why| why.broken(false))?;
    let release = planned.release();
    let objects = planned.objects();
    diff.refused = !planned.plan().admission.accepted;
    if diff.refused {
        diff.findings_added = planned.refusals(repo, cluster);
    }
    match left {
        OldSide::Tree(before) => {
            let directory = cluster_directory(&diff.cluster).map_err(|e| broken(&e))?;
            let old = tree_objects(before, &directory).map_err(|e| broken(&e))?;
            if old.is_empty() && !objects.is_empty() {
                diff.whole = Some(Kind::Add);
            }
            diff.comparison = diff::compare_objects(release, &old, &objects);
            planned.keep_unreached(&mut diff.comparison.objects);
            let after = SideOrigin::Rendered(release);
            diff::set_aside_assumed(SideOrigin::Found, after, &mut diff.comparison.objects);
        }
        OldSide::Live(live) => {
            let live = diff::comparable(live.to_vec(), &objects);
            diff.comparison = diff::compare_objects(release, &live, &objects);
            planned.keep_unreached(&mut diff.comparison.objects);
            diff::set_aside(release, &mut diff.comparison.objects);
            let after = SideOrigin::Rendered(release);
            diff::set_aside_assumed(SideOrigin::Found, after, &mut diff.comparison.objects);
        }
    }
    // What the operators don't come to is no change, and has to be said.
    let change = |after| VerdictChange { before: None, after: Some(after) };
    let plan = planned.plan();
    let stops = plan.reconcile_error.as_ref();
    diff.comparison.reconcile = stops.map(|e| change(format!("{}: {}", e.operand, e.message)));
    let ssp = plan.ssp.as_ref().map(|ssp| &ssp.admission);
    let ssp = ssp.filter(|admission| !admission.accepted);
    diff.comparison.ssp = ssp.map(|admission| change(admission.message.clone()));
    Ok(())
}

fn broken(why: &dyn std::fmt::Display) -> Broken {
    Broken { left: true, both: false, unreadable: true, why: why.to_string(), help: None }
}

/// The objects of a directory of an output tree.
fn tree_objects(before: &PreviousTree, directory: &Utf8Path) -> Result<Vec<Object>, diff::Error> {
    let mut out = Vec::new();
    for file in before.names(directory) {
        out.extend(before.object(directory, file)?);
    }
    Ok(out)
}

/// The clusters of an output tree that the sources don't have any more.
///
/// # Errors
/// A tree that can't be read.
pub fn removed_clusters<'n>(
    before: &PreviousTree,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<ClusterDiff>, diff::Error> {
    let known: Vec<_> = names.filter_map(|n| cluster_directory(n).ok()).collect();
    let newest = Release::known_names().last().and_then(Release::known);
    let release: Arc<Release> = newest.expect("hcoplan models a release");
    let mut out = Vec::new();
    for directory in before.directories() {
        if known.contains(&directory) {
            continue;
        }
        let name = match directory.as_str() {
            "" => ".",
            name => name,
        };
        let objects = tree_objects(before, &directory)?;
        out.push(ClusterDiff {
            whole: Some(Kind::Remove),
            comparison: diff::compare_objects(&release, &objects, &[]),
            ..ClusterDiff::new(name)
        });
    }
    Ok(out)
}
