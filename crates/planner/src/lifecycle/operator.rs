//! HCO's reconcile of a HyperConverged in etcd: the rendered objects, and its updates of the HyperConverged.
//!
//! Its own update (see [`admission::operator_update`]) may be rejected; every later reconcile then tries it again.

use super::Managed;
use super::objects::Objects;
use crate::admission::Admission;
use crate::hyperconverged;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::operands;
use crate::plan::Plan;
use crate::prelude::*;
use crate::release::Release;
use crate::{admission, admission::Operation};
use crate::{plan, plan::AdmissionMode, plan::plan_with};

/// An update that the operator tried on the HyperConverged.
#[derive(Debug, Clone)]
pub struct OperatorUpdate {
    /// Its purpose.
    pub purpose: Purpose,
    /// Its admission.
    pub admission: Admission,
}

/// The purpose of an operator's update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Finalizer, label, and what rendering wrote into the HyperConverged.
    Reconcile,
    /// The release's upgrade patches.
    UpgradePatches,
}

/// The result of reconciling a stored HyperConverged.
pub(super) struct OperatorResult {
    /// The HyperConverged in etcd afterwards.
    pub(super) stored: Value,
    /// The rendered and reported plan.
    pub(super) plan: Plan,
    /// Its attempted updates.
    pub(super) operator_updates: Vec<OperatorUpdate>,
    /// The owners of fields afterwards.
    pub(super) managed: Managed,
}

/// What the operator adds to the HyperConverged in addition to finalizer and label.
#[derive(Default)]
pub(super) struct Additions {
    /// Annotations.
    pub(super) annotations: Map<String, Value>,
    /// Whether the changes that patches made are already stored: the operands were rendered before and are in the
    /// operator's cache.
    pub(super) is_rendered: bool,
}

/// Reconciles until nothing changes. `stored` is in the storage version.
pub(super) fn reconcile_until_stable(
    release: &Release,
    inventory: &Inventory,
    stored: Value,
    (existing, managed): (&Objects, &Managed),
    additions: &Additions,
) -> OperatorResult {
    let annotations = &additions.annotations;
    let writes = !admission::is_complete(&stored) || !annotations.is_empty();
    let plan = plan_with(release, inventory, &stored, AdmissionMode::Stored { operator_updates: writes });
    let mut result = OperatorResult { stored, plan, operator_updates: Vec::new(), managed: managed.clone() };
    if result.plan.ignored || result.plan.status.conditions.is_empty() {
        // The operator neither writes nor reports anything.
        return result;
    }
    result.stored = with_status(release, result.stored, &result.plan);
    let error = result.plan.reconcile_error.as_ref();
    if !writes || error.is_some_and(operands::Error::is_panic) {
        return result;
    }
    let mut updated = result.stored.clone();
    for (name, value) in annotations {
        updated["metadata"]["annotations"][name] = value.clone();
    }
    if !additions.is_rendered {
        plan::write(release, &mut updated, &result.plan.written);
    }
    let missing = missing(existing, Some(&result.plan));
    let sent = admission::operator_update(release, updated);
    let operation = Operation::Update { old: &result.stored, missing: &missing };
    let admission = admission::admit(release, inventory, &sent, operation);
    match &admission.stored {
        Some(updated) => {
            result.managed.update(release, &result.stored, &sent);
            let updated = hyperconverged::in_storage_version(release, updated);
            result.stored = with_status(release, updated, &result.plan);
        }
        None => {
            result.plan.hyperconverged = None;
            result.plan.written.clear();
        }
    }
    // The plan didn't foresee what admission changed or rejected: from the next reconcile on, the operator renders the
    // object in etcd.
    let read = HyperConverged::from_stored(release, &result.stored);
    if result.plan.hyperconverged.as_ref() != Some(&read) {
        let admit = AdmissionMode::Stored { operator_updates: false };
        let later = plan_with(release, inventory, &result.stored, admit);
        result.plan = Plan { patched: result.plan.patched, written: result.plan.written, ..later };
    }
    result.operator_updates.push(OperatorUpdate { purpose: Purpose::Reconcile, admission });
    result
}

/// The operand CRs that the webhook reads but that don't exist.
pub(super) fn missing(existing: &Objects, plan: Option<&Plan>) -> Vec<&'static str> {
    let is_rendered = |kind: &str| plan.is_some_and(|plan| plan.operand(kind).is_some());
    let exists = |kind: &str| is_rendered(kind) || existing.has_kind(kind);
    admission::tried_on_update().filter(|kind| !exists(kind)).collect()
}

/// The object with the status that the operator reports, see [`plan::with_status`].
pub(super) fn with_status(release: &Release, stored: Value, plan: &Plan) -> Value {
    let schedule = plan.status.data_import_schedule.as_deref();
    let mut stored = plan::with_status(release, stored, &plan.topology, schedule);
    if let Some(templates) = plan.status.data_import_cron_templates.as_deref() {
        stored["status"]["dataImportCronTemplates"] = templates.into();
    }
    stored
}
