//! The operator's update of a new HyperConverged, and the status that it reports before.
//!
//! The update stores the finalizer, the label and defaults filled in while rendering. Every reconcile retries a
//! rejected one; the operands are rendered all the same, from the object in etcd.

use super::{Plan, status};
use crate::admission::Admission;
use crate::hyperconverged::{self, storage_path};
use crate::inventory::Inventory;
use crate::jsonpatch;
use crate::operands::TlsProfile;
use crate::prelude::*;
use crate::release::Release;
use crate::topology::Topology;
use crate::{admission, admission::Operation, admission::OperatorBugKind};
use hcoplan_kubernetes::tree::{get, set};

impl Plan {
    /// The rejection of the operator's update of the new object; `None` if it is accepted.
    ///
    /// The update sends an object that was just accepted, so it is only checked if the answer may differ: a warning hid a
    /// rejection, a reconcile failed before all operands existed, a patch depends on the nodes, or Go prints a TLS
    /// profile's missing `type`.
    pub(super) fn rejection_of_update(&self, release: &Release, inventory: &Inventory) -> Option<Box<Admission>> {
        let stored = self.admission.stored.as_ref()?;
        let has_bug = |kind| self.admission.holes.iter().any(|bug| bug.kind == kind);
        let annotations = get(stored, "metadata.annotations").and_then(Value::as_object);
        let is_patched = annotations.is_some_and(|a| a.keys().any(|k| jsonpatch::is_annotation(k)));
        let may_be_rejected = has_bug(OperatorBugKind::WarningEndsValidation)
            || self.reconcile_error.is_some()
            || is_patched
            || TlsProfile::lacks_type(stored);
        if !may_be_rejected {
            return None;
        }
        let stored = hyperconverged::in_storage_version(release, stored);
        let schedule = inventory.data_import_schedule.as_deref();
        let stored = with_status(release, stored, &self.topology, schedule);
        let mut updated = stored.clone();
        write(release, &mut updated, &self.written);
        let missing: Vec<_> = admission::tried_on_update().filter(|kind| self.operand(kind).is_none()).collect();
        let sent = admission::operator_update(release, updated);
        let update = admission::admit(release, inventory, &sent, Operation::Update { old: &stored, missing: &missing });
        (!update.accepted).then(|| Box::new(update))
    }
}

/// Writes values into the HyperConverged: dotted paths below `spec` in v1's shape.
pub fn write(release: &Release, updated: &mut Value, written: &[(String, Value)]) {
    for (path, value) in written {
        set(updated, &storage_path(release, path), value.clone());
    }
}

/// The object with the parts of the operator's status that the webhooks read.
pub fn with_status(release: &Release, mut stored: Value, topology: &Topology, schedule: Option<&str>) -> Value {
    let mut status = Map::new();
    let highly_available = topology.infrastructure_highly_available();
    status.insert("infrastructureHighlyAvailable".to_owned(), highly_available.into());
    let node_info = status::node_info(release, topology);
    status.insert("nodeInfo".to_owned(), node_info.into());
    if let Some(schedule) = schedule {
        status.insert("dataImportSchedule".to_owned(), schedule.into());
    }
    status.insert("versions".to_owned(), json!([{"name": "operator", "version": release.version()}]));
    stored["status"] = status.into();
    stored
}
