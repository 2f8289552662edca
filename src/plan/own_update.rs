//! The operator's own update of the HyperConverged: in its first reconcile it adds a finalizer and a
//! label, and with them it stores what it filled in while it rendered.
//!
//! That update passes all of admission. An object that was let in by a hole may be refused then, in
//! this reconcile and in every later one.

use serde_json::{Value, json};

use crate::admission::{self, Admission, Hole, HoleKind, Operation};
use crate::hyperconverged::{self, HyperConverged};
use crate::inventory::Inventory;
use crate::kube::tree;
use crate::release::Release;
use crate::topology::Topology;

const EVICTION_STRATEGY: &str = "virtualization.evictionStrategy";

/// Whether the operator's update of an object that was just created is accepted.
///
/// Only validation that a warning ended early can have hidden what refuses it; where nothing was
/// hidden, the update is accepted as the object was.
pub(super) fn is_accepted(
    release: &Release,
    inventory: &Inventory,
    topology: &Topology,
    stored: &Value,
    admission: &Admission,
) -> bool {
    let hides_refusal =
        |hole: &Hole| hole.kind == HoleKind::WarningEndsValidation && hole.hidden.is_some();
    if !admission.holes.iter().any(hides_refusal) {
        return true;
    }
    // An update that changes neither spec nor annotations is not looked at by the webhook. This one
    // changes the eviction strategy: it is filled in, or counts as such.
    let mut updated = stored.clone();
    let mut before = stored.clone();
    let path = match hyperconverged::version_of(stored) {
        "v1beta1" => "spec.evictionStrategy",
        _ => "spec.virtualization.evictionStrategy",
    };
    match tree::get(stored, path) {
        None => {
            let strategy = json!(default_eviction_strategy(topology));
            tree::set(&mut updated, path, strategy);
        }
        Some(_) => {
            tree::remove(&mut before, path);
        }
    }
    let operation = Operation::Update {
        old: &before,
        missing: &[],
    };
    admission::admit(release, inventory, &updated, operation).accepted
}

/// Fills in the eviction strategy as the mutating webhook does when the operator updates the
/// object, which is when the operator has written to `status` whether the infrastructure is highly available.
pub(super) fn fill_eviction_strategy(hc: &mut HyperConverged, topology: &Topology) {
    if hc.get(EVICTION_STRATEGY).is_none() {
        hc.set(
            EVICTION_STRATEGY,
            json!(default_eviction_strategy(topology)),
        );
    }
}

fn default_eviction_strategy(topology: &Topology) -> &'static str {
    match topology.infrastructure_highly_available() {
        true => "LiveMigrate",
        false => "None",
    }
}
