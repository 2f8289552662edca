//! What the views (`matrix`, `report`) want of a cluster beside its findings.

use super::outcome::Outcome;
use crate::inventory::Inventory;
use crate::matrix::{MatrixInput, matrix};
use crate::plan::Plan;
use crate::release::Release;
use crate::repo::Loaded;

/// Notes the golden images and the alerts. What is refused is rendered by force for it, so that the
/// matrix names the images that are missed.
pub(super) fn note_images_and_alerts(
    release: &Release,
    inventory: &Inventory,
    loaded: &Loaded,
    plan: &Plan,
    forced: impl FnOnce() -> Plan,
    outcome: &mut Outcome,
) {
    let admission = &plan.admission;
    let refused = admission.stage.map(|_| admission.message.as_str());
    let is_blank = refused.is_some() && plan.hyperconverged.is_none();
    let forced = is_blank.then(forced);
    outcome.matrix = Some(matrix(&MatrixInput {
        cluster: &loaded.name,
        release,
        inventory,
        plan: forced.as_ref().unwrap_or(plan),
        refused,
    }));
    outcome.alerts = plan.alerts();
    let stored = plan.hyperconverged.as_ref();
    outcome.unfinished = stored.map_or_else(Vec::new, |h| h.gates.immature_gates(release));
}
