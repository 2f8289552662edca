//! Follows a change of a cluster's declaration: nodes, release, manifest; and a manifest before or after an upgrade.

use super::{State, Step, path};
use crate::inventory::Inventory;
use crate::prelude::*;
use crate::release::Release;

impl State {
    /// Follows a change of the cluster's declaration: its nodes change, HCO is upgraded release by release, then the
    /// manifest is applied; a GitOps controller arrives at the same state. Unchanged parts aren't steps, so the result
    /// may be empty; the last step has the final state. `manifest` is `None` if it is the one applied before.
    ///
    /// A manifest that a webhook rejects is applied all the same; the step has its rejection.
    pub fn follow(&self, release: &Arc<Release>, inventory: &Arc<Inventory>, manifest: Option<&Value>) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        if self.inventory != *inventory {
            steps.push(self.nodes(Arc::clone(inventory)));
        }
        if self.release.version() != release.version() {
            for release in path(&self.release, release) {
                let before = steps.last().map_or(self, |step| &step.after);
                steps.push(before.upgrade(&release));
            }
        }
        if let Some(manifest) = manifest {
            let before = steps.last().map_or(self, |step| &step.after);
            steps.push(before.forced(before.update(manifest)));
        }
        steps
    }
}

/// Whether HCO can be upgraded from one release to another.
pub fn is_upgrade(from: &Release, to: &Release) -> bool {
    match (Release::place(from.name()), Release::place(to.name())) {
        (Some(a), Some(b)) if a == b => from.is_patched_by(to),
        (Some(from), Some(to)) => from < to,
        _ => false,
    }
}

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
