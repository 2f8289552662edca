//! `hcoplan plan --upgrade-to`: what an upgrade of HCO does, release by release.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::arguments::Sources;
use super::clusters::Clusters;
use super::exit::Verdict;
use super::failure::Failure;
use super::output::Output;
use crate::app::{self, Progress, Upgraded, Upgrading};
use crate::diff::ClusterDiff;
use crate::diff::semantic::Impact;
use crate::lint::Settings;
use crate::release::Release;
use crate::repo::Trust;
use crate::report::changes::Steps;

/// Upgrades every chosen cluster, release by release; each step by itself. A step that brings a
/// refusal, a stopped reconcile or a new error fails the run.
pub(super) fn preview(
    found: &Clusters,
    work: &Upgrading<'_>,
    settings: &Settings,
    sources: &Sources,
    verdict: &mut Verdict,
    output: &Output,
) -> Steps {
    let chosen = found.chosen();
    let progress = Progress::of(chosen.len(), output.quiet());
    // By the place of the HCO release among all, then by what it is called.
    let mut steps: BTreeMap<(usize, String), Vec<ClusterDiff>> = BTreeMap::new();
    let mut already_there = Vec::new();
    app::upgrades(&found.repo, &chosen, work, settings, sources.reading.jobs, &progress, |of| {
        for step in of {
            let Upgraded { release, of, compared, is_there } = step;
            if is_there {
                already_there.push(compared.diff.cluster.clone());
            }
            if let Some(said) = compared.panicked {
                verdict.bug = true;
                let cluster = &compared.diff.cluster;
                output.error(format_args!("{cluster}: hcoplan has a bug: {said}"));
            }
            let key = (Release::place(&of).unwrap_or(usize::MAX), release);
            steps.entry(key).or_default().push(compared.diff);
        }
        ControlFlow::Continue(())
    });
    let repo = &found.repo;
    let unbuilt = app::unbuilt(repo, found.below(), |name| found.has(name));
    let compared = chosen.len() + unbuilt.len();
    if !unbuilt.is_empty() {
        let last = (Release::place(work.to.name()).unwrap_or(usize::MAX), work.to.label());
        let last = steps.entry((last.0, last.1.to_owned())).or_default();
        last.extend(unbuilt);
    }
    let steps = steps.into_iter().map(|((_, release), diffs)| (release, diffs));
    let steps = Steps { steps: steps.collect(), already_there, compared };
    let review = steps.review();
    let stops = |e: &crate::review::Entry<'_>| e.effect.impact == Impact::Stops;
    verdict.failed |= review.entries.iter().any(stops) || review.counts.errors_added > 0;
    steps
}

/// The release at the end of a path; the others must lead to it.
pub(super) fn last_release(path: &[String], trust: &Trust) -> Result<Option<Arc<Release>>, Failure> {
    let releases = path.iter().map(|name| trust.named_release(name));
    let releases = releases.collect::<Result<Vec<_>, _>>()?;
    let places: Vec<_> = releases.iter().filter_map(|r| Release::place(r.name())).collect();
    if !places.is_sorted() {
        return Err(Failure::usage(
            format!("--upgrade-to {} goes back", path.join(",")),
            "name the releases in their order; those in between are gone through by themselves",
        ));
    }
    Ok(releases.into_iter().next_back())
}
