//! Fields that only v1 has; a v1beta1 object keeps them in an annotation.
//!
//! Source: HCO 1.19 `api/v1beta1/conversion.go`, `storeV1OnlyFields` and `restoreV1OnlyFields`.

use super::gates::Gates;
use crate::prelude::*;
use crate::release::{Phase, Release};
use hcoplan_kubernetes::tree::{get, remove, set};

const ANNOTATION: &str = "hco.kubevirt.io/v1-only-fields";

/// The fields of `observability` in writing order; all other objects are written in alphabetical order.
const OBSERVABILITY: [&str; 3] = ["workloads", "allowedAlerts", "allowedRecordingRules"];

/// Writes the fields of a v1 object into the annotation of the v1beta1 one.
pub(super) fn store(release: &Release, v1: &Value, v1beta1: &mut Value) {
    let mut parts = Vec::new();
    for (name, path) in &release.atlas().only_v1 {
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        if let Some(value) = get(v1, path).filter(|value| !is_empty(value)) {
            let text = if name == "observability" { in_order(value, &OBSERVABILITY) } else { value.to_string() };
            parts.push(format!("\"{name}\":{text}"));
        }
    }
    if !parts.is_empty() {
        let text = format!("{{{}}}", parts.join(","));
        let metadata = &mut v1beta1["metadata"];
        if let Some(metadata) = metadata.as_object_mut() {
            let annotations = metadata.entry("annotations");
            let annotations = annotations.or_insert_with(|| json!({}));
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.insert(ANNOTATION.to_owned(), text.into());
            }
        }
    }
}

fn in_order(value: &Value, keys: &[&str]) -> String {
    let fields = keys.iter().filter_map(|key| Some(format!("\"{key}\":{}", value.get(key)?)));
    format!("{{{}}}", joined(fields, ","))
}

/// Removes the annotation from an object converted to v1 and restores its fields. Values of the v1beta1 object win.
pub(super) fn restore(release: &Release, v1beta1: &Value, v1: &mut Value) {
    let annotations = v1.get_mut("metadata").and_then(|m| m.get_mut("annotations"));
    let text = annotations.and_then(Value::as_object_mut).and_then(|annotations| annotations.remove(ANNOTATION));
    let text = text.as_ref().and_then(Value::as_str);
    let Some(Ok(fields)) = text.map(serde_json::from_str::<Value>) else {
        return;
    };
    for (name, path) in &release.atlas().only_v1 {
        let Some(value) = fields.get(name).filter(|value| !value.is_null()) else {
            continue;
        };
        if name == "featureGates" {
            let gates = restored_gates(release, value, v1beta1, v1);
            if gates.is_empty() { drop(remove(v1, path)) } else { set(v1, path, Value::Array(gates)) }
        } else if get(v1, path).is_none() {
            set(v1, path, value.clone());
        }
    }
}

/// The gates of the annotation's list; those that v1beta1 has get its state.
fn restored_gates(release: &Release, listed: &Value, v1beta1: &Value, v1: &Value) -> Vec<Value> {
    let now = Gates::read(release, get(v1beta1, "spec.featureGates"));
    let mut out: Vec<Value> = Vec::new();
    for gate in elements(listed) {
        let name = text(&gate["name"]);
        let mut gates = release.tables().feature_gates.iter();
        let known = gates.find(|g| g.name.eq_ignore_ascii_case(name));
        let is_field = known.is_some_and(|g| is_field_of_v1beta1(release, &g.name));
        let before = gate["state"].as_str().unwrap_or("Enabled") == "Enabled";
        let deprecated = known.is_some_and(|g| g.phase == Phase::Deprecated);
        match now.explicit(name) {
            _ if !is_field => out.push(gate.clone()),
            Some(on) if on != before => {
                let mut gate = gate.clone();
                gate["state"] = if on { "Enabled" } else { "Disabled" }.into();
                out.push(gate);
            }
            None if !deprecated => {}
            _ => out.push(gate.clone()),
        }
    }
    for gate in elements(get(v1, "spec.featureGates")) {
        if !out.iter().any(|listed| listed["name"] == gate["name"]) {
            out.push(gate.clone());
        }
    }
    out
}

/// Whether v1beta1 has a gate.
fn is_field_of_v1beta1(release: &Release, gate: &str) -> bool {
    let schema = release.hyperconverged_schema("v1beta1");
    let path = Path::dotted("spec.featureGates").key(gate);
    schema.is_some_and(|schema| schema.field(&path).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gate_changed_in_v1beta1_keeps_its_index() {
        let release = Release::known("1.19").expect("known");
        let on = |name: &str| json!({"name": name, "state": "Enabled"});
        let off = |name: &str| json!({"name": name, "state": "Disabled"});
        let stored = json!({"featureGates": [on("alignCPUs"), on("videoConfig")]});
        let v1beta1 = json!({"spec": {"featureGates": {"alignCPUs": false, "videoConfig": true}}});
        let mut v1 = json!({"metadata": {"annotations": {ANNOTATION: stored.to_string()}}});
        restore(&release, &v1beta1, &mut v1);
        let gates = json!([off("alignCPUs"), on("videoConfig")]);
        assert_eq!(v1["spec"]["featureGates"], gates);
        assert_eq!(v1["metadata"]["annotations"], json!({}));
    }
}
