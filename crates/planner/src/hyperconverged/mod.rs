//! The user's HyperConverged in one internal form, independent of the API version it was written in.
//!
//! The internal form has the shape of `hco.kubevirt.io/v1`, the operator's own hub from 1.19 on. A version that is
//! served but not stored is converted as the release does it (lossy where the release is), then defaulted by the stored
//! version's schema. The stored version converts to the internal form without loss.

mod conversion;
mod gates;
mod moves;
mod v1_fields;

use std::collections::BTreeMap;

use serde_json::Value;

pub use conversion::convert;
pub use gates::Gates;
pub use moves::{MOVES, Move, path_in};

use hcoplan_kubernetes::tree::{get, remove, set};

use crate::release::Release;

/// What the operator reads, in the internal form.
#[derive(Debug, Clone, PartialEq)]
pub struct HyperConverged {
    /// `metadata.name`
    pub name: String,
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.annotations`
    pub annotations: BTreeMap<String, String>,
    /// `spec` in v1's shape; quantities and durations as Go prints them.
    pub spec: Value,
    /// What `spec.featureGates` switches on or off explicitly.
    pub gates: Gates,
}

impl HyperConverged {
    /// From the object as the API server stores it for the submitted version (defaulted,
    /// mutated, valid).
    pub fn from_stored(release: &Release, stored: &Value) -> Self {
        Self::read(release, in_storage_version(release, stored))
    }

    /// As the validating webhook reads an object that is to be stored: converted, but without
    /// the defaults of the version stored.
    pub fn from_submitted(release: &Release, object: &Value) -> Submitted {
        let storage_version = &release.tables().hyperconverged.storage_version;
        if version_of(object) == storage_version {
            return Submitted { read: Self::read(release, object.clone()), converted: None };
        }
        let converted = convert(release, object, storage_version);
        Submitted { read: Self::read(release, converted.clone()), converted: Some(converted) }
    }

    /// Brings an object of the stored version to the internal form.
    fn read(release: &Release, mut read: Value) -> Self {
        let api = &release.tables().hyperconverged;
        let api_version = format!("hco.kubevirt.io/{}", api.storage_version);
        if let Some(ty) = release.go_types().of_kind(&api_version, "HyperConverged") {
            release.go_types().normalise(&mut read, ty);
        }
        let spec = read.get_mut("spec").map(Value::take).unwrap_or_default();
        let gates = Gates::read(release, spec.get("featureGates"));
        let spec = match api.storage_version.as_str() {
            "v1beta1" => moves::to_internal(spec),
            _ => spec,
        };
        let text = |path: &str| {
            let value = get(&read, path).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        Self {
            name: text("metadata.name"),
            namespace: text("metadata.namespace"),
            annotations: string_map(get(&read, "metadata.annotations")),
            spec,
            gates,
        }
    }

    /// The value at a dotted path below `spec` (v1's shape), `None` when absent or null.
    pub fn get(&self, path: &str) -> Option<&Value> {
        get(&self.spec, path)
    }

    /// A string that is not empty.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(Value::as_str).filter(|s| !s.is_empty())
    }

    /// A boolean.
    pub fn flag(&self, path: &str) -> Option<bool> {
        self.get(path).and_then(Value::as_bool)
    }

    /// A list's items; empty when absent.
    pub fn list(&self, path: &str) -> &[Value] {
        self.get(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Whether an annotation has exactly this value.
    pub fn annotation_is(&self, name: &str, value: &str) -> bool {
        self.annotations.get(name).map(String::as_str) == Some(value)
    }

    /// The effective switch for multi-architecture golden images: the field where there is one
    /// (1.19 v1), else the gate.
    pub fn multi_arch(&self) -> bool {
        self.flag("workloadSources.enableMultiArchBootImageImport")
            .unwrap_or_else(|| self.gates.is_enabled("enableMultiArchBootImageImport", false))
    }

    /// Sets the value at a dotted path below `spec`; objects on the way are made.
    pub fn set(&mut self, path: &str, value: Value) {
        set(&mut self.spec, path, value);
    }

    /// Takes a field of `spec` away, in v1's shape.
    pub fn remove(&mut self, path: &str) -> Option<Value> {
        remove(&mut self.spec, path)
    }
}

/// What the validating webhook read.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// What it read.
    pub read: HyperConverged,
    /// The object that it was converted to, where it was of another version than the stored one.
    converted: Option<Value>,
}

impl Submitted {
    /// What the operator reads once the object is stored: a converted one is pruned and defaulted
    /// once more.
    pub fn once_stored(self, release: &Release) -> HyperConverged {
        match self.converted {
            None => self.read,
            Some(object) => HyperConverged::read(release, conversion::stored(release, object)),
        }
    }
}

/// An object as the API server stores it for the submitted version, in the version that is
/// written to etcd: converted, pruned and defaulted where that is another one.
pub fn in_storage_version(release: &Release, stored: &Value) -> Value {
    if version_of(stored) == release.tables().hyperconverged.storage_version {
        stored.clone()
    } else {
        let storage_version = &release.tables().hyperconverged.storage_version;
        conversion::stored(release, convert(release, stored, storage_version))
    }
}

/// An object of a served version as the API server hands it out in another one, printed by the Go
/// types of the conversion webhook; in its own, it is as it was.
pub fn in_version(release: &Release, object: &Value, version: &str) -> Value {
    if version_of(object) == version {
        return object.clone();
    }
    let mut converted = convert(release, object, version);
    let api_version = format!("hco.kubevirt.io/{version}");
    if let Some(ty) = release.go_types().of_kind(&api_version, "HyperConverged") {
        release.go_types().normalise(&mut converted, ty);
    }
    // What 1.18's own encoder leaves out, its decoder fills in.
    if release.has("prints-no-enabled-gate-state") {
        let gates = converted.pointer_mut("/spec/featureGates").and_then(Value::as_array_mut);
        for gate in gates.into_iter().flatten().filter(|gate| gate["state"] == "Enabled") {
            remove(gate, "state");
        }
    }
    converted
}

/// An object that another release stored, as a release reads it once it has written it: in its own storage
/// version, pruned, with the defaults of what is new.
pub fn read_by(release: &Release, stored: &Value) -> Value {
    conversion::stored(release, read_in(release, stored, &release.tables().hyperconverged.storage_version))
}

/// An object that is in etcd as a release hands it out in a version: with the defaults of the version that it is
/// stored in, and no others.
pub fn read_in(release: &Release, stored: &Value, version: &str) -> Value {
    let schema = |version: &str| release.schema(&format!("hyperconverged.{version}"));
    let mut object = stored.clone();
    if let Some(schema) = schema(version_of(stored)) {
        schema.prepare(&mut object);
    }
    let mut read = in_version(release, &object, version);
    if let Some(schema) = schema(version) {
        schema.prepare_converted(&mut read);
    }
    read
}

/// Where a release stores a field: the dotted path, `spec` included, of a dotted path below `spec`
/// in v1's shape.
pub fn storage_path(release: &Release, path: &str) -> String {
    match release.tables().hyperconverged.storage_version.as_str() {
        "v1beta1" => format!("spec.{}", moves::to_v1beta1(path)),
        _ => format!("spec.{path}"),
    }
}

/// The API version's last part: `v1beta1` of `hco.kubevirt.io/v1beta1`.
pub fn version_of(object: &Value) -> &str {
    let api = object.get("apiVersion").and_then(Value::as_str);
    api.and_then(|a| a.rsplit('/').next()).unwrap_or_default()
}

fn string_map(value: Option<&Value>) -> BTreeMap<String, String> {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}
