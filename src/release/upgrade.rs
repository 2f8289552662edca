//! What the operator does by itself when it is upgraded to a release.

use serde::Deserialize;
use serde_json::Value;

/// Source: HCO `assets/upgradePatches.json` of the release branch, for upgrades from the releases
/// that are modelled.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upgrade {
    /// Objects that it deletes.
    #[serde(default)]
    pub removed_objects: Vec<RemovedObject>,
    /// Values of the HyperConverged that it writes over, once.
    #[serde(default)]
    pub rewritten_values: Vec<RewrittenValue>,
}

/// An object that an upgrade deletes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedObject {
    /// Its API group; empty for the core.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace; empty for cluster-scoped objects.
    #[serde(default)]
    pub namespace: String,
}

/// A value that an upgrade writes over, where it is exactly `from`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RewrittenValue {
    /// The dotted path below `spec` in v1beta1.
    pub field: String,
    /// What is written over.
    pub from: Value,
    /// What is written.
    pub to: Value,
}
