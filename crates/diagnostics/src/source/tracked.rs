//! What git tracks of a directory.

use crate::prelude::*;

use super::git::TrackedFiles;
use super::tree::{Error, Listing, Tree, Unreadable, Walk};

/// A directory of which only the files are read that git tracks, and what is in submodules.
#[derive(Debug)]
pub struct Tracked<T> {
    tree: T,
    /// `None`: all are read.
    files: Option<TrackedFiles>,
    /// Which other files are listed, so that their use is an error.
    is_listed: fn(&Utf8Path) -> bool,
}

impl<T: Tree> Tracked<T> {
    /// All files of a directory.
    pub fn all(tree: T) -> Self {
        Self { tree, files: None, is_listed: |_| true }
    }

    /// Those that git tracks, if it is in a repository.
    pub fn of(tree: T, is_listed: fn(&Utf8Path) -> bool) -> Self {
        let files = tree.root_directory().and_then(|directory| TrackedFiles::of_checkout(&directory));
        Self { tree, files, is_listed }
    }

    fn has(&self, path: &Utf8Path) -> bool {
        self.files.as_ref().is_none_or(|files| {
            let real = self.tree.real(path);
            files.has(&real, false) || files.is_in_submodule(&real)
        })
    }
}

impl<T: Tree> Tree for Tracked<T> {
    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.tree)
    }

    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let mut listing = self.tree.list(walk)?;
        listing.files.retain(|file| self.has(file) || (self.is_listed)(file));
        Ok(listing)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        match self.tree.read(path) {
            Ok(_) if !self.has(path) => Err(Unreadable::Untracked),
            read => read,
        }
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        self.tree.check(path)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::directory::Directory;
    use super::*;

    #[test]
    fn of_untracked_files_only_some_are_listed_and_none_is_read() {
        let place = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(place.path()).expect("UTF-8");
        let write = |path: &str| std::fs::write(root.join(path), path).expect("written");
        let git = |arguments: &[&str]| {
            let done = Command::new("git").arg("-C").arg(root).args(arguments).output().expect("git runs");
            assert!(done.status.success(), "{arguments:?}: {done:?}");
        };
        let directory = || Directory::open(root, 100).expect("opened");
        write("a.yaml");
        assert_eq!(Tracked::of(directory(), |_| false).read("a.yaml".into()), Ok(b"a.yaml".to_vec()));
        git(&["init", "-q"]);
        git(&["add", "a.yaml"]);
        write("token.json");
        write("kustomization.yaml");
        let tracked = Tracked::of(directory(), |path| path == "kustomization.yaml");
        let listed = |tree: &dyn Tree| tree.list(&Walk::default()).expect("listed").files;
        assert_eq!(listed(&tracked), ["a.yaml", "kustomization.yaml"]);
        assert_eq!(listed(&Tracked::all(directory())).len(), 3);
        assert_eq!(tracked.read("a.yaml".into()), Ok(b"a.yaml".to_vec()));
        for untracked in ["token.json", "kustomization.yaml"] {
            assert_eq!(tracked.read(untracked.into()), Err(Unreadable::Untracked), "{untracked}");
        }
    }
}
