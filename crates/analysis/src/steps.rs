//! Plans the steps of a cluster: create or update the HyperConverged, then upgrade HCO.

use crate::ClusterTask;
use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use crate::previous_state::PreviousObject;
use hcoplan_planner::lifecycle::Step;

/// Plans a cluster; `old` is the object in it. The admission is the manifest's. Also returns the final state, unless the
/// cluster is new and not upgraded.
pub(super) fn plan<'a>(
    work: &ClusterTask<'_>,
    inputs: &Inputs<'a>,
    old: Option<&PreviousObject>,
    force: bool,
) -> (Planned<'a>, Option<State>) {
    if old.is_none() && work.upgrade_to.is_none() {
        let admit = if force { AdmissionMode::Force } else { AdmissionMode::Create };
        return (inputs.planned(admit), None);
    }
    let (empty, manifest) = (inputs.empty_state(), inputs.manifest());
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
    let step = match &work.upgrade_to {
        Some(to) if step.after.stored.is_some() => upgraded(step, to),
        _ => step,
    };
    (inputs.with_plan(&step.after.release, step.plan), Some(step.after))
}

/// Upgrades to a release through those in between.
fn upgraded(step: Step, to: &Arc<Release>) -> Step {
    let mut path = step.after.upgrade_over(to);
    let mut last = path.pop().unwrap_or_else(|| step.clone());
    last.plan.admission = step.plan.admission;
    last
}
