//! Previews a cluster's upgrade from its present state, release by release. No manifest is applied in between.

use super::Upgraded;
use super::planned::collect_image_changes;
use super::previous_cluster::PreviousCluster;
use super::transition::compare_steps;
use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use crate::{ClusterResult, ClusterTask};
use hcoplan_diagnostics::finding::{mark_existing, without_existing};
use hcoplan_planner::lifecycle;
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
    old: &PreviousCluster<'_>,
    inputs: &Inputs<'_>,
    outcome: &ClusterResult,
) -> Vec<Upgraded> {
    let manifest = inputs.manifest();
    let start = inputs.empty_state();
    // Use the version of the cluster's own distribution.
    let to = &to.of_distribution(start.release.distribution());
    // The steps from a release that isn't modelled to the nearest one aren't known: that concerns each upgrade.
    let is_other = |finding: &&Finding| finding.rule.name == RELEASE_NOT_MODELLED.name;
    let unknown = outcome.found.findings.iter().filter(is_other);
    let unknown: Vec<Finding> = unknown.map(|f| Finding { is_existing: false, ..f.clone() }).collect();
    if is_reached(&start.release, to) {
        let is_there = unknown.is_empty();
        let diff = ClusterDiff { findings_added: unknown, ..ClusterDiff::new(&outcome.cluster) };
        return vec![Upgraded::new(to, diff, is_there)];
    }
    let previous = old.object(inputs).filter(|_| !matches!(old, PreviousCluster::Same));
    let previous = previous.map(|previous| previous.state(start.clone(), manifest));
    let present = previous.as_ref().unwrap_or(&start);
    let first = present.forced(present.update(manifest));
    let orders = lifecycle::orders(previous.as_ref().unwrap_or(&first.after), manifest, to);
    if !first.plan.admission.accepted {
        // The state is unknown; the change itself reports the rejection.
        let mut diff = ClusterDiff::new(&outcome.cluster);
        diff.verdict = Verdict::of_step(&first);
        let rejections = outcome.found.findings.iter().filter(|f| f.rejection);
        diff.findings_added = rejections.map(|f| Finding { is_existing: true, ..f.clone() }).collect();
        diff.rejected_before = Some(first.plan.admission.message.clone());
        return vec![Upgraded::new(to, diff, false)];
    }
    let mut out = Vec::new();
    let mut before = inputs.with_plan(&first.after.release, first.plan.clone());
    let selection = work.lint.clone().map(hcoplan_lint::Selection::without_fixes);
    let lint = |planned: &Planned<'_>| {
        // The manifest exists before and after the step: its patches changed the stored HyperConverged, which HCO alone
        // wouldn't render.
        let found = selection.as_ref().map(|s| planned.findings(Some(manifest), s));
        found.unwrap_or_default()
    };
    let mut found = lint(&before);
    found.retain(|finding| !is_other(&finding));
    let mut state = first.after;
    let path = state.upgrade_over(to);
    let last = path.len().saturating_sub(1);
    for (index, step) in path.into_iter().enumerate() {
        let after = inputs.with_plan(&step.after.release, step.plan.clone());
        let mut diff = ClusterDiff::new(&outcome.cluster);
        diff.verdict = Verdict::of_step(&step);
        // Only the release differs.
        let with = |_: &_, _: &_, _: &_| step.after.objects.iter().cloned().collect();
        compare_steps(&state, std::slice::from_ref(&step), (&before, &after), &with, &mut diff);
        if !step.is_stuck() && selection.is_some() {
            collect_image_changes(&before, &after, None, &mut diff);
        }
        if index == last {
            diff.notes.extend(diff::order_notes(&orders, previous.is_some(), &after.loaded().document));
        }
        diff.notes.sort_by_key(|note| note.impact);
        let mut finds = lint(&after);
        mark_existing(&mut finds, &found, false);
        let added = finds.iter().filter(|f| !f.is_existing).chain(unknown.iter().filter(|_| index == 0));
        diff.findings_added = added.cloned().collect();
        diff.findings_removed = without_existing(&found, &finds);
        out.push(Upgraded::new(&step.after.release, diff, false));
        (before, found) = (after, finds);
        state = step.after;
    }
    out
}
