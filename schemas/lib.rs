//! The data about HCO's releases and their distributions, and the JSON Schemas of hcoplan's documents, compiled in from
//! this directory.

/// A file's name and its text.
pub type File = (&'static str, &'static str);

/// The release lines, oldest first: the name of each and its files.
pub static RELEASES: &[(&str, &[File])] = include!(concat!(env!("OUT_DIR"), "/releases.rs"));

/// The patch releases, oldest first: the name of each and its file's text.
pub static PATCH_RELEASES: &[File] = include!(concat!(env!("OUT_DIR"), "/patch_releases.rs"));

/// The distributions by name.
pub static DISTRIBUTIONS: &[File] = include!(concat!(env!("OUT_DIR"), "/distributions.rs"));

/// The JSON Schemas by the name of their document, `inventory` for `inventory.schema.json`.
pub static DOCUMENTS: &[File] = include!(concat!(env!("OUT_DIR"), "/documents.rs"));

/// The descriptions of fields, gates and terms.
pub const WORDS: &str = include_str!("words.json");

/// The fields of controllers' objects that don't change what they apply, by kind.
pub const CONTROLLER_FIELDS: &str = include_str!("controller-fields.json");

/// The JSON Schema of `hcoplan.yaml`.
pub const CONFIG: &str = include_str!("config.schema.json");

/// The JSON Schema of a `ClusterInventory`.
pub const INVENTORY: &str = include_str!("inventory.schema.json");

/// The JSON Schema of an `ImageArchitectures`.
pub const IMAGE_ARCHITECTURES: &str = include_str!("image-architectures.schema.json");

/// The fields of KubeVirt's virtual machines, pools, instance types, preferences and migration policies.
pub const KUBEVIRT_FIELDS: &str = include_str!("kubevirt/fields.json");

/// The instance types and preferences that KubeVirt deploys itself.
pub const KUBEVIRT_TYPES: &str = include_str!("kubevirt/common-types.json");

/// The checks of KubeVirt's webhooks for an instance that are rows, by group.
pub const KUBEVIRT_CHECKS: &str = include_str!("kubevirt/checks.json");

/// Known defects of the operators' versions.
pub const DEFECTS: &str = include_str!("defects.json");

/// The JSON Schema of a document; `None` if there is none.
pub fn document(name: &str) -> Option<&'static str> {
    let found = DOCUMENTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// The fields whose values are checked, by the outcome of a wrong one.
pub const VALUES: &str = include_str!("values.json");

/// Lists of names, by what they are.
pub const NAMES: &str = include_str!("names.json");

/// The rows of rules, by what they list.
pub const LINT: &str = include_str!("lint.json");

/// The fields of machines that instance types and preferences set.
pub const INSTANCETYPE_FIELDS: &str = include_str!("kubevirt/instancetypes.json");

/// The CPU models of libvirt's map without version numbers, and KubeVirt's special values.
pub const CPU_MODELS: &str = include_str!("kubevirt/cpu-models.txt");

/// The CRs of the operands, and what their `spec` has in every cluster.
pub const OPERANDS: &str = include_str!("operands.json");
