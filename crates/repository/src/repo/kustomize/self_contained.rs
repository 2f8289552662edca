//! Finds out whether a directory can be checked without other files.

use camino::Utf8Path;
use hcoplan_diagnostics::source::{Tree, Walk, normalize_path};

use super::super::kustomization::is_kustomization;
use super::read::{Kustomization, Named};
use super::remote;

/// Whether kustomizations refer into or out of a directory or file of a tree, such as an overlay to its base.
pub fn has_outside_references(tree: &dyn Tree, below: &Utf8Path) -> bool {
    let files = tree.list(&Walk::default()).map(|listing| listing.files);
    let files = files.unwrap_or_default();
    let kustomizations = files.iter().filter(|f| is_kustomization(f));
    let mut directories = kustomizations.filter_map(|f| f.parent());
    directories.any(|directory| {
        let read = Kustomization::of(tree, Utf8Path::new("."), directory);
        let named = read.map(|k| k.named).unwrap_or_default();
        named.iter().any(|named| match named {
            Named::Base(name) | Named::File(name) | Named::Patch(name) | Named::Plugin(name) => {
                let path = normalize_path(&directory.join(name));
                path.is_some_and(|p| p.starts_with(below) != directory.starts_with(below))
                    && !remote::looks_remote(name)
            }
        })
    })
}
