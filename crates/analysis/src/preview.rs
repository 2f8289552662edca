//! Previews a cluster's upgrade from its present state, release by release. No manifest is applied in between.

use super::Upgraded;
use super::compared::CurrentCluster;
use super::planned::{ClusterSide, collect_image_changes};
use super::previous_cluster::PreviousCluster;
use crate::planned::Planned;
use crate::prelude::*;
use crate::previous_state::PreviousObject;
use crate::{ClusterResult, ClusterTask};
use hcoplan_diagnostics::finding::{mark_existing, without_existing};
use hcoplan_explain::diff::States;
use hcoplan_planner::{lifecycle, lifecycle::Step};
use hcoplan_rule_pages::rules::RELEASE_NOT_MODELLED;

/// Whether a cluster already runs a release or a later one, since HCO can't be downgraded.
fn is_reached(from: &Release, to: &Release) -> bool {
    match (Release::place(from.name()), Release::place(to.name())) {
        (Some(a), Some(b)) if a != b => a > b,
        _ if from.patched().is_some() || to.patched().is_some() => !lifecycle::is_upgrade(from, to),
        _ => from.name() == to.name() && from.label() == to.label(),
    }
}

/// The steps of a cluster's upgrade; a single one without effect if it runs the release already or is rejected before
/// the upgrade.
pub(super) fn steps(
    work: &ClusterTask<'_>,
    to: &Arc<Release>,
    old: &PreviousCluster,
    now: &CurrentCluster<'_>,
    outcome: &ClusterResult,
) -> Vec<Upgraded> {
    let (inputs, manifest) = (now.inputs, now.inputs.manifest());
    let start = inputs.empty_state();
    // Use the version of the cluster's own distribution.
    let to = &to.of_distribution(start.release.distribution());
    // The steps from a release that isn't modelled to the nearest one aren't known.
    let is_other = |finding: &&Finding| finding.rule.name == RELEASE_NOT_MODELLED.name;
    let unknown: Vec<Finding> = outcome.found.findings.iter().filter(is_other).cloned().collect();
    if is_reached(&start.release, to) {
        let is_there = unknown.is_empty();
        let diff = ClusterDiff { findings_added: unknown, ..ClusterDiff::new(&outcome.cluster) };
        return vec![Upgraded::none(to, diff, is_there)];
    }
    let previous = match old {
        PreviousCluster::Live(object) => Some(object.state(start.clone(), manifest)),
        PreviousCluster::Planned(before) if super::previous_state::is_same(before.manifest(), manifest) => {
            let previous = PreviousObject::Manifest(before.manifest().clone());
            Some(previous.state(start.clone(), manifest))
        }
        _ => None,
    };
    let first = match &previous {
        Some(previous) => previous.update(manifest),
        None => start.update(manifest),
    };
    let first = previous.as_ref().unwrap_or(&start).forced(first);
    let orders = match &previous {
        Some(previous) => lifecycle::orders(previous, manifest, to),
        None => lifecycle::orders(&first.after, manifest, to),
    };
    if !first.plan.admission.accepted {
        // The state is unknown; the change itself reports the rejection.
        let mut diff = ClusterDiff::new(&outcome.cluster);
        diff.verdict = Verdict::of_step(&first);
        let rejections = outcome.found.findings.iter().filter(|f| f.rejection);
        diff.findings_added = rejections.map(|f| Finding { is_existing: true, ..f.clone() }).collect();
        diff.rejected_before = Some(first.plan.admission.message.clone());
        return vec![Upgraded::none(to, diff, false)];
    }
    let mut out = Vec::new();
    let mut before = inputs.with_plan(&first.after.release, first.plan.clone());
    let selection = work.lint.clone().map(hcoplan_lint::Selection::without_fixes);
    let lint = |planned: &Planned| {
        // The manifest exists before and after the step: its patches changed the stored HyperConverged, which HCO alone
        // wouldn't render.
        let found = selection.as_ref().map(|s| planned.findings(now.repo, now.cluster, Some(manifest), s));
        found.unwrap_or_default()
    };
    let mut found = lint(&before);
    found.retain(|finding| !is_other(&finding));
    let mut state = first.after;
    let path = state.upgrade_over(to);
    let last = path.len().saturating_sub(1);
    for (index, step) in path.into_iter().enumerate() {
        let release = &step.after.release;
        let (release, of) = (release.label().to_owned(), release.name().to_owned());
        let after = inputs.with_plan(&step.after.release, step.plan.clone());
        let mut diff = ClusterDiff::new(&outcome.cluster);
        diff.verdict = Verdict::of_step(&step);
        compare_step(&state, &step, (&before, &after), &mut diff);
        if !step.is_stuck() && selection.is_some() {
            let of = |planned| ClusterSide { repo: now.repo, cluster: now.cluster, planned };
            collect_image_changes(of(&before), of(&after), None, &mut diff);
        }
        if index == last {
            diff.notes.extend(diff::order_notes(&orders, previous.is_some()));
        }
        diff.notes.sort_by_key(|note| note.impact);
        let mut finds = lint(&after);
        mark_existing(&mut finds, &found, false);
        let added = finds.iter().filter(|f| !f.is_existing).chain(unknown.iter().filter(|_| index == 0));
        diff.findings_added = added.cloned().collect();
        diff.findings_removed = without_existing(&found, &finds);
        out.push(Upgraded { release, of, diff, is_there: false });
        (before, found) = (after, finds);
        state = step.after;
    }
    out
}

fn compare_step(state: &State, step: &Step, (before, after): (&Planned, &Planned), diff: &mut ClusterDiff) {
    let (a, b) = (before.side(), after.side());
    let states = States {
        existed: &state.objects.in_order_of(a.plan),
        exist: &step.after.objects.in_order_of(b.plan),
        // Only the release differs.
        with: &|_, _, _| step.after.objects.iter().cloned().collect(),
    };
    diff.comparison = diff::compare_states(&a, &b, &states);
    if step.is_stuck() {
        // Without a reconcile the new release has no effect.
        (diff.comparison.reconcile, diff.comparison.ssp) = (None, None);
    } else {
        diff.notes = diff::notes(&a, &b);
    }
    diff.notes.extend(diff::step_notes(state, step, &after.loaded().document));
}
