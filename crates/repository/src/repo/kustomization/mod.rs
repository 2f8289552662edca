//! Kustomizations: one model, read once by everything that asks about one.

mod entry;
mod graph;
mod model;
mod patch_files;
mod shape;

use crate::prelude::*;

pub(super) use entry::{Entry, Field, PatchSource, TRANSFORMERS, generated_from, is_inline};
pub(super) use graph::{Kustomizations, omits};
pub(super) use model::{Kustomization, entries_at};
pub(super) use patch_files::{Named, NamedFiles};

/// The file names of kustomizations.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a file is a kustomization, by its name.
pub fn is_kustomization(path: &Utf8Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|n| KUSTOMIZATIONS.contains(&n))
}

/// The paths that the kustomization in a directory may have.
fn paths_in(directory: &Utf8Path) -> [Utf8PathBuf; 3] {
    KUSTOMIZATIONS.map(|name| directory.join(name))
}

/// Whether a directory has a kustomization.
pub fn has_kustomization(tree: &dyn Tree, directory: &Utf8Path) -> bool {
    paths_in(directory).iter().any(|path| tree.check(path).is_ok())
}

/// Resolves a path that a kustomization names: kustomize follows links to directories, and reads a linked file by its
/// own name.
pub(super) fn follow_links(tree: &dyn Tree, path: &Utf8Path) -> Utf8PathBuf {
    match tree.check(path) {
        Ok(()) => path.to_owned(),
        Err(_) => tree.real(path),
    }
}

/// A key with case folded like in Go's JSON decoder, including the two letters beyond ASCII that fold to ASCII.
pub(super) fn fold_case(key: &str) -> String {
    let fold = |c| match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    key.chars().map(fold).collect()
}

/// The values of a key, in any case, and if it is repeated all of them.
pub(super) fn values<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Node> {
    let entries = node.entries().iter();
    entries.filter(move |e| fold_case(&e.key.text) == key).map(|e| &e.value)
}

/// The last value of a key, in any case, as Go's decoder keeps it.
pub(super) fn value<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    values(node, key).last()
}

/// The last text of a key, in any case; empty where there is none.
pub(super) fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    value(node, key).and_then(Node::as_str).unwrap_or_default()
}
