//! Finds out whether a directory can be checked without other files.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Tree, Walk, normalize_path};

use super::super::kustomization::is_kustomization;
use super::read::{Kustomization, Named};
use super::remote;

/// Whether kustomizations refer into or out of a directory or file of a tree, such as an overlay to its base.
pub fn has_outside_references(tree: &dyn Tree, below: &Utf8Path) -> bool {
    let references = references(tree);
    references.iter().any(|(by, named)| named.starts_with(below) != by.starts_with(below))
}

/// What each kustomization of a tree names, by the directory of the kustomization.
pub(in crate::repo) fn references(tree: &dyn Tree) -> Vec<(Utf8PathBuf, Utf8PathBuf)> {
    let files = tree.list(&Walk::default()).map(|listing| listing.files);
    let files = files.unwrap_or_default();
    let directories = files.iter().filter(|f| is_kustomization(f)).filter_map(|f| f.parent());
    let references = directories.flat_map(|directory| {
        let read = Kustomization::of(tree, Utf8Path::new("."), directory);
        let named = read.map(|k| k.named).unwrap_or_default();
        let paths = named.into_iter().filter_map(|named| match named {
            Named::Base(name) | Named::File(name) | Named::Patch(name) | Named::Plugin(name) => {
                let path = normalize_path(&directory.join(&name)).filter(|_| !remote::looks_remote(&name));
                Some((directory.to_owned(), path?))
            }
        });
        paths.collect::<Vec<_>>()
    });
    references.collect()
}
