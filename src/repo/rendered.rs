//! Rendered trees: what hcoplan wrote is no input.
//!
//! A file is hcoplan's where the tree's manifests name it; the rest of such a directory is read like any
//! other, and so is a file with a HyperConverged, which no tree has. Else an empty manifest would hide a
//! directory.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::MANIFEST;
use super::objects::parent;
use crate::source::Tree;

/// In each cluster's directory of a tree.
const CLUSTER_MANIFEST: &str = "hcoplan-cluster.json";

/// The tree's top.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Top {
    schema_version: u32,
    clusters: Vec<String>,
}

/// A cluster's directory.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cluster {
    schema_version: u32,
    cluster: String,
    #[serde(default)]
    kustomization: bool,
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    file: String,
}

/// What hcoplan rendered below a directory.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The tops of trees.
    pub(super) tops: BTreeSet<Utf8PathBuf>,
    files: BTreeSet<Utf8PathBuf>,
}

impl Rendered {
    /// What manifests among `files`, which are sorted, say. A manifest that can't be read says nothing.
    pub fn find(tree: &dyn Tree, files: &[Utf8PathBuf]) -> Self {
        let named = |name: &'static str| files.iter().filter(move |p| p.file_name() == Some(name));
        let mut tops: BTreeMap<&Utf8Path, BTreeSet<String>> = BTreeMap::new();
        for path in named(MANIFEST) {
            if let Some(top) = read::<Top>(tree, path).filter(|top| top.schema_version == 1) {
                tops.insert(parent(path), top.clusters.into_iter().collect());
            }
        }
        let mut out = Self::default();
        if tops.is_empty() {
            return out;
        }
        for path in named(CLUSTER_MANIFEST) {
            let directory = parent(path);
            let Some((top, clusters)) = directory.ancestors().find_map(|d| tops.get_key_value(d))
            else {
                continue;
            };
            let cluster = read::<Cluster>(tree, path).filter(|c| c.schema_version == 1);
            let Some(cluster) = cluster.filter(|c| clusters.contains(&c.cluster)) else {
                continue;
            };
            let kustomization = cluster.kustomization.then_some("kustomization.yaml");
            let names = cluster.objects.iter().map(|o| o.file.as_str());
            let names = names.chain(kustomization).chain([CLUSTER_MANIFEST]);
            let plain = names.filter(|name| Utf8Path::new(name).file_name() == Some(*name));
            out.files.extend(plain.map(|name| directory.join(name)));
            out.files.insert(top.join(MANIFEST));
            out.tops.insert((*top).to_owned());
        }
        out
    }

    /// The directories of the trees, for people.
    pub fn tops(&self) -> String {
        let shown = self.tops.iter().map(|top| match top.as_str() {
            "" => "`.`".to_owned(),
            top => format!("`{top}`"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Whether a file is hcoplan's own.
    pub fn has(&self, path: &Utf8Path) -> bool {
        self.files.contains(path)
    }
}

fn read<T: for<'d> Deserialize<'d>>(tree: &dyn Tree, path: &Utf8Path) -> Option<T> {
    serde_json::from_slice(&tree.read(path).ok()?).ok()
}
