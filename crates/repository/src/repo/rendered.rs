//! Rendered trees: what hcoplan wrote is no input.
//!
//! A file is hcoplan's where it lies in a cluster's directory of a tree and its first line says so (in
//! trees of the first shape: where the manifest names it); the rest of such a directory is read like
//! any other, and so is a file with a HyperConverged, which no tree has. Else an empty manifest would
//! hide a directory.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::Tree;
use serde::Deserialize;

use super::MANIFEST;
use super::objects::parent;

/// In each cluster's directory of a tree.
const CLUSTER_MANIFEST: &str = "hcoplan-cluster.json";

/// The tree's top.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Top {
    schema_version: u32,
    /// In trees of the first shape.
    #[serde(default)]
    clusters: Option<Vec<String>>,
}

/// A cluster's directory.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cluster {
    schema_version: u32,
    cluster: String,
    #[serde(default)]
    kustomization: bool,
    /// In trees of the first shape.
    #[serde(default)]
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
        let mut tops: BTreeMap<&Utf8Path, Top> = BTreeMap::new();
        for path in named(MANIFEST) {
            if let Some(top) = read::<Top>(tree, path).filter(Top::is_known) {
                tops.insert(parent(path), top);
            }
        }
        let mut out = Self::default();
        if tops.is_empty() {
            return out;
        }
        let mut beside: BTreeMap<&Utf8Path, Vec<&Utf8PathBuf>> = BTreeMap::new();
        for file in files {
            beside.entry(parent(file)).or_default().push(file);
        }
        for path in named(CLUSTER_MANIFEST) {
            let directory = parent(path);
            let Some((top, manifest)) = directory.ancestors().find_map(|d| tops.get_key_value(d)) else {
                continue;
            };
            let cluster = read::<Cluster>(tree, path);
            let Some(cluster) = cluster.filter(|c| manifest.has(c)) else {
                continue;
            };
            let kustomization = cluster.kustomization.then_some("kustomization.yaml");
            let beside = beside.get(directory).into_iter().flatten();
            let own = beside.filter(|file| cluster.schema_version == 2 && is_own(tree, file));
            let own = own.filter_map(|file| file.file_name());
            let names = cluster.objects.iter().map(|o| o.file.as_str());
            let names = names.chain(own).chain(kustomization).chain([CLUSTER_MANIFEST]);
            let plain = names.filter(|name| Utf8Path::new(name).file_name() == Some(*name));
            out.files.extend(plain.map(|name| directory.join(name)));
            out.files.insert(top.join(MANIFEST));
            out.tops.insert((*top).to_owned());
        }
        out
    }

    /// The directories of the trees, for people.
    pub fn top_directories(&self) -> String {
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

impl Top {
    fn is_known(&self) -> bool {
        match self.schema_version {
            1 => self.clusters.is_some(),
            version => version == 2,
        }
    }

    /// Whether a cluster's directory is one of its tree.
    fn has(&self, cluster: &Cluster) -> bool {
        let listed = self.clusters.as_ref();
        cluster.schema_version == self.schema_version && listed.is_none_or(|names| names.contains(&cluster.cluster))
    }
}

/// Whether the first line of a file says that hcoplan rendered it.
fn is_own(tree: &dyn Tree, path: &Utf8Path) -> bool {
    const FIRST: &[u8] = b"# Rendered by hcoplan for review.";
    tree.read(path).is_ok_and(|bytes| bytes.starts_with(FIRST))
}

fn read<T: for<'d> Deserialize<'d>>(tree: &dyn Tree, path: &Utf8Path) -> Option<T> {
    serde_json::from_slice(&tree.read(path).ok()?).ok()
}
