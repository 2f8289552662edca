//! Determines which files of a directory are applied together.

use super::Context;
use super::prelude::*;
use camino::{Utf8Path, Utf8PathBuf};

/// The resources of kustomizations, by directory.
#[derive(Debug)]
pub struct BuiltFiles<'d>(BTreeMap<&'d Utf8Path, BTreeSet<&'d str>>);

impl<'d> BuiltFiles<'d> {
    fn of(other_objects: &'d OtherObjects) -> Self {
        let mut out: BTreeMap<&Utf8Path, BTreeSet<&str>> = BTreeMap::new();
        // apiVersion and kind are optional.
        for kind in ["Kustomization", ""] {
            for document in other_objects.of_kind(kind) {
                let path = document.file.path();
                let is_one = path.file_stem().is_some_and(|s| s.eq_ignore_ascii_case("kustomization"));
                let resources = document.root.get("resources").map(Node::items);
                if let (true, Some(directory)) = (is_one, path.parent()) {
                    let names = resources.unwrap_or_default().iter().filter_map(Node::as_str);
                    let names = names.map(|n| n.trim_start_matches("./"));
                    out.entry(directory).or_default().extend(names);
                }
            }
        }
        Self(out)
    }

    /// Whether a file is a resource of its directory's kustomization, or the kustomization itself.
    pub fn has(&self, file: &SourceFile) -> bool {
        if file.is_generated() {
            return true;
        }
        let file = file.path();
        let named = file.parent().and_then(|d| self.0.get(d));
        named.is_none_or(|named| file.file_name().is_some_and(|f| named.contains(f)))
    }

    /// Whether its directory has a kustomization.
    pub fn is_kustomized(&self, file: &Utf8Path) -> bool {
        file.parent().is_some_and(|d| self.0.contains_key(d))
    }
}

/// How much of an object a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The whole object.
    Whole,
    /// An object that a kustomization patches.
    Patched,
    /// A patch.
    Patch,
}

/// The extents of files, by the kustomizations of a directory.
#[derive(Debug, Default)]
pub(super) struct Extents {
    patches: BTreeSet<Utf8PathBuf>,
    patched: BTreeSet<Utf8PathBuf>,
}

impl Extents {
    fn of(other_objects: &OtherObjects) -> Self {
        let mut out = Self::default();
        // For each directory: its resources, whether it has patches, and other files that it names.
        let mut resources: BTreeMap<Utf8PathBuf, Vec<Utf8PathBuf>> = BTreeMap::new();
        for document in ["Kustomization", "Component", ""].iter().flat_map(|kind| other_objects.of_kind(kind)) {
            let path = document.file.path();
            let is_one = path.file_stem().is_some_and(|s| s.eq_ignore_ascii_case("kustomization"));
            let Some(directory) = path.parent().filter(|_| is_one) else {
                continue;
            };
            let paths = |key: &str| -> Vec<Utf8PathBuf> {
                let items = document.root.list_at(key).iter();
                let named = items.filter_map(|i| i.as_str().or_else(|| i.get("path")?.as_str()));
                named.map(|n| joined(directory, n)).collect()
            };
            let patches = ["patches", "patchesStrategicMerge", "patchesJson6902"].map(paths).concat();
            let patches_inline = ["patches", "patchesJson6902", "components", "replacements"];
            let changes = !patches.is_empty() || patches_inline.iter().any(|k| document.root.get(k).is_some());
            out.patches.extend(patches);
            let named = ["resources", "bases"].map(paths).concat();
            if changes {
                out.patched.extend(named.iter().cloned());
            }
            resources.entry(directory.to_owned()).or_default().extend(named);
        }
        // Patching a directory patches its resources.
        let mut open: Vec<Utf8PathBuf> = out.patched.iter().cloned().collect();
        while let Some(directory) = open.pop() {
            for named in resources.get(&directory).into_iter().flatten() {
                if out.patched.insert(named.clone()) {
                    open.push(named.clone());
                }
            }
        }
        out
    }

    /// The extent of a file's objects.
    fn extent(&self, file: &Utf8Path) -> Extent {
        if self.patches.contains(file) {
            Extent::Patch
        } else if self.patched.contains(file) {
            Extent::Patched
        } else {
            Extent::Whole
        }
    }
}

/// A path named by a file of a directory.
fn joined(directory: &Utf8Path, named: &str) -> Utf8PathBuf {
    let mut out = directory.to_owned();
    for part in named.split('/').filter(|p| !matches!(*p, "" | ".")) {
        match part {
            ".." => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

impl Context<'_> {
    /// The extent of the objects in a file of the cluster's directory.
    pub fn extent(&self, file: &Utf8Path) -> Extent {
        self.extents.get_or_init(|| Extents::of(self.other_objects())).extent(file)
    }

    /// Whether an object of the cluster's directory is complete, not a patch or one that is patched.
    pub fn is_whole(&self, document: &Document) -> bool {
        self.extent(document.file.path()) == Extent::Whole
    }

    /// The files used by kustomizations in the cluster's directory.
    pub fn built_files(&self) -> BuiltFiles<'_> {
        BuiltFiles::of(self.other_objects())
    }
}
