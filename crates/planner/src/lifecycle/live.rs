//! What lies in etcd, told from what a cluster prints.
//!
//! `kubectl get` prints the version that the API server prefers, which needn't be the one that is
//! stored: 1.18 stores v1beta1 and prints v1. What it prints was converted, and v1 doesn't have a
//! place for everything.

use hcoplan_kubernetes::tree::{get, remove, set};
use serde_json::Value;

use super::apply::last_applied;
use crate::hyperconverged::{self, version_of};
use crate::release::Release;

/// The object in the release's storage version.
///
/// Gates that the printed version has no place for are those of the manifest that was applied last,
/// else those of the one that is about to be submitted: most likely they were there before.
pub(super) fn in_etcd(release: &Release, live: &Value, manifest: &Value) -> Value {
    let storage_version = &release.tables().hyperconverged.storage_version;
    if version_of(live) == storage_version {
        return hyperconverged::in_storage_version(release, live);
    }
    let mut printed = live.clone();
    let application_aware = "spec.deployment.applicationAwareConfig";
    let mut says = get(live, application_aware).and_then(Value::as_object);
    if says.take_if(|says| says.keys().all(|key| key == "enable")).is_some() {
        // It is there for the switch alone, which the other version has elsewhere.
        let enable = remove(&mut printed, &format!("{application_aware}.enable"));
        remove(&mut printed, application_aware);
        let mut stored = hyperconverged::read_by(release, &printed);
        if let Some(enable) = enable {
            set(&mut stored, "spec.enableApplicationAwareQuota", enable);
        }
        return with_hidden_gates(stored, live, manifest);
    }
    let stored = hyperconverged::read_by(release, &printed);
    with_hidden_gates(stored, live, manifest)
}

fn with_hidden_gates(mut stored: Value, live: &Value, manifest: &Value) -> Value {
    let applied = last_applied(live).map(|(_, manifest)| manifest);
    let known = applied.as_ref().unwrap_or(manifest);
    if version_of(known) != version_of(&stored) {
        return stored;
    }
    let gates = get(known, "spec.featureGates").and_then(Value::as_object);
    for (gate, on) in gates.into_iter().flatten() {
        let path = format!("spec.featureGates.{gate}");
        if on.is_boolean() && get(&stored, &path).is_none() {
            set(&mut stored, &path, on.clone());
        }
    }
    stored
}
