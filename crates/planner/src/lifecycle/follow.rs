//! Follows a change of a cluster's declaration: nodes, release, manifest.

use std::sync::Arc;

use serde_json::Value;

use super::{State, Step, path};
use crate::inventory::Inventory;
use crate::release::Release;

impl State {
    /// Follows a change of the cluster's declaration: its nodes change, HCO is upgraded release by release, then the
    /// manifest is applied; a GitOps controller arrives at the same state. Unchanged parts are no step, so the result
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
