//! A cluster follows what is declared of it: nodes, release, manifest.

use std::sync::Arc;

use serde_json::Value;

use super::{State, Step, path};
use crate::inventory::Inventory;
use crate::release::Release;

impl State {
    /// The cluster follows a change of what is declared of it: its nodes become others, HCO is
    /// upgraded over the releases in between, and then the manifest is applied, which is what a GitOps
    /// controller comes to. A part that isn't another one is no step, so nothing at all may happen;
    /// the last step is the one at the end. `manifest` is `None` where it is the one that was
    /// applied before.
    ///
    /// A manifest that a webhook rejects is followed as if it weren't, with its rejection beside.
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

/// Whether HCO can get from a release to another by upgrades.
pub fn is_upgrade(from: &Release, to: &Release) -> bool {
    match (Release::place(from.name()), Release::place(to.name())) {
        (Some(a), Some(b)) if a == b => from.is_patched_by(to),
        (Some(from), Some(to)) => from < to,
        _ => false,
    }
}
