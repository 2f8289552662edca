//! Our own files in the tree: what belongs to it and where it comes from.

use std::fmt::Write;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use crate::kube::ObjectId;

/// At the tree's top. A directory that holds it is never read as input.
pub const TOP_MANIFEST: &str = "hcoplan-manifest.json";

/// In each cluster's directory.
pub const CLUSTER_MANIFEST: &str = "hcoplan-cluster.json";

/// The shape that is written and read.
const SCHEMA_VERSION: u32 = 1;

/// The tree's top: which clusters it has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TopManifest {
    /// The version of this file's shape.
    pub schema_version: u32,
    /// The clusters' names, sorted.
    pub clusters: Vec<String>,
}

/// A cluster's directory: what was rendered, by what, from what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterManifest {
    /// The version of this file's shape.
    pub schema_version: u32,
    /// The cluster's name.
    pub cluster: String,
    /// The version of hcoplan.
    pub hcoplan: String,
    /// HCO's release line, `1.17`.
    pub release: String,
    /// The patch level that is modelled, `1.17.4`.
    pub version: String,
    /// What it was rendered from, by path relative to the root.
    pub inputs: Vec<InputDigest>,
    /// Whether it is a kustomization, too.
    #[serde(default)]
    pub kustomization: bool,
    /// The other files of the directory, by operand in the operator's order of work.
    pub objects: Vec<Listed>,
}

/// A file that was rendered from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InputDigest {
    /// Relative to the root.
    pub file: String,
    /// Of its bytes, hexadecimal.
    pub sha256: String,
}

/// A rendered object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Its file, in the manifest's directory.
    pub file: String,
    /// The operand that it belongs to.
    pub operand: String,
    /// `group/version`
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl Listed {
    /// The object's identity.
    pub fn id(&self) -> ObjectId {
        ObjectId {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

impl TopManifest {
    /// A tree of these clusters.
    pub fn new(mut clusters: Vec<String>) -> Self {
        clusters.sort();
        clusters.dedup();
        Self {
            schema_version: SCHEMA_VERSION,
            clusters,
        }
    }

    /// Reads what [`TopManifest::to_text`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let manifest: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        known(manifest.schema_version).map(|()| manifest)
    }

    /// The file's text, one cluster a line.
    pub fn to_text(&self) -> String {
        let clusters = self.clusters.iter().map(json).collect::<Vec<_>>();
        let mut out = format!("{{\n  \"schemaVersion\": {},\n", self.schema_version);
        list(&mut out, "clusters", &clusters);
        out.push_str("\n}\n");
        out
    }
}

impl ClusterManifest {
    /// A manifest by this version of hcoplan.
    pub fn new(cluster: &str, release: &str, version: &str) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            cluster: cluster.to_owned(),
            hcoplan: env!("CARGO_PKG_VERSION").to_owned(),
            release: release.to_owned(),
            version: version.to_owned(),
            inputs: Vec::new(),
            kustomization: false,
            objects: Vec::new(),
        }
    }

    /// Reads what [`ClusterManifest::to_text`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let manifest: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        known(manifest.schema_version)?;
        // Anybody can edit it: it must not lead out of its directory.
        let mut files = manifest.objects.iter().map(|o| o.file.as_str());
        match files.find(|file| Utf8Path::new(file).file_name() != Some(file)) {
            Some(file) => Err(format!("{file:?} is no file of its directory")),
            None => Ok(manifest),
        }
    }

    /// The file's text: one input and one object a line, so that its own diff reads well.
    pub fn to_text(&self) -> String {
        let mut out = format!("{{\n  \"schemaVersion\": {},\n", self.schema_version);
        for (key, value) in [
            ("cluster", &self.cluster),
            ("hcoplan", &self.hcoplan),
            ("release", &self.release),
            ("version", &self.version),
        ] {
            let _ = writeln!(out, "  \"{key}\": {},", json(value));
        }
        if self.kustomization {
            out.push_str("  \"kustomization\": true,\n");
        }
        let inputs: Vec<_> = self.inputs.iter().map(json).collect();
        list(&mut out, "inputs", &inputs);
        out.push_str(",\n");
        let objects: Vec<_> = self.objects.iter().map(json).collect();
        list(&mut out, "objects", &objects);
        out.push_str("\n}\n");
        out
    }
}

fn known(version: u32) -> Result<(), String> {
    match version {
        SCHEMA_VERSION => Ok(()),
        other => Err(format!(
            "schemaVersion {other} is not known to this hcoplan"
        )),
    }
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("strings and numbers are always JSON")
}

fn list(out: &mut String, key: &str, items: &[String]) {
    let _ = write!(out, "  \"{key}\": [");
    for (i, item) in items.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n    {item}");
    }
    out.push_str(if items.is_empty() { "]" } else { "\n  ]" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_as_they_are_written() {
        let mut manifest = ClusterManifest::new("a/\"b\"", "1.17", "1.17.4");
        assert_eq!(
            ClusterManifest::from_text(&manifest.to_text()),
            Ok(manifest.clone())
        );
        manifest.inputs.push(InputDigest {
            file: "a/hco.yaml".to_owned(),
            sha256: "00".to_owned(),
        });
        for (name, namespace) in [("x", None), ("y", Some("n".to_owned()))] {
            manifest.objects.push(Listed {
                file: format!("CDI-{name}.yaml"),
                operand: "cdi".to_owned(),
                api_version: "cdi.kubevirt.io/v1beta1".to_owned(),
                kind: "CDI".to_owned(),
                namespace,
                name: name.to_owned(),
            });
        }
        manifest.kustomization = true;
        let text = manifest.to_text();
        assert_eq!(text.lines().filter(|l| l.contains("\"CDI-")).count(), 2);
        assert_eq!(ClusterManifest::from_text(&text), Ok(manifest));

        let top = TopManifest::new(vec!["b".to_owned(), "a".to_owned(), "b".to_owned()]);
        assert_eq!(top.clusters, ["a", "b"]);
        assert_eq!(TopManifest::from_text(&top.to_text()), Ok(top));
    }

    #[test]
    fn another_shape_is_refused() {
        let error = TopManifest::from_text(r#"{"schemaVersion": 9, "clusters": []}"#);
        assert_eq!(
            error,
            Err("schemaVersion 9 is not known to this hcoplan".to_owned())
        );
        assert!(ClusterManifest::from_text("{}").is_err());
    }

    #[test]
    fn a_manifest_leads_nowhere_else() {
        for file in ["../../secret", "/etc/passwd", "..", "", "a/b", "./a", "a/"] {
            let mut manifest = ClusterManifest::new("a", "1.17", "1.17.4");
            manifest.objects.push(Listed {
                file: file.to_owned(),
                operand: "x".to_owned(),
                api_version: "v1".to_owned(),
                kind: "X".to_owned(),
                namespace: None,
                name: "x".to_owned(),
            });
            let refused = Err(format!("{file:?} is no file of its directory"));
            assert_eq!(ClusterManifest::from_text(&manifest.to_text()), refused);
        }
    }
}
