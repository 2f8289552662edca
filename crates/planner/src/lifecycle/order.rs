//! Applies a manifest before or after an upgrade.

use std::sync::Arc;

use serde_json::Value;

use super::{State, Step};
use crate::release::Release;

/// One order of a manifest's update and an upgrade.
#[derive(Debug, Clone)]
pub struct UpdateOrder {
    /// The manifest's update, on the release at that time.
    pub update: Step,
    /// The upgrade's steps.
    pub upgrades: Vec<Step>,
    /// The state at the end.
    pub end: State,
}

/// Both orders.
#[derive(Debug, Clone)]
pub struct UpdateOrders {
    /// Applies the manifest, then upgrades HCO.
    pub before: UpdateOrder,
    /// Upgrades HCO, then applies the manifest. GitOps controllers, which keep applying it, arrive here, too.
    pub after: UpdateOrder,
}

/// Applies a manifest and an upgrade to a state, in both orders.
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
