//! A manifest and an upgrade, in both orders.

use std::sync::Arc;

use serde_json::Value;

use super::{State, Step};
use crate::release::Release;

/// One way to get a manifest and an upgrade done.
#[derive(Debug, Clone)]
pub struct UpdateOrder {
    /// The manifest's update, on the release that runs then.
    pub update: Step,
    /// The upgrade's steps.
    pub upgrades: Vec<Step>,
    /// The state at the end.
    pub end: State,
}

/// Both orders.
#[derive(Debug, Clone)]
pub struct UpdateOrders {
    /// The manifest is applied, then HCO is upgraded.
    pub before: UpdateOrder,
    /// HCO is upgraded, then the manifest is applied. It is also what happens to who keeps applying
    /// it all the time, as GitOps controllers do.
    pub after: UpdateOrder,
}

/// Both orders of a manifest and an upgrade, from a state.
pub fn orders(from: &State, manifest: &Value, to: &Arc<Release>) -> UpdateOrders {
    let last = |upgrades: &[Step], otherwise: &State| {
        let last = upgrades.last();
        last.map_or_else(|| otherwise.clone(), |step| step.after.clone())
    };
    let update = from.update(manifest);
    let upgrades = update.after.upgrade_over(to);
    let before = UpdateOrder { end: last(&upgrades, &update.after), update, upgrades };
    let upgrades = from.upgrade_over(to);
    let update = last(&upgrades, from).update(manifest);
    let after = UpdateOrder { end: update.after.clone(), update, upgrades };
    UpdateOrders { before, after }
}
