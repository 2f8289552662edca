//! A tree in which some files have another content, as it would be after fixes, or are there in the
//! first place, as a build's output.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::tree::{Error, Listing, Tree, Unreadable, Walk};

/// A tree in which some files have another content.
pub struct EditedTree<T> {
    tree: T,
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl<T: Tree> EditedTree<T> {
    /// `tree` with the bytes of `files`, by their path from the root, in the place of its own.
    pub fn new(tree: T, files: BTreeMap<Utf8PathBuf, Vec<u8>>) -> Self {
        Self { tree, files }
    }
}

impl<T: Tree> Tree for EditedTree<T> {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let mut listing = self.tree.list(walk)?;
        let deep = |p: &Utf8Path| walk.depth.is_some_and(|d| p.components().count() > d);
        for path in self.files.keys().filter(|p| !deep(p)) {
            if let Err(at) = listing.files.binary_search(path) {
                listing.files.insert(at, path.clone());
            }
        }
        Ok(listing)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        match self.files.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.tree.read(path),
        }
    }

    fn mentions(&self, path: &Utf8Path, words: &[&str]) -> bool {
        let in_it = |bytes: &Vec<u8>| {
            let text = String::from_utf8_lossy(bytes);
            words.iter().any(|word| text.contains(word))
        };
        match self.files.get(path) {
            Some(bytes) => in_it(bytes),
            None => self.tree.mentions(path, words),
        }
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        if self.files.contains_key(path) { Ok(()) } else { self.tree.check(path) }
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        if self.files.contains_key(path) { path.to_owned() } else { self.tree.real(path) }
    }
}
