//! Conversion between API versions, like the release's conversion webhook.

use super::gates::Gates;
use super::v1_fields;
use crate::prelude::*;
use crate::release::{MOVES, Phase, Release};
use hcoplan_kubernetes::tree::{get, remove, set, take};

/// Converts a document to the other served version (`v1beta1` or `v1`), neither pruned nor defaulted. Copies metadata
/// and status.
pub fn convert(release: &Release, object: &Value, to: &str) -> Value {
    let empty = Value::Object(Map::new());
    let spec = object.get("spec").unwrap_or(&empty);
    let converted = match to {
        "v1" => spec_to_v1(release, spec),
        _ => spec_to_v1beta1(release, spec),
    };
    let mut out = Map::new();
    for (key, value) in members(object) {
        if !matches!(key.as_str(), "apiVersion" | "spec") {
            out.insert(key.clone(), value.clone());
        }
    }
    out.insert("apiVersion".into(), format!("hco.kubevirt.io/{to}").into());
    out.insert("spec".into(), converted);
    let mut out = Value::Object(out);
    if release.has("v1-fields-in-annotation") {
        match to {
            "v1" => v1_fields::restore(release, object, &mut out),
            _ => v1_fields::store(release, object, &mut out),
        }
    }
    out
}

/// A converted object as stored: pruned and defaulted by the stored version's schema.
pub(super) fn stored(release: &Release, mut converted: Value) -> Value {
    let storage = release.storage_version();
    if let Some(schema) = release.hyperconverged_schema(storage) {
        schema.prepare(&mut converted);
    }
    converted
}

/// The fields of a spec under their new names.
fn moved<'f>(spec: &Value, moves: impl Iterator<Item = (&'f str, &'f str)>) -> Value {
    let mut out = Value::Object(Map::new());
    for (from, to) in moves {
        if let Some(value) = get(spec, from) {
            set(&mut out, to, value.clone());
        }
    }
    out
}

fn spec_to_v1(release: &Release, spec: &Value) -> Value {
    let mut out = moved(spec, MOVES.iter().copied());
    drop_unless(&mut out, "virtualization.tuningPolicy", |v| v == "annotation");
    if is_empty_list(get(spec, "obsoleteCPUs.cpuModels")) {
        remove(&mut out, "virtualization.obsoleteCPUModels");
    }
    // Storage without content except an empty list of insecure registries isn't copied.
    let storage = get(&out, "storage").and_then(Value::as_object);
    let registries = get(&out, "storage.storageImport.insecureRegistries").and_then(Value::as_array);
    if storage.is_some_and(|s| s.keys().all(|key| key == "storageImport")) && registries.is_none_or(Vec::is_empty) {
        remove(&mut out, "storage");
    }
    let gates = Gates::read(release, spec.get("featureGates"));
    let mut list = Vec::new();
    for gate in &release.tables().feature_gates {
        let state = match (gate.phase, gates.explicit(&gate.name)) {
            (Phase::Beta, Some(false)) => "Disabled",
            (Phase::Alpha, Some(true)) => "Enabled",
            _ => continue,
        };
        list.push(json!({"name": gate.name, "state": state}));
    }
    if !list.is_empty() {
        set(&mut out, "featureGates", Value::Array(list));
    }
    for pair in release.gates_to_fields() {
        if let Some(on) = gates.explicit(&pair.gate) {
            set(&mut out, in_spec(&pair.field), json!(on != pair.opposite));
        }
    }
    out
}

fn spec_to_v1beta1(release: &Release, spec: &Value) -> Value {
    let mut out = moved(spec, MOVES.iter().map(|(to, from)| (*from, *to)));
    for field in ["obsoleteCPUs", "hypervisors", "dataImportCronTemplates"] {
        let list = if field == "obsoleteCPUs" { "obsoleteCPUs.cpuModels" } else { field };
        if is_empty_list(get(&out, list)) {
            remove(&mut out, field);
        }
    }
    let gates = Gates::read(release, spec.get("featureGates"));
    let mut written = Map::new();
    for gate in &release.tables().feature_gates {
        let on = match gate.phase {
            Phase::Alpha => gates.is_enabled(&gate.name, false),
            Phase::Beta => gates.is_enabled(&gate.name, true),
            _ => continue,
        };
        written.insert(gate.name.clone(), on.into());
    }
    for pair in release.gates_to_fields() {
        if let Some(on) = get(spec, in_spec(&pair.field)).and_then(Value::as_bool) {
            written.insert(pair.gate.clone(), (on != pair.opposite).into());
        }
    }
    if !written.is_empty() {
        set(&mut out, "featureGates", Value::Object(written));
    }
    out
}

/// Fields of v1beta1 that v1 lacks but some release reads; the internal form has them under `virtualization`.
const ONLY_INTERNAL: &[(&str, &str)] = &[("obsoleteCPUs.minCPUModel", "virtualization.minCPUModel")];

/// Converts a v1beta1 `spec` to the internal form, without losing anything that a release reads.
pub(super) fn to_internal(mut spec: Value) -> Value {
    let mut out = Value::Object(Map::new());
    for (from, to) in MOVES.iter().chain(ONLY_INTERNAL) {
        if let Some(value) = take(&mut spec, from) {
            set(&mut out, to, value);
        }
    }
    out
}

fn in_spec(path: &str) -> &str {
    path.strip_prefix("spec.").unwrap_or(path)
}

fn is_empty_list(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(Vec::is_empty)
}

fn drop_unless(target: &mut Value, path: &str, keep: impl Fn(&Value) -> bool) {
    if get(target, path).is_some_and(|v| !keep(v)) {
        remove(target, path);
    }
}
