//! Files in memory as a tree: standard input, a build's output, tests.

use super::tree::{Error, Listing, Tree, Unreadable, Walk, normalize_path};
use crate::prelude::*;

/// Files in memory, by path.
#[derive(Debug, Clone, Default)]
pub struct Memory(BTreeMap<Utf8PathBuf, Vec<u8>>);

impl Memory {
    /// One stream, under the name that reports give it (`-`).
    pub fn stream(name: &str, bytes: Vec<u8>) -> Self {
        Self(BTreeMap::from([(name.into(), bytes)]))
    }
}

impl<P: Into<Utf8PathBuf>, B: Into<Vec<u8>>> FromIterator<(P, B)> for Memory {
    fn from_iter<I: IntoIterator<Item = (P, B)>>(files: I) -> Self {
        Self(files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect())
    }
}

impl Tree for Memory {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        let ignored = walk.matcher()?;
        let shallow = |p: &Utf8Path| walk.depth.is_none_or(|d| p.components().count() <= d);
        let kept = self.0.keys().filter(|p| shallow(p) && !ignored.matched_path_or_any_parents(p, false).is_ignore());
        Ok(Listing { files: kept.cloned().collect(), skipped: Vec::new() })
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        self.0.get(path).cloned().ok_or(Unreadable::Missing)
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        let path = normalize_path(path).ok_or(Unreadable::LeavesRoot)?;
        if self.0.contains_key(&path) { Ok(()) } else { Err(Unreadable::Missing) }
    }
}
