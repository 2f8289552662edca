//! What the operator changes when it is upgraded to a release.

use super::version_numbers;
use crate::prelude::*;

/// The changes of an upgrade. Source: HCO `assets/upgradePatches.json` and `controllers/hyperconverged` of the release
/// branch, for upgrades from modelled releases.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Upgrade {
    /// Objects that the operator deletes.
    #[serde(default)]
    pub removed_objects: Vec<RemovedObject>,
    /// Changes of the HyperConverged, in the release's storage version.
    #[serde(default)]
    pub patches: Vec<UpgradePatch>,
    /// Operations that the operator removes from jsonpatch annotations.
    #[serde(default)]
    pub removed_patch_operations: Vec<RemovedPatchOperation>,
    /// Facts about operands that the operator writes into missing annotations.
    #[serde(default)]
    pub kept_in_annotations: Vec<KeptInAnnotation>,
}

impl Upgrade {
    /// The values that the patches overwrite if they equal another one.
    pub fn rewritten_values(&self) -> Vec<RewrittenValue> {
        use json_patch::PatchOperation::{Replace, Test};
        let mut out = Vec::new();
        for patch in &self.patches {
            for pair in patch.operations.windows(2) {
                if let [Test(test), Replace(replace)] = pair
                    && test.path == replace.path
                    && let Some(path) = test.path.as_str().strip_prefix("/spec/")
                {
                    out.push(RewrittenValue {
                        field: path.replace('/', "."),
                        from: test.value.clone(),
                        to: replace.value.clone(),
                    });
                }
            }
        }
        out
    }
}

/// The versions from which an upgrade causes a change.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionRange {
    /// The first version, `1.16.0`; no limit if absent.
    #[serde(default)]
    pub at_least: Option<String>,
    /// The first version after the range; no limit if absent.
    #[serde(default)]
    pub below: Option<String>,
}

impl VersionRange {
    /// Whether the range includes a version (`1.18.2`).
    pub fn includes(&self, version: &str) -> bool {
        let version = version_numbers(version);
        let is_old_enough = |below: &String| version < version_numbers(below);
        let is_new_enough = |minimum: &String| version >= version_numbers(minimum);
        self.below.as_ref().is_none_or(is_old_enough) && self.at_least.as_ref().is_none_or(is_new_enough)
    }
}

/// A change of the HyperConverged.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpgradePatch {
    /// Upgrades from these versions.
    #[serde(default)]
    pub from: VersionRange,
    /// Applied completely, or not at all if one doesn't apply.
    pub operations: json_patch::Patch,
}

/// An object that an upgrade deletes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedObject {
    /// In upgrades from these versions.
    #[serde(default)]
    pub from: VersionRange,
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

/// An operation that an upgrade removes from a jsonpatch annotation, once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedPatchOperation {
    /// The annotation.
    pub annotation: String,
    /// The operation: its `op`, `path` and `value`.
    pub operation: Value,
}

/// A fact about an operand that an upgrade writes into an annotation of the HyperConverged.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptInAnnotation {
    /// The annotation, which is set to `true` or `false`.
    pub annotation: String,
    /// The operand's kind.
    pub operand: String,
    /// The dotted path of the field that exists or not.
    pub field: String,
}

/// A value that an upgrade overwrites if it is exactly `from`.
#[derive(Debug, Clone)]
pub struct RewrittenValue {
    /// The dotted path below `spec`.
    pub field: String,
    /// The old value.
    pub from: Value,
    /// The new value.
    pub to: Value,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;

    #[test]
    fn compares_versions_by_number() {
        let range = VersionRange { at_least: Some("1.9.0".to_owned()), below: Some("1.19.0".to_owned()) };
        for (version, is_in) in
            [("1.8.9", false), ("1.9.0", true), ("1.10.0", true), ("1.18.2", true), ("1.19.0", false)]
        {
            assert_eq!(range.includes(version), is_in, "{version}");
        }
        assert!(VersionRange::default().includes("0.0.0"));
    }

    #[test]
    fn lists_values_that_patches_overwrite() {
        let release = Release::known("1.19").expect("known");
        let found = release.upgrade().rewritten_values();
        let found: Vec<_> = found.iter().map(|r| (&*r.field, &r.from, &r.to)).collect();
        let field = "virtualization.liveMigrationConfig.completionTimeoutPerGiB";
        assert_eq!(found, [(field, &Value::from(150), &Value::from(20))]);
    }
}
