//! What happens to a cluster: its HyperConverged is created, or the one that is there is updated,
//! and then HCO may be upgraded.

use std::sync::Arc;

use serde_json::Value;

use super::ClusterTask;
use super::previous_state::PreviousObject;
use hcoplan_planner::inventory::{Inventory, LoadedInventory};
use hcoplan_planner::lifecycle::{State, Step};
use hcoplan_planner::plan::{AdmissionMode, Plan, plan_with};
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::{ClusterRef, Loaded, Problem};

/// A cluster at the end of what is asked for.
pub(super) struct Planned {
    /// The release that it runs then.
    pub(super) release: Arc<Release>,
    /// What is rendered then; its admission is the manifest's.
    pub(super) plan: Plan,
    /// The state after an upgrade.
    pub(super) upgraded: Option<State>,
}

/// Plans a cluster; `old` is the object that it holds.
pub(super) fn plan(
    work: &ClusterTask<'_>,
    release: &Arc<Release>,
    inventory: &Inventory,
    manifest: &Value,
    old: Option<&PreviousObject>,
    force: bool,
) -> Planned {
    let planned = |plan| Planned { release: Arc::clone(release), plan, upgraded: None };
    if old.is_none() && work.upgrade_to.is_none() {
        let admit = if force { AdmissionMode::Force } else { AdmissionMode::Create };
        return planned(plan_with(release, inventory, manifest, admit));
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
        _ => planned(step.plan),
    }
}

/// The state after a cluster's manifest is submitted to its present state and HCO is upgraded, as the work requests;
/// `None` where it requests neither. A rejected manifest is followed as if it were accepted.
///
/// # Errors
/// The old HyperConverged can't be read.
pub fn end_state(
    work: &ClusterTask<'_>,
    cluster: &ClusterRef,
    loaded: &Loaded,
    release: &Arc<Release>,
    inventory: &LoadedInventory,
) -> Result<Option<State>, Box<Problem>> {
    let manifest = &loaded.json;
    let old = work.before.held(cluster, manifest, release)?;
    if old.is_none() && work.upgrade_to.is_none() {
        return Ok(None);
    }
    let inventory = Arc::new(inventory.inventory.clone());
    let nothing = State::new(Arc::clone(release), inventory);
    let before = match &old {
        Some(old) => old.state(nothing, manifest),
        None => nothing,
    };
    let step = before.forced(before.update(manifest));
    let upgraded = work.upgrade_to.as_ref();
    let upgraded = upgraded.and_then(|to| step.after.upgrade_over(to).pop());
    Ok(Some(upgraded.map_or(step.after, |step| step.after)))
}

/// Upgraded to a release, over those in between.
fn upgraded(step: Step, to: &Arc<Release>) -> Planned {
    let mut path = step.after.upgrade_over(to);
    let mut last = path.pop().unwrap_or_else(|| step.clone());
    last.plan.admission = step.plan.admission;
    Planned { release: Arc::clone(&last.after.release), plan: last.plan, upgraded: Some(last.after) }
}
