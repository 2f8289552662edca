//! Upgrades of the clusters, release by release, from what is there now.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::compare::{PairOutcome, without_twins};
use super::pipeline::each;
use super::planned::{plan, tell_images};
use super::prior_state::Prior;
use super::{PriorState, Progress};
use crate::diff::{self, ClusterDiff, States};
use crate::lifecycle::{self, UpdateMethod};
use crate::lint;
use crate::release::Release;
use crate::repo::{ClusterRef, Repo};

/// What the steps of an upgrade do to the clusters.
#[derive(Debug, Clone)]
pub struct Upgrading<'a> {
    /// The release at the end; a cluster of another distribution goes to that one's version of it.
    pub to: &'a Arc<Release>,
    /// What the clusters hold before the change that is planned.
    pub prior: Option<&'a PriorState>,
    /// How the change is submitted.
    pub update: UpdateMethod,
}

/// One step of a cluster's upgrade.
#[derive(Debug)]
pub struct Upgraded {
    /// The release that it leads to, as the cluster's distribution calls it.
    pub release: String,
    /// The HCO release that this is.
    pub of: String,
    /// What it does.
    pub compared: PairOutcome,
    /// There is no step: the cluster runs that release already, or a later one.
    pub is_there: bool,
}

/// Upgrades clusters; `sink` gets each one's steps, in their order. Nobody applies anything on the
/// way. Ends early when the sink says so or somebody interrupts.
pub fn upgrades(
    repo: &Repo,
    clusters: &[&ClusterRef],
    upgrading: &Upgrading<'_>,
    settings: &lint::Settings,
    jobs: Option<NonZeroUsize>,
    progress: &Progress,
    sink: impl FnMut(Vec<Upgraded>) -> ControlFlow<()>,
) {
    let selection = lint::Selection::of(settings).without_fixes();
    let one = |cluster: &&ClusterRef| {
        let mut steps = Vec::new();
        let whole = PairOutcome::of(cluster.name(), |diff| {
            steps = work(repo, cluster, upgrading, &selection, diff);
        });
        if !steps.is_empty() {
            steps
        } else {
            vec![Upgraded {
                release: upgrading.to.label().to_owned(),
                of: upgrading.to.name().to_owned(),
                is_there: whole.panicked.is_none() && whole.diff.broken.is_none(),
                compared: whole,
            }]
        }
    };
    each(clusters, jobs, progress, one, sink);
}

/// Whether a cluster of a release has nothing to upgrade to another one: HCO doesn't go back.
fn is_reached(from: &Release, to: &Release) -> bool {
    match (Release::place(from.name()), Release::place(to.name())) {
        (Some(a), Some(b)) if a != b => a > b,
        _ if from.patched().is_some() || to.patched().is_some() => !lifecycle::is_upgrade(from, to),
        _ => from.name() == to.name() && from.label() == to.label(),
    }
}

/// The steps; none where the cluster runs the release already or can't be planned, which `diff` says then.
fn work(
    repo: &Repo,
    cluster: &ClusterRef,
    upgrading: &Upgrading<'_>,
    selection: &lint::Selection<'_>,
    diff: &mut ClusterDiff,
) -> Vec<Upgraded> {
    let planned = match plan(repo, cluster) {
        Ok(planned) => planned,
        Err(why) => {
            diff.broken = Some(why.broken(true));
            return Vec::new();
        }
    };
    let start = planned.empty_state();
    let manifest = planned.manifest();
    let old = upgrading.prior.and_then(|prior| prior.of(cluster, manifest, Some(planned.release())).ok());
    let old = old.and_then(Prior::object);
    let update = upgrading.update;
    let prior = old.as_ref();
    let prior = prior.map(|old| old.state(start.clone(), manifest, update));
    let first = match &prior {
        Some(prior) => prior.update(manifest, upgrading.update),
        None => start.update(manifest, UpdateMethod::Apply),
    };
    let first = prior.as_ref().unwrap_or(&start).forced(first);
    // Whoever runs a distribution upgrades to that distribution's version.
    let to = &upgrading.to.of_distribution(start.release.distribution());
    if is_reached(&start.release, to) {
        return Vec::new();
    }
    let orders = match &prior {
        Some(prior) => lifecycle::orders(prior, manifest, upgrading.update, to),
        None => lifecycle::orders(&first.after, manifest, UpdateMethod::Apply, to),
    };
    let mut out = Vec::new();
    let mut before = planned.with_plan(&first.after.release, first.plan.clone());
    let mut state = first.after;
    let path = state.upgrade_over(to);
    let last = path.len().saturating_sub(1);
    for (index, step) in path.into_iter().enumerate() {
        let release = &step.after.release;
        let (release, of) = (release.label().to_owned(), release.name().to_owned());
        let after = planned.with_plan(&step.after.release, step.plan.clone());
        let compared = PairOutcome::of(cluster.name(), |diff| {
            let (a, b) = (before.side(), after.side());
            let states = States {
                existed: &state.objects.in_order_of(a.plan),
                exist: &step.after.objects.in_order_of(b.plan),
                // Nothing differs but the release.
                with: &|_, _, _| step.after.objects.iter().cloned().collect(),
            };
            diff.comparison = diff::compare_states(&a, &b, &states);
            if step.is_stuck() {
                // Nothing was reconciled: what the new release would make of it doesn't happen.
                (diff.comparison.reconcile, diff.comparison.ssp) = (None, None);
            } else {
                diff.notes = diff::notes(&a, &b);
                let machines = after.machines(repo, cluster, selection);
                tell_images(&before, &after, &machines, diff);
            }
            diff.notes.extend(diff::step_notes(&state, &step));
            if index == last {
                diff.notes.extend(diff::order_notes(&orders, prior.is_some()));
            }
            diff.notes.sort_by_key(|note| note.impact);
            // The manifest is there before the step and after it: what its patches wrote through to the stored
            // HyperConverged isn't what HCO renders by itself.
            let found = before.findings(repo, cluster, Some(&before), selection);
            let finds = after.findings(repo, cluster, Some(&before), selection);
            diff.findings_added = without_twins(&finds, &found);
            diff.findings_removed = without_twins(&found, &finds);
        });
        out.push(Upgraded { release, of, compared, is_there: false });
        before = after;
        state = step.after;
    }
    out
}
