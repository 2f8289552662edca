//! What other objects say of a launcher: its labels, and the keys of Secrets and ConfigMaps that it reads.

use serde_json::Value;

use super::checker::{each, text};

/// The labels of a launcher that its instance's template doesn't have.
const OWN_LABELS: [&str; 5] =
    ["kubevirt.io", "kubevirt.io/created-by", "kubevirt.io/nodeName", "vm.kubevirt.io/name", "vmi.kubevirt.io/id"];

/// Whether a label of a launcher is KubeVirt's own.
pub fn is_own_label(label: &str) -> bool {
    OWN_LABELS.contains(&label)
}

/// An object whose keys a launcher or an importer reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyReference<'s> {
    /// The field with the object's name, below the spec that was read.
    pub path: String,
    /// `Secret` or `ConfigMap`.
    pub kind: &'static str,
    /// The object's name.
    pub name: &'s str,
    /// The keys.
    pub keys: Keys,
}

/// The keys that must be in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// One of these.
    OneOf(&'static [&'static str]),
    /// One of these in any case.
    OneOfAnyCase(&'static [&'static str]),
    /// Each of these.
    Each(&'static [&'static str]),
}

impl Keys {
    /// Its names.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::OneOf(names) | Self::OneOfAnyCase(names) | Self::Each(names) => names,
        }
    }

    /// Whether these keys are enough.
    pub fn are_in(self, keys: &[&str]) -> bool {
        match self {
            Self::OneOf(names) => names.iter().any(|name| keys.contains(name)),
            Self::OneOfAnyCase(names) => keys.iter().any(|key| names.contains(&key.to_lowercase().as_str())),
            Self::Each(names) => names.iter().all(|name| keys.contains(name)),
        }
    }
}

const USER_DATA: Keys = Keys::OneOf(&["userdata", "userData"]);
const NETWORK_DATA: Keys = Keys::OneOf(&["networkdata", "networkData"]);
const ANSWERS: Keys = Keys::OneOfAnyCase(&["autounattend.xml", "unattend.xml"]);
const ACCESS: Keys = Keys::Each(&["accessKeyId", "secretKey"]);

/// What a launcher reads. Source: `pkg/cloud-init/cloud-init.go`, `pkg/config/sysprep.go`.
const OF_LAUNCHER: [(&str, &str, Keys); 6] = [
    ("volumes[].cloudInitNoCloud.secretRef.name", "Secret", USER_DATA),
    ("volumes[].cloudInitNoCloud.networkDataSecretRef.name", "Secret", NETWORK_DATA),
    ("volumes[].cloudInitConfigDrive.secretRef.name", "Secret", USER_DATA),
    ("volumes[].cloudInitConfigDrive.networkDataSecretRef.name", "Secret", NETWORK_DATA),
    ("volumes[].sysprep.secret.name", "Secret", ANSWERS),
    ("volumes[].sysprep.configMap.name", "ConfigMap", ANSWERS),
];

/// What CDI's importer reads. Source: CDI `pkg/controller/import-controller.go`, `makeImportEnv`.
const OF_IMPORTER: [(&str, &str, Keys); 5] = [
    ("source.http.secretRef", "Secret", ACCESS),
    ("source.s3.secretRef", "Secret", ACCESS),
    ("source.registry.secretRef", "Secret", ACCESS),
    ("source.imageio.secretRef", "Secret", ACCESS),
    ("source.vddk.secretRef", "Secret", ACCESS),
];

/// The objects whose keys a launcher reads, of an instance's spec.
pub fn launcher_references(spec: &Value) -> Vec<KeyReference<'_>> {
    references(spec, &OF_LAUNCHER)
}

/// The objects whose keys CDI's importer reads, of the `spec` of a DataVolume.
pub fn importer_references(spec: &Value) -> Vec<KeyReference<'_>> {
    references(spec, &OF_IMPORTER)
}

fn references<'s>(spec: &'s Value, rows: &[(&str, &'static str, Keys)]) -> Vec<KeyReference<'s>> {
    let of_row = |(pattern, kind, keys): &(&str, &'static str, Keys)| {
        let (kind, keys) = (*kind, *keys);
        let named = each(spec, pattern).into_iter();
        named.map(move |(path, name)| KeyReference { path, kind, name: text(name), keys }).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}
