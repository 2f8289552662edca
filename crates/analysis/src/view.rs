//! Data of a cluster for the views (`matrix`, `report`), in addition to its findings.

use super::cluster_result::ClusterResult;
use super::planned::Planned;
use hcoplan_repository::repo::{ClusterRef, Repo};

/// Notes virtual machines, golden images and alerts: of `planned`, as it is shown. What is rejected and so not rendered
/// is taken from `forced`.
pub(super) fn collect_images_and_alerts(
    (repo, cluster): (&Repo, &ClusterRef),
    planned: &Planned,
    forced: &Planned,
    outcome: &mut ClusterResult,
) {
    let plan = planned.plan();
    let is_blank = plan.admission.stage.is_some() && plan.hyperconverged.is_none();
    let seen = if is_blank { forced } else { planned };
    outcome.matrix = Some(seen.matrix(repo, cluster));
    outcome.alerts = plan.alerts();
    let stored = plan.hyperconverged.as_ref();
    outcome.unfinished = stored.map_or_else(Vec::new, |h| h.gates.immature_gates(planned.release()));
}
