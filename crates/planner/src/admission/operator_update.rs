//! The operator's own update of the HyperConverged. Its first reconcile adds a finalizer and a label, and stores the
//! defaults that it filled in while rendering.
//!
//! That update goes through admission, which fills in the eviction strategy from the operator's status. An object that
//! a bug let through may be rejected then, in this and every later reconcile. A HyperConverged that already has
//! finalizer and label, such as one copied from a cluster, is never updated.

use crate::hyperconverged::{self, HyperConverged};
use crate::prelude::*;
use crate::release::Release;
use crate::topology::Topology;

const FINALIZER: &str = "kubevirt.io/hyperconverged";
const LABEL: &str = "app";
const EVICTION_STRATEGY: &str = "virtualization.evictionStrategy";

/// The operator's update of an object: printed from its Go types, with its finalizer, label and status.
pub fn operator_update(release: &Release, mut updated: Value) -> Value {
    let status = updated["status"].take();
    hyperconverged::print(release, &mut updated);
    updated["status"] = status;
    let metadata = &mut updated["metadata"];
    if !has_finalizer(metadata) {
        let mut finalizers = metadata["finalizers"].take();
        match &mut finalizers {
            Value::Array(list) => list.push(json!(FINALIZER)),
            _ => finalizers = json!([FINALIZER]),
        }
        metadata["finalizers"] = finalizers;
    }
    if !has_label(metadata) {
        // In a plan of a rejected object, labels may have any type.
        if !metadata["labels"].is_object() {
            metadata["labels"] = json!({});
        }
        metadata["labels"][LABEL] = metadata["name"].clone();
    }
    updated
}

/// Fills in the eviction strategy as the mutating webhook does on the operator's update. By then `status` says whether
/// the infrastructure is highly available.
pub fn fill_eviction_strategy(hc: &mut HyperConverged, topology: &Topology) {
    if hc.get(EVICTION_STRATEGY).is_none() {
        let strategy = if topology.infrastructure_highly_available() { "LiveMigrate" } else { "None" };
        hc.set(EVICTION_STRATEGY, json!(strategy));
    }
}

/// Whether finalizer and label are set, so that the operator updates nothing.
pub fn is_complete(stored: &Value) -> bool {
    let metadata = &stored["metadata"];
    has_finalizer(metadata) && has_label(metadata)
}

fn has_finalizer(metadata: &Value) -> bool {
    let list = metadata["finalizers"].as_array();
    list.is_some_and(|list| list.iter().any(|f| f == FINALIZER))
}

fn has_label(metadata: &Value) -> bool {
    let label = metadata["labels"][LABEL].as_str();
    label.is_some_and(|label| !label.is_empty())
}
