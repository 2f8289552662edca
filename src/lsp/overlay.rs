//! The files of a directory with what is open in the editor in their place.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use crate::source::{Error, Listing, Tree, Unreadable, Walk};

/// A tree under the texts that are open. A text whose file isn't there yet is a file, too; one
/// whose file is left out (ignored, in an output tree, behind a link) stays left out.
pub(super) struct Overlay<T> {
    pub(super) tree: T,
    /// By their path from the root.
    pub(super) texts: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// Whether only the files of the root itself count.
    pub(super) shallow: bool,
}

impl<T: Tree> Overlay<T> {
    fn is_new(&self, path: &Utf8Path) -> bool {
        self.texts.contains_key(path) && self.tree.check(path) == Err(Unreadable::Missing)
    }
}

impl<T: Tree> Tree for Overlay<T> {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let mut walk = walk.clone();
        if self.shallow {
            walk.depth = Some(1);
        }
        let mut listing = self.tree.list(&walk)?;
        let ignored = walk.matcher()?;
        for path in self.texts.keys() {
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
        match self.texts.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.tree.read(path),
        }
    }

    fn mentions(&self, path: &Utf8Path, words: &[&str]) -> bool {
        self.tree.mentions(path, words)
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        if self.is_new(path) { Ok(()) } else { self.tree.check(path) }
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.tree.real(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Memory;

    #[test]
    fn files_that_are_not_there_yet_are_listed() {
        let tree: Memory = [("a.yaml", "old"), ("b/c.yaml", "c")].into_iter().collect();
        let texts = [("a.yaml", "new"), ("b/d.yaml", "d"), ("out/e.yaml", "e")];
        let texts = texts.map(|(path, text)| (path.into(), text.into()));
        let mut overlay = Overlay { tree, texts: texts.into_iter().collect(), shallow: false };
        let list = |overlay: &Overlay<Memory>, ignore: &[&str]| {
            let walk = Walk { ignore: ignore.iter().map(|i| (*i).to_owned()).collect(), ..Walk::default() };
            let files = overlay.list(&walk).expect("listed").files;
            files.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let all = ["a.yaml", "b/c.yaml", "b/d.yaml", "out/e.yaml"];
        assert_eq!(list(&overlay, &[]), all);
        assert_eq!(list(&overlay, &["/out/"]), all[..3]);
        let path = Utf8Path::new;
        assert_eq!(overlay.read(path("a.yaml")), Ok(b"new".to_vec()));
        assert_eq!(overlay.check(path("b/d.yaml")), Ok(()));
        assert_eq!(overlay.check(path("x")), Err(Unreadable::Missing));
        overlay.shallow = true;
        assert_eq!(list(&overlay, &[]), all[..1]);
    }
}
