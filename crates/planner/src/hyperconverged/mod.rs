//! The user's HyperConverged in one internal form, independent of the API version it was written in.
//!
//! The internal form has the shape of `hco.kubevirt.io/v1`, the operator's hub version from 1.19 on. A served but not
//! stored version is converted like the release does it (with its losses), then defaulted by the stored version's
//! schema. The stored version converts to the internal form without loss.

mod conversion;
mod gates;
mod v1_fields;

use crate::prelude::*;
use crate::release::Release;

pub use crate::release::{MOVES, moved, path_in};
pub use conversion::convert;
pub use gates::Gates;

use hcoplan_kubernetes::tree::{get, remove, set};

/// The HyperConverged as the operator reads it, in the internal form.
#[derive(Debug, Clone, PartialEq)]
pub struct HyperConverged {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// `spec` in v1's shape; quantities and durations as Go prints them.
    pub spec: Value,
    /// The gates that `spec.featureGates` enables or disables explicitly.
    pub gates: Gates,
}

impl HyperConverged {
    /// The path of the golden images' templates.
    pub const GOLDEN_IMAGES: &str = "workloadSources.dataImportCronTemplates";
    /// The path of the TLS profile.
    pub const TLS_PROFILE: &str = "security.tlsSecurityProfile";

    /// Reads the object that the API server stores for the submitted version (defaulted, mutated, valid).
    pub fn from_stored(release: &Release, stored: &Value) -> Self {
        Self::read(release, in_storage_version(release, stored))
    }

    /// Reads an object as the validating webhook does: converted, but without the stored version's defaults.
    pub fn from_submitted(release: &Release, object: &Value) -> Submitted {
        let storage_version = release.storage_version();
        if version_of(object) == storage_version {
            return Submitted { read: Self::read(release, object.clone()), converted: None };
        }
        let converted = convert(release, object, storage_version);
        Submitted { read: Self::read(release, converted.clone()), converted: Some(converted) }
    }

    /// Converts an object of the stored version to the internal form.
    fn read(release: &Release, mut read: Value) -> Self {
        let api = &release.tables().hyperconverged;
        print(release, &mut read);
        let spec = read.get_mut("spec").map(Value::take).unwrap_or_default();
        let gates = Gates::read(release, spec.get("featureGates"));
        let spec = match api.storage_version.as_str() {
            "v1beta1" => conversion::to_internal(spec),
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

    /// The string at a path; `None` if it is empty or absent.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(Value::as_str).filter(|s| !s.is_empty())
    }

    /// The boolean at a path; `None` if it is absent.
    pub fn flag(&self, path: &str) -> Option<bool> {
        self.get(path).and_then(Value::as_bool)
    }

    /// The items of the list at a path; empty if absent.
    pub fn list(&self, path: &str) -> &[Value] {
        elements(self.get(path)).as_slice()
    }

    /// Whether an annotation has exactly this value.
    pub fn annotation_is(&self, name: &str, value: &str) -> bool {
        self.annotations.get(name).map(String::as_str) == Some(value)
    }

    /// The node placement of operands, even an empty one.
    pub fn infra_placement(&self) -> Option<&Value> {
        self.get("deployment.nodePlacements.infra")
    }

    /// The node placement of workloads, even an empty one.
    pub fn workload_placement(&self) -> Option<&Value> {
        self.get("deployment.nodePlacements.workload")
    }

    /// How much memory machines may have together, in percent of that of their nodes.
    pub fn memory_overcommit(&self) -> Option<&Value> {
        self.get("virtualization.higherWorkloadDensity.memoryOvercommitPercentage")
    }

    /// Whether common golden images are imported.
    pub fn imports_common_images(&self) -> bool {
        self.flag("workloadSources.enableCommonBootImageImport") != Some(false)
    }

    /// The namespace of common golden images, if it isn't the default.
    pub fn common_images_namespace(&self) -> Option<&str> {
        self.text("workloadSources.commonBootImageNamespace")
    }

    /// The templates of the manifest's golden images.
    pub fn golden_images(&self) -> &[Value] {
        self.list(Self::GOLDEN_IMAGES)
    }

    /// Whether multi-architecture golden images are on: the field if there is one (v1 of 1.19), else the gate.
    pub fn multi_arch(&self) -> bool {
        self.flag("workloadSources.enableMultiArchBootImageImport")
            .unwrap_or_else(|| self.gates.is_enabled("enableMultiArchBootImageImport", false))
    }

    /// Sets the value at a dotted path below `spec`, with missing parent objects.
    pub fn set(&mut self, path: &str, value: Value) {
        set(&mut self.spec, path, value);
    }

    /// Removes and returns a field of `spec`, in v1's shape.
    pub fn remove(&mut self, path: &str) -> Option<Value> {
        remove(&mut self.spec, path)
    }
}

/// An object as the validating webhook read it.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// The object in the internal form.
    pub read: HyperConverged,
    /// The converted object, if it wasn't in the stored version.
    converted: Option<Value>,
}

impl Submitted {
    /// The object as the operator reads it once it is stored: a converted one is pruned and defaulted again.
    pub fn once_stored(self, release: &Release) -> HyperConverged {
        match self.converted {
            None => self.read,
            Some(object) => HyperConverged::read(release, conversion::stored(release, object)),
        }
    }
}

/// Converts the object of a submitted version to the version in etcd: converted, pruned and defaulted if that is
/// another one.
pub fn in_storage_version(release: &Release, stored: &Value) -> Value {
    if version_of(stored) == release.storage_version() {
        stored.clone()
    } else {
        let storage_version = release.storage_version();
        conversion::stored(release, convert(release, stored, storage_version))
    }
}

/// An object as the API server returns it in another served version, printed by the Go types of the conversion webhook.
/// Unchanged in its own version.
pub fn in_version(release: &Release, object: &Value, version: &str) -> Value {
    if version_of(object) == version {
        return object.clone();
    }
    let mut converted = convert(release, object, version);
    print(release, &mut converted);
    // The encoder of 1.18 leaves this out, and its decoder fills it in.
    if release.has("prints-no-enabled-gate-state") {
        let gates = converted.pointer_mut("/spec/featureGates").and_then(Value::as_array_mut);
        for gate in gates.into_iter().flatten().filter(|gate| gate["state"] == "Enabled") {
            remove(gate, "state");
        }
    }
    converted
}

/// An object stored by another release, as this release reads it after writing it: in its storage version, pruned, with
/// the defaults of new fields.
pub fn read_by(release: &Release, stored: &Value) -> Value {
    conversion::stored(release, read_in(release, stored, release.storage_version()))
}

/// An object in etcd as a release returns it in a version: with the defaults of the version that it is stored in, and
/// no others.
pub fn read_in(release: &Release, stored: &Value, version: &str) -> Value {
    let schema = |version: &str| release.hyperconverged_schema(version);
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

/// The dotted path where a release stores a field, `spec` included. `path` is below `spec` in v1's shape.
pub fn storage_path(release: &Release, path: &str) -> String {
    match release.storage_version() {
        "v1beta1" => format!("spec.{}", path_in("v1beta1", path)),
        _ => format!("spec.{path}"),
    }
}

/// Changes an object to what the Go types of its version print.
pub(crate) fn print(release: &Release, object: &mut Value) {
    if let Some(ty) = release.hyperconverged_type(version_of(object)) {
        release.go_types().normalise(object, ty);
    }
}

/// The last part of `apiVersion`: `v1beta1` of `hco.kubevirt.io/v1beta1`.
pub fn version_of(object: &Value) -> &str {
    let api = object.get("apiVersion").and_then(Value::as_str);
    api.and_then(|a| a.rsplit('/').next()).unwrap_or_default()
}

fn string_map(value: Option<&Value>) -> BTreeMap<String, String> {
    let entries = members(value);
    entries.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}
