//! A tree with some files replaced, as after fixes or in an editor, or added, as a build's output.

use super::tree::{Error, Listing, Tree, Unreadable, Walk};
use super::{Origins, SourceFile};
use crate::prelude::*;

/// A tree in which some files have another content. One that isn't there yet is a file, too; one that is left out
/// (ignored, in an output tree, behind a link) stays left out.
pub struct EditedTree<T> {
    tree: T,
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    origins: BTreeMap<Utf8PathBuf, Arc<Origins>>,
    unlisted: BTreeSet<Utf8PathBuf>,
}

impl<T: Tree> EditedTree<T> {
    /// `tree` with the bytes of `files`, by their path from the root, instead of its own.
    pub fn new(tree: T, files: BTreeMap<Utf8PathBuf, Vec<u8>>) -> Self {
        Self { tree, files, origins: BTreeMap::new(), unlisted: BTreeSet::new() }
    }

    /// With the origins of the text of built files.
    #[must_use]
    pub fn with_origins(self, origins: BTreeMap<Utf8PathBuf, Arc<Origins>>) -> Self {
        Self { origins, ..self }
    }

    /// Without some files in its listings; they can still be read.
    #[must_use]
    pub fn without(self, unlisted: BTreeSet<Utf8PathBuf>) -> Self {
        Self { unlisted, ..self }
    }

    fn is_new(&self, path: &Utf8Path) -> bool {
        self.files.contains_key(path) && self.tree.check(path) == Err(Unreadable::Missing)
    }
}

impl<T: Tree> Tree for EditedTree<T> {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let mut listing = self.tree.list(walk)?;
        listing.files.retain(|path| !self.unlisted.contains(path));
        let ignored = walk.matcher()?;
        for path in self.files.keys() {
            let deep = walk.depth.is_some_and(|d| path.components().count() > d);
            let skipped = || listing.skipped.iter().any(|s| path.starts_with(&s.path));
            let left_out = || deep || skipped() || ignored.matched_path_or_any_parents(path, false).is_ignore();
            if let Err(at) = listing.files.binary_search(path)
                && self.is_new(path)
                && !left_out()
            {
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

    fn source(&self, path: &Utf8Path) -> Result<Arc<SourceFile>, Unreadable> {
        let Some(bytes) = self.files.get(path) else { return self.tree.source(path) };
        let source = SourceFile::from_bytes(path, bytes.clone());
        if let Some(origins) = self.origins.get(path) {
            source.set_origins(Arc::clone(origins));
        }
        Ok(source)
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
        if self.is_new(path) { Ok(()) } else { self.tree.check(path) }
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        if self.is_new(path) { path.to_owned() } else { self.tree.real(path) }
    }

    fn root_directory(&self) -> Option<Utf8PathBuf> {
        self.tree.root_directory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Memory;

    #[test]
    fn files_that_are_not_there_yet_are_listed() {
        let tree: Memory = [("a.yaml", "old"), ("b/c.yaml", "c")].into_iter().collect();
        let files = [("a.yaml", "new"), ("b/d.yaml", "d"), ("out/e.yaml", "e")];
        let edited = EditedTree::new(tree, files.map(|(path, text)| (path.into(), text.into())).into());
        let list = |ignore: &[&str], depth| {
            let ignore = ignore.iter().map(|i| (*i).to_owned()).collect();
            let files = edited.list(&Walk { ignore, depth, ..Walk::default() }).expect("listed").files;
            files.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let all = ["a.yaml", "b/c.yaml", "b/d.yaml", "out/e.yaml"];
        assert_eq!(list(&[], None), all);
        assert_eq!(list(&["/out/"], None), all[..3]);
        assert_eq!(list(&[], Some(1)), all[..1]);
        let path = Utf8Path::new;
        assert_eq!(edited.read(path("a.yaml")), Ok(b"new".to_vec()));
        assert_eq!(edited.check(path("b/d.yaml")), Ok(()));
        assert_eq!(edited.check(path("x")), Err(Unreadable::Missing));
    }
}
