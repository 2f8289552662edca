//! The manifests of the output tree, which mark directories that hcoplan wrote.
//!
//! They have no list, digest or version of hcoplan, so that branches don't conflict. A directory's objects are its
//! files, which begin with our header.

use serde::{Deserialize, Serialize};

/// The name of the manifest of the tree. A directory with it is never read as input.
pub const TOP_MANIFEST: &str = "hcoplan-manifest.json";

/// The name of the manifest in each cluster's directory.
pub const CLUSTER_MANIFEST: &str = "hcoplan-cluster.json";

/// The supported version of the format.
const SCHEMA_VERSION: u32 = 2;

/// The manifest of the tree, or of a cluster's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the format.
    pub schema_version: u32,
    /// The cluster's name; empty in the manifest of the tree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cluster: String,
    /// Whether the directory is a kustomization.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kustomization: bool,
}

impl Manifest {
    /// The manifest of a cluster's directory, or of the tree.
    pub fn new(cluster: &str) -> Self {
        Self { schema_version: SCHEMA_VERSION, cluster: cluster.to_owned(), kustomization: false }
    }

    /// Parses the text of [`Self::to_text`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let manifest: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match manifest.schema_version {
            SCHEMA_VERSION => Ok(manifest),
            other => Err(format!("this version of hcoplan doesn't support schemaVersion {other}")),
        }
    }

    /// Parses the text of a cluster's manifest.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_cluster(text: &str) -> Result<Self, String> {
        let manifest = Self::from_text(text)?;
        if manifest.cluster.is_empty() { Err("missing field `cluster`".to_owned()) } else { Ok(manifest) }
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("strings and numbers are always JSON") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_as_they_are_written() {
        let mut manifest = Manifest::new("a/\"b\"");
        for kustomization in [false, true] {
            manifest.kustomization = kustomization;
            let text = manifest.to_text();
            assert_eq!(Manifest::of_cluster(&text), Ok(manifest.clone()));
        }
        let top = Manifest::new("");
        assert_eq!(Manifest::from_text(&top.to_text()), Ok(top));
    }

    #[test]
    fn rejects_another_shape() {
        let error = Manifest::from_text(r#"{"schemaVersion": 9, "clusters": []}"#);
        assert_eq!(error, Err("this version of hcoplan doesn't support schemaVersion 9".to_owned()));
        assert!(Manifest::of_cluster("{}").is_err());
        assert!(Manifest::of_cluster(&Manifest::new("").to_text()).is_err());
    }
}
