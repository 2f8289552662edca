//! Derives the object in etcd from the one that a cluster prints.
//!
//! `kubectl get` prints the API server's preferred version, which may differ from the stored one: 1.18 stores v1beta1
//! and prints v1. The printed object was converted, and v1 can't express everything.

use super::apply::last_applied;
use crate::admission;
use crate::hyperconverged;
use crate::hyperconverged::version_of;
use crate::inventory::Inventory;
use crate::prelude::*;
use crate::release::Release;
use hcoplan_kubernetes::tree::{get, remove, set};

/// The object in the release's storage version.
///
/// Gates that the printed version can't express are taken from the last applied manifest, else from the one about to be
/// submitted. Where `managedFields` are printed, those that someone owns were there before. Else they most likely were,
/// unless the printed gates change, too, or nothing else does.
pub(super) fn in_etcd(release: &Release, inventory: &Inventory, live: &Value, manifest: &Value) -> Value {
    let storage_version = release.storage_version();
    if version_of(live) == storage_version {
        return hyperconverged::in_storage_version(release, live);
    }
    let mut printed = live.clone();
    let application_aware = "spec.deployment.applicationAwareConfig";
    let mut quota = get(live, application_aware).and_then(Value::as_object);
    let mut enable = None;
    if quota.take_if(|quota| quota.keys().all(|key| key == "enable")).is_some() {
        // It only exists for this field, which the other version has elsewhere.
        enable = remove(&mut printed, &format!("{application_aware}.enable"));
        remove(&mut printed, application_aware);
    }
    let mut stored = hyperconverged::read_by(release, &printed);
    if let Some(enable) = enable {
        set(&mut stored, "spec.enableApplicationAwareQuota", enable);
    }
    with_hidden_gates(release, inventory, stored, live, manifest)
}

fn with_hidden_gates(
    release: &Release,
    inventory: &Inventory,
    mut stored: Value,
    live: &Value,
    manifest: &Value,
) -> Value {
    let applied = last_applied(live).map(|(_, manifest)| manifest);
    let known = applied.as_ref().unwrap_or(manifest);
    if version_of(known) != version_of(&stored) {
        return stored;
    }
    let path = |gate: &str| format!("spec.featureGates.{gate}");
    let gates = members(get(known, "spec.featureGates")).filter(|(_, on)| on.is_boolean());
    let mut hidden: Vec<_> = gates.filter(|(gate, _)| get(&stored, &path(gate)).is_none()).collect();
    if hidden.is_empty() {
        return stored;
    }
    let owners = get(live, "metadata.managedFields").and_then(Value::as_array);
    if let Some(owners) = owners {
        let owns =
            |owner: &Value, gate: &str| !owner["fieldsV1"]["f:spec"]["f:featureGates"][format!("f:{gate}")].is_null();
        hidden.retain(|(gate, _)| owners.iter().any(|owner| owns(owner, gate)));
    } else if applied.is_none()
        && let Some(mut submitted) = admission::stored_if_accepted(release, inventory, manifest)
    {
        // In the form that the conversion prints.
        hyperconverged::print(release, &mut submitted);
        for (gate, _) in &hidden {
            remove(&mut submitted, &path(gate));
        }
        // The webhook fills in the eviction strategy; manifests rarely have it.
        const EVICTION: &str = "spec.evictionStrategy";
        if let (None, Some(strategy)) = (get(&submitted, EVICTION), get(&stored, EVICTION)) {
            set(&mut submitted, EVICTION, strategy.clone());
        }
        let is_same = |path: &str| get(&submitted, path) == get(&stored, path);
        if !is_same("spec.featureGates") || is_same("spec") && is_same("metadata.annotations") {
            return stored;
        }
    }
    for (gate, on) in hidden {
        set(&mut stored, &path(gate), on.clone());
    }
    stored
}
