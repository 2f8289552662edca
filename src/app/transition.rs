//! A cluster before and after a change of its sources: what is there afterwards comes from what was
//! there before, not from a cluster that is made anew.

use std::sync::Arc;

use serde_json::Value;

use super::planned::Planned;
use crate::diff::{self, ClusterDiff, States};
use crate::inventory::Inventory;
use crate::lifecycle::{self, State, UpdateMethod};
use crate::release::Release;

/// Fills in what differs between two states of a cluster's sources, the second one after the first
/// one, and gives the cluster as it is afterwards. `None` where one doesn't follow from the other:
/// the old HyperConverged can't be stored at all, or HCO would have to go back to an older release.
pub(super) fn follow(old: &Planned, new: &Planned, diff: &mut ClusterDiff) -> Option<Planned> {
    let (was, is) = (old.release(), new.release());
    if was.version() != is.version() && !lifecycle::is_upgrade(was, is) {
        return None;
    }
    let nothing = old.empty_state();
    let created = nothing.update(old.manifest(), UpdateMethod::Apply);
    let state = nothing.forced(created).after;
    state.stored.as_ref()?;
    let start = Start { state: &state, old, applied: Some(old.manifest()) };
    Some(start.follow(new, UpdateMethod::Apply, diff))
}

/// As [`follow`], from what a cluster holds now.
pub(super) fn follow_prior(state: &State, new: &Planned, update: UpdateMethod, diff: &mut ClusterDiff) -> Planned {
    let now = state.nodes(Arc::clone(&state.inventory));
    let start = Start { state, old: &new.with_plan(&state.release, now.plan), applied: None };
    start.follow(new, update, diff)
}

/// Where a cluster starts.
struct Start<'a> {
    state: &'a State,
    /// What was planned for it.
    old: &'a Planned,
    /// The manifest that was applied last, where it is known: nobody applies it again.
    applied: Option<&'a Value>,
}

impl Start<'_> {
    fn follow(&self, new: &Planned, update: UpdateMethod, diff: &mut ClusterDiff) -> Planned {
        let (state, old) = (self.state, self.old);
        let applied = |object: &Value| (Some(object) != self.applied).then(|| object.clone());
        let inventory = Arc::new(new.inventory().clone());
        let manifest = applied(new.manifest());
        let steps = state.follow(new.release(), &inventory, manifest.as_ref(), update);
        let Some(last) = steps.last() else {
            return new.with_plan(new.release(), old.plan().clone());
        };
        let mut plan = last.plan.clone();
        if manifest.is_none() {
            // Nobody applies it, and this is what they would be told.
            plan.admission = new.plan().admission.clone();
        }
        let after = new.with_plan(new.release(), plan);
        let (a, b) = (old.side(), after.side());
        let with = |release: &Arc<Release>, inventory: &Inventory, object: &Value| {
            let inventory = Arc::new(inventory.clone());
            let manifest = applied(object);
            let steps = state.follow(release, &inventory, manifest.as_ref(), update);
            let end = steps.last().map_or(state, |step| &step.after);
            end.objects.iter().cloned().collect()
        };
        let states = States {
            existed: &state.objects.in_order_of(old.plan()),
            exist: &last.after.objects.in_order_of(&last.plan),
            with: &with,
        };
        diff.comparison = diff::compare_states(&a, &b, &states);
        let upgrades = a.release.version() != b.release.version();
        if steps.iter().any(lifecycle::Step::is_stuck) {
            // Nothing was reconciled: what the new release would make of it doesn't happen.
            (diff.comparison.reconcile, diff.comparison.ssp) = (None, None);
        } else {
            diff.notes = diff::notes(&a, &b);
        }
        let mut before = state;
        for step in &steps {
            diff.notes.extend(diff::step_notes(before, step));
            before = &step.after;
        }
        if upgrades {
            let manifest = manifest.as_ref();
            let changed = manifest.is_some();
            let manifest = manifest.unwrap_or(old.manifest());
            let orders = lifecycle::orders(state, manifest, update, new.release());
            diff.notes.extend(diff::order_notes(&orders, changed));
        }
        diff.notes.sort_by_key(|note| note.impact);
        after
    }
}
