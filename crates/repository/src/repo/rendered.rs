//! Finds hcoplan's output trees, which aren't input.
//!
//! A file is hcoplan's if it is in a cluster's directory of a tree and its first line is the header. Other files of
//! such a directory are read, and so is a file with a HyperConverged, which no tree has. Otherwise an empty manifest
//! could hide a directory.

use super::paths::{parent, shown_path};
use crate::emit::{CLUSTER_MANIFEST, HEADER, KUSTOMIZATION, Manifest, TOP_MANIFEST};
use crate::prelude::*;

/// hcoplan's output below a directory.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The trees' directories.
    pub(super) tops: BTreeSet<Utf8PathBuf>,
    files: BTreeSet<Utf8PathBuf>,
}

impl Rendered {
    /// Finds trees by the manifests among the sorted `files`. Skips unreadable manifests.
    pub fn find(tree: &dyn Tree, files: &[Utf8PathBuf]) -> Self {
        let named = |name: &'static str| files.iter().filter(move |p| p.file_name() == Some(name));
        let is_top = |path: &&Utf8PathBuf| text(tree, path).is_some_and(|text| Manifest::from_text(&text).is_ok());
        let tops: BTreeSet<&Utf8Path> = named(TOP_MANIFEST).filter(is_top).map(|path| parent(path)).collect();
        let mut out = Self::default();
        if tops.is_empty() {
            return out;
        }
        let mut by_directory: BTreeMap<&Utf8Path, Vec<&Utf8PathBuf>> = BTreeMap::new();
        for file in files {
            by_directory.entry(parent(file)).or_default().push(file);
        }
        for path in named(CLUSTER_MANIFEST) {
            let directory = parent(path);
            let top = directory.ancestors().find(|d| tops.contains(d));
            let cluster = text(tree, path).and_then(|text| Manifest::of_cluster(&text).ok());
            let (Some(top), Some(cluster)) = (top, cluster) else {
                continue;
            };
            let by_directory = by_directory.get(directory).into_iter().flatten();
            out.files.extend(by_directory.filter(|file| is_own(tree, file)).map(|file| (*file).clone()));
            out.files.extend(cluster.kustomization.then(|| directory.join(KUSTOMIZATION)));
            out.files.extend([path.clone(), top.join(TOP_MANIFEST)]);
            out.tops.insert(top.to_owned());
        }
        out
    }

    /// The directories of the trees as text.
    pub fn top_directories(&self) -> String {
        let shown = self.tops.iter().map(|top| format!("`{}`", shown_path(top)));
        joined(shown, ", ")
    }

    /// Whether a file is hcoplan's own.
    pub fn has(&self, path: &Utf8Path) -> bool {
        self.files.contains(path)
    }
}

/// Whether the first line of a file is hcoplan's header.
fn is_own(tree: &dyn Tree, path: &Utf8Path) -> bool {
    tree.read(path).is_ok_and(|bytes| bytes.starts_with(HEADER.as_bytes()))
}

fn text(tree: &dyn Tree, path: &Utf8Path) -> Option<String> {
    String::from_utf8(tree.read(path).ok()?).ok()
}
