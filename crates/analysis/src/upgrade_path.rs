//! `--upgrade-to`: the target releases of an upgrade.

use crate::clusters::Clusters;
use crate::failure::Failure;
use crate::prelude::*;
use hcoplan_planner::lifecycle;
use hcoplan_planner::release::version_numbers;
use hcoplan_repository::repo::known_release;

/// The last release of an upgrade path. Each release has to be newer than that of some cluster.
///
/// # Errors
/// If a name is unknown, the path goes backwards, or a release is an upgrade of no cluster.
pub fn last_release(
    path: &[String],
    found: &Clusters,
    clusters: &[&ClusterRef],
) -> Result<Option<Arc<Release>>, Failure> {
    let releases = path.iter().map(|name| known_release(name));
    let releases = releases.collect::<Result<Vec<_>, _>>()?;
    let places: Vec<_> = releases.iter().filter_map(|r| Release::place(r.name())).collect();
    if !places.is_sorted() {
        return Err(Failure::usage(
            format!("--upgrade-to {} goes back", path.join(",")),
            "name the releases in their order; those in between are gone through by themselves",
        ));
    }
    if releases.is_empty() {
        return Ok(None);
    }
    let loaded: Vec<_> = clusters.iter().filter_map(|cluster| found.repo.load(cluster).ok()).collect();
    // A cluster whose release isn't modelled runs none of these; its checklist says so.
    if loaded.iter().any(|loaded| matches!(loaded.release_basis(), ReleaseBasis::NearestTo(_))) {
        return Ok(releases.into_iter().next_back());
    }
    let is_assumed = loaded.iter().any(|loaded| loaded.release_basis() == ReleaseBasis::Assumed);
    let running: Vec<Arc<Release>> = loaded.into_iter().filter_map(|loaded| loaded.release.ok()).collect();
    for (typed, to) in path.iter().zip(&releases) {
        if let Some(from) = running.first().filter(|_| !running.iter().any(|from| is_step(from, to))) {
            return Err(no_step(typed, from, is_assumed, running.len()));
        }
    }
    Ok(releases.into_iter().next_back())
}

/// Whether a cluster can be upgraded from one release to another, in its own distribution.
fn is_step(from: &Release, to: &Arc<Release>) -> bool {
    let to = to.of_distribution(from.distribution());
    let is_patched = from.patched().is_some() || to.patched().is_some();
    let is_later_version = || version_numbers(from.label()) < version_numbers(to.label());
    lifecycle::is_upgrade(from, &to) || (from.name() == to.name() && !is_patched && is_later_version())
}

/// The error if a release is an upgrade of no cluster.
fn no_step(typed: &str, from: &Release, is_assumed: bool, clusters: usize) -> Failure {
    let name = from.display_name();
    let why = match clusters {
        _ if is_assumed => format!("{name} is only assumed"),
        1 => format!("the cluster already runs {name}"),
        _ => "every cluster runs it already, or a newer one".to_owned(),
    };
    Failure::usage(
        format!("--upgrade-to {typed} isn't an upgrade: {why}"),
        "name a later release (`hcoplan release list`), or state the one that runs (--release)",
    )
}
