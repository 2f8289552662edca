//! Determines which files of a directory are applied together.

use super::Context;
use super::prelude::*;
use hcoplan_diagnostics::source::normalize_path;

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

/// The files that the kustomizations of a cluster's directory name.
#[derive(Debug, Default)]
pub struct BuiltFiles {
    /// The resources of each directory with a kustomization.
    resources: BTreeMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    patches: BTreeSet<Utf8PathBuf>,
    patched: BTreeSet<Utf8PathBuf>,
}

impl BuiltFiles {
    fn of(other_objects: &OtherObjects) -> Self {
        let mut out = Self::default();
        // apiVersion and kind are optional.
        for document in ["Kustomization", "Component", ""].iter().flat_map(|kind| other_objects.of_kind(kind)) {
            let path = document.file.path();
            let is_one = path.file_stem().is_some_and(|s| s.eq_ignore_ascii_case("kustomization"));
            let Some(directory) = path.parent().filter(|_| is_one) else {
                continue;
            };
            let paths = |key: &str| -> Vec<Utf8PathBuf> {
                let items = document.root.list_at(key).iter();
                let named = items.filter_map(|i| i.as_str().or_else(|| i.text_at("path")));
                named.filter_map(|n| normalize_path(&directory.join(n))).collect()
            };
            let patches = ["patches", "patchesStrategicMerge", "patchesJson6902"].map(paths).concat();
            let patches_inline = ["patches", "patchesJson6902", "components", "replacements"];
            let changes = !patches.is_empty() || patches_inline.iter().any(|k| document.root.get(k).is_some());
            out.patches.extend(patches);
            let named = ["resources", "bases"].map(paths).concat();
            if changes {
                out.patched.extend(named.iter().cloned());
            }
            out.resources.entry(directory.to_owned()).or_default().extend(named);
        }
        // Patching a directory patches its resources.
        let mut open: Vec<Utf8PathBuf> = out.patched.iter().cloned().collect();
        while let Some(directory) = open.pop() {
            for named in out.resources.get(&directory).into_iter().flatten() {
                if out.patched.insert(named.clone()) {
                    open.push(named.clone());
                }
            }
        }
        out
    }

    fn extent(&self, file: &Utf8Path) -> Extent {
        if self.patches.contains(file) {
            Extent::Patch
        } else if self.patched.contains(file) {
            Extent::Patched
        } else {
            Extent::Whole
        }
    }

    /// The resources of the kustomization in a file's directory, if it has one.
    pub fn resources_next_to(&self, file: &Utf8Path) -> Option<&BTreeSet<Utf8PathBuf>> {
        self.resources.get(file.parent()?)
    }

    /// Whether a file is a resource of its directory's kustomization, or the directory has none.
    pub fn has(&self, file: &SourceFile) -> bool {
        let named = self.resources_next_to(file.path());
        file.is_generated() || named.is_none_or(|named| named.contains(file.path()))
    }
}

impl Context<'_> {
    /// The files used by kustomizations in the cluster's directory.
    pub fn built_files(&self) -> &BuiltFiles {
        self.known.built_files.get_or_init(|| BuiltFiles::of(self.other_objects()))
    }

    /// The extent of the objects in a document's file.
    pub fn extent(&self, document: &Document) -> Extent {
        self.built_files().extent(document.file.path())
    }

    /// Whether a document is a whole object, which nothing patches.
    pub fn is_whole(&self, document: &Document) -> bool {
        self.extent(document) == Extent::Whole
    }
}
