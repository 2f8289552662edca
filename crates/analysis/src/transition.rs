//! A cluster before and after a change of its sources: the new state derives from the previous one, not from a newly
//! created cluster.

use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use hcoplan_explain::diff::States;
use hcoplan_planner::{lifecycle, lifecycle::Step};

/// The transition of a cluster from one state of its sources to the next.
pub(super) struct Transition<'a> {
    start: State,
    /// The plan before.
    old: Planned<'a>,
    /// The manifest applied last, if known; it isn't applied again.
    applied: Option<Value>,
    /// The steps; the last one is the manifest's update if it is applied.
    steps: Vec<Step>,
    /// The cluster afterwards, planned even if the manifest is rejected.
    after: Planned<'a>,
    verdict: Verdict,
}

impl<'a> Transition<'a> {
    /// From the previous plan. `None` if there is no transition: the old HyperConverged can't be stored or is another
    /// object, or HCO would be downgraded.
    pub(super) fn of(old: &Planned<'a>, new: &Inputs<'a>) -> Option<Self> {
        let (was, is) = (old.release(), new.release());
        if !new.updates(old) || was.version() != is.version() && !lifecycle::is_upgrade(was, is) {
            return None;
        }
        let mut nothing = old.empty_state();
        Arc::make_mut(&mut nothing.inventory).update = new.inventory().update;
        let start = nothing.holding(old.manifest());
        start.stored.as_ref()?;
        Some(Self::new(start, old.clone(), Some(old.manifest().clone()), new))
    }

    /// From the present state of a cluster.
    pub(super) fn of_live(start: State, new: &Inputs<'a>) -> Self {
        let now = start.nodes(Arc::clone(&start.inventory));
        let old = new.with_plan(&start.release, now.plan);
        Self::new(start, old, None, new)
    }

    fn new(start: State, old: Planned<'a>, applied: Option<Value>, new: &Inputs<'a>) -> Self {
        let inventory = Arc::new(new.inventory().clone());
        let is_applied = applied.as_ref() != Some(new.manifest());
        let manifest = is_applied.then(|| new.manifest());
        let steps = start.follow(new.release(), &inventory, manifest);
        let mut plan = steps.last().map_or_else(|| old.plan().clone(), |last| last.plan.clone());
        if let (Some(last), false) = (steps.last(), is_applied) {
            // A controller applies it later, to the object stored then.
            plan.admission = last.after.update(new.manifest()).plan.admission;
        }
        let stuck = steps.iter().find(|step| step.is_stuck());
        let mut verdict = match stuck.or(steps.last()) {
            Some(step) => Verdict::of_step(step),
            None => Verdict::of(old.plan()),
        };
        if !plan.admission.accepted {
            verdict = Verdict::of(&plan);
        }
        let after = new.with_plan(new.release(), plan);
        Self { start, old, applied, steps, after, verdict }
    }

    /// The cluster before.
    pub(super) fn before(&self) -> &Planned<'a> {
        &self.old
    }

    /// The cluster afterwards.
    pub(super) fn after(&self) -> &Planned<'a> {
        &self.after
    }

    /// The verdict on the HyperConverged.
    pub(super) fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    fn manifest(&self) -> Option<&Value> {
        (self.applied.as_ref() != Some(self.after.manifest())).then(|| self.after.manifest())
    }

    /// Adds the differences. A rejected manifest isn't stored, so that only other nodes or another release have an
    /// effect.
    pub(super) fn compare(&self, diff: &mut ClusterDiff) {
        let update = &self.after.loaded().identity.update;
        diff.update = (!update.is_assumed()).then(|| (update.value, update.source()));
        let is_rejected = self.after.is_rejected();
        let last = usize::from(is_rejected && self.manifest().is_some());
        let reached = self.steps.get(..self.steps.len().saturating_sub(last)).unwrap_or_default();
        let (a, b) = (self.old.side(), self.after.side());
        if reached.is_empty() {
            if is_rejected {
                diff.comparison = diff::compare_rejected(&a, &b);
            }
            return;
        }
        let state = &self.start;
        let with = |release: &Arc<Release>, inventory: &Inventory, object: &Value| {
            let inventory = Arc::new(inventory.clone());
            let manifest = (self.applied.as_ref() != Some(object)).then_some(object);
            let steps = state.follow(release, &inventory, manifest);
            let end = steps.last().map_or(state, |step| &step.after);
            end.objects.iter().cloned().collect()
        };
        compare_steps(state, reached, (&self.old, &self.after), &with, diff);
        let upgrades = a.release.version() != b.release.version();
        if upgrades {
            let manifest = self.manifest();
            let changed = manifest.is_some();
            let manifest = manifest.unwrap_or(self.old.manifest());
            let orders = lifecycle::orders(state, manifest, self.after.release());
            diff.notes.extend(diff::order_notes(&orders, changed, &self.after.loaded().document));
        }
        diff.notes.sort_by_key(|note| note.impact);
    }
}

/// Adds the differences that steps make.
pub(super) fn compare_steps(
    start: &State,
    steps: &[Step],
    (before, after): (&Planned<'_>, &Planned<'_>),
    with: &diff::ExistingObjects<'_>,
    diff: &mut ClusterDiff,
) {
    let Some(end) = steps.last() else { return };
    let (a, b) = (before.side(), after.side());
    // The last step's plan: that of a manifest whose rejection can't be forced has no objects.
    let exist = end.after.objects.in_order_of(&end.plan);
    let states = States { existed: &start.objects.in_order_of(a.plan), exist: &exist, with };
    diff.comparison = diff::compare_states(&a, &b, &states);
    if steps.iter().any(Step::is_stuck) {
        // Without a reconcile the new release has no effect.
        (diff.comparison.reconcile, diff.comparison.ssp) = (None, None);
    } else {
        diff.notes = diff::notes(&a, &b);
    }
    let mut before = start;
    for step in steps {
        diff.notes.extend(diff::step_notes(before, step, &after.loaded().document));
        before = &step.after;
    }
}
