//! Plans the steps of a cluster: create or update the HyperConverged, then upgrade HCO.

use crate::ClusterTask;
use crate::prelude::*;
use crate::previous_state::PreviousObject;
use hcoplan_planner::lifecycle::Step;
use hcoplan_planner::plan::plan_with;

/// A cluster in its final state.
pub(super) struct Planned {
    /// The final release.
    pub(super) release: Arc<Release>,
    /// The rendered objects; the admission is the manifest's.
    pub(super) plan: Plan,
    /// The final state; `None` for a new cluster without an upgrade.
    pub(super) state: Option<State>,
}

/// Plans a cluster; `old` is the object in it.
pub(super) fn plan(
    work: &ClusterTask<'_>,
    release: &Arc<Release>,
    inventory: &Inventory,
    manifest: &Value,
    old: Option<&PreviousObject>,
    force: bool,
) -> Planned {
    if old.is_none() && work.upgrade_to.is_none() {
        let admit = if force { AdmissionMode::Force } else { AdmissionMode::Create };
        let plan = plan_with(release, inventory, manifest, admit);
        return Planned { release: Arc::clone(release), plan, state: None };
    }
    let empty = State::new(Arc::clone(release), Arc::new(inventory.clone()));
    let before = match old {
        Some(old) => old.state(empty, manifest),
        None => empty,
    };
    let mut step = match old {
        Some(_) => before.update(manifest),
        None => before.create(manifest),
    };
    if force {
        step = before.forced(step);
    }
    match &work.upgrade_to {
        Some(to) if step.after.stored.is_some() => upgraded(step, to),
        _ => Planned { release: Arc::clone(release), plan: step.plan, state: Some(step.after) },
    }
}

/// Upgrades to a release through those in between.
fn upgraded(step: Step, to: &Arc<Release>) -> Planned {
    let mut path = step.after.upgrade_over(to);
    let mut last = path.pop().unwrap_or_else(|| step.clone());
    last.plan.admission = step.plan.admission;
    Planned { release: Arc::clone(&last.after.release), plan: last.plan, state: Some(last.after) }
}
