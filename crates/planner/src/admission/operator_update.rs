//! The operator's own update of the HyperConverged: in its first reconcile it adds a finalizer and a
//! label, and with them it stores what it filled in while it rendered.
//!
//! That update passes all of admission, which fills in the eviction strategy by the status that the
//! operator wrote. An object that was let in by a hole may be rejected then, in this reconcile and
//! in every later one. A HyperConverged that has finalizer and label already, as one copied from a
//! cluster has, is never updated.

use hcoplan_kubernetes::tree::get;
use serde_json::{Value, json};

use super::KIND;
use crate::hyperconverged::HyperConverged;
use crate::release::Release;
use crate::topology::Topology;

const FINALIZER: &str = "kubevirt.io/hyperconverged";
const LABEL: &str = "app";
const EVICTION_STRATEGY: &str = "virtualization.evictionStrategy";

/// What the operator sends of an object that it has changed: it is as its Go types print it, with its finalizer and its
/// label, and with the status that the operator wrote.
pub fn operator_update(release: &Release, mut updated: Value) -> Value {
    let status = updated["status"].take();
    let types = release.go_types();
    let api_version = get(&updated, "apiVersion").and_then(Value::as_str);
    let ty = api_version.and_then(|version| types.of_kind(version, KIND));
    if let Some(ty) = ty {
        types.normalise(&mut updated, ty);
    }
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
        // What is planned as if nobody rejected it may be of any type.
        if !metadata["labels"].is_object() {
            metadata["labels"] = json!({});
        }
        metadata["labels"][LABEL] = metadata["name"].clone();
    }
    updated
}

/// Fills in the eviction strategy as the mutating webhook does when the operator updates the
/// object, which is when the operator has written to `status` whether the infrastructure is highly available.
pub fn fill_eviction_strategy(hc: &mut HyperConverged, topology: &Topology) {
    if hc.get(EVICTION_STRATEGY).is_none() {
        let strategy = if topology.infrastructure_highly_available() { "LiveMigrate" } else { "None" };
        hc.set(EVICTION_STRATEGY, json!(strategy));
    }
}

/// Whether the operator has nothing to add: finalizer and label are there.
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
