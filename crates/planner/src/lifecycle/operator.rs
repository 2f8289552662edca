//! HCO at work on a HyperConverged that is in etcd: what it renders, and what it writes into the
//! HyperConverged itself.
//!
//! Its own update (see [`admission::operator_update`]) may be rejected: then it is tried again in
//! every reconcile, for good.

use crate::operands;
use serde_json::{Map, Value};

use super::Managed;
use super::objects::Objects;
use crate::admission::{self, Admission, Operation};
use crate::hyperconverged::{self, HyperConverged};
use crate::inventory::Inventory;
use crate::plan::{self, AdmissionMode, Plan, plan_with};
use crate::release::Release;

/// An update that the operator tried on the HyperConverged.
#[derive(Debug, Clone)]
pub struct OperatorUpdate {
    /// What it is for.
    pub purpose: Purpose,
    /// Whether it got through, and if not, why.
    pub admission: Admission,
}

/// What an update of the operator's own is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The finalizer, the label, and what rendering wrote into the HyperConverged.
    Reconcile,
    /// The release's upgrade patches.
    UpgradePatches,
}

/// What the operator made of a stored HyperConverged.
pub(super) struct OperatorResult {
    /// The HyperConverged that is in etcd then.
    pub(super) stored: Value,
    /// What was rendered and reported.
    pub(super) plan: Plan,
    /// What it tried to write.
    pub(super) operator_updates: Vec<OperatorUpdate>,
    /// Who owns which fields then.
    pub(super) managed: Managed,
}

/// What the operator adds to the HyperConverged besides its finalizer and its label.
#[derive(Default)]
pub(super) struct Additions {
    /// Annotations.
    pub(super) annotations: Map<String, Value>,
    /// What patches wrote through is stored already: the operands were rendered before, and come
    /// out of the operator's cache.
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
        // It never comes to write anything, or even to report.
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
    // What admission changed, or rejected, was not foreseen: from the next reconcile on, the operator
    // renders what is in etcd.
    let read = HyperConverged::from_stored(release, &result.stored);
    if result.plan.hyperconverged.as_ref() != Some(&read) {
        let admit = AdmissionMode::Stored { operator_updates: false };
        let later = plan_with(release, inventory, &result.stored, admit);
        result.plan = Plan { patched: result.plan.patched, written: result.plan.written, ..later };
    }
    result.operator_updates.push(OperatorUpdate { purpose: Purpose::Reconcile, admission });
    result
}

/// Which operand CRs the webhook would look for and not find.
pub(super) fn missing(existing: &Objects, made: Option<&Plan>) -> Vec<&'static str> {
    let is_made = |kind: &str| made.is_some_and(|plan| plan.operand(kind).is_some());
    let there = |kind: &str| is_made(kind) || existing.has_kind(kind);
    admission::tried_on_update().filter(|kind| !there(kind)).collect()
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
