//! A manifest and an upgrade, in both orders.

use std::sync::Arc;

use serde_json::Value;

use super::{State, Step, UpdateMethod};
use crate::release::Release;

/// One way to get a manifest and an upgrade done.
#[derive(Debug, Clone)]
pub struct Route {
    /// The manifest's update, on the release that runs then.
    pub update: Step,
    /// The upgrade's steps.
    pub upgrades: Vec<Step>,
    /// What is there at the end.
    pub end: State,
}

/// Both orders.
#[derive(Debug, Clone)]
pub struct Orders {
    /// The manifest is applied, then HCO is upgraded.
    pub before: Route,
    /// HCO is upgraded, then the manifest is applied. It is also what happens to who keeps applying
    /// it all the time, as GitOps controllers do.
    pub after: Route,
}

/// Both orders of a manifest and an upgrade, from a state.
pub fn orders(from: &State, manifest: &Value, method: UpdateMethod, to: &Arc<Release>) -> Orders {
    let last = |upgrades: &[Step], otherwise: &State| {
        let last = upgrades.last();
        last.map_or_else(|| otherwise.clone(), |step| step.after.clone())
    };
    let update = from.update(manifest, method);
    let upgrades = update.after.upgrade_over(to);
    let before = Route {
        end: last(&upgrades, &update.after),
        update,
        upgrades,
    };
    let upgrades = from.upgrade_over(to);
    let update = last(&upgrades, from).update(manifest, method);
    let after = Route {
        end: update.after.clone(),
        update,
        upgrades,
    };
    Orders { before, after }
}
