//! A tree in which some files have another content: as it would be after fixes.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::tree::{Error, Listing, Tree, Unreadable, Walk};

/// A tree in which some files have another content.
pub struct Edited<T> {
    tree: T,
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl<T: Tree> Edited<T> {
    /// `tree` with the bytes of `files`, by their path from the root, in the place of its own.
    pub fn new(tree: T, files: BTreeMap<Utf8PathBuf, Vec<u8>>) -> Self {
        Self { tree, files }
    }
}

impl<T: Tree> Tree for Edited<T> {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        self.tree.list(walk)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        match self.files.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.tree.read(path),
        }
    }

    fn mentions(&self, path: &Utf8Path, words: &[&str]) -> bool {
        self.tree.mentions(path, words)
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        self.tree.check(path)
    }
}
