//! A cluster's data for `matrix` and `report`.

use super::cluster_result::ClusterResult;
use super::planned::Planned;
use hcoplan_repository::repo::{ClusterRef, Repo};

/// Adds virtual machines, golden images and alerts of `planned`; for a rejected HyperConverged, of `forced`.
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
