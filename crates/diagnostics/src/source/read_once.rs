//! A directory whose files are read once.

use crate::prelude::*;
use std::collections::HashMap;

use super::locked;
use super::tree::{Error, Listing, Tree, Unreadable, Walk};

/// The number of bytes that are kept; further files are read again.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A directory whose files are read once: builds, lists and plans use the same bytes, even where
/// a file changes meanwhile.
#[derive(Debug)]
pub struct ReadOnce<T> {
    directory: T,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    files: HashMap<Utf8PathBuf, Arc<[u8]>>,
    bytes: usize,
}

impl<T: Tree> ReadOnce<T> {
    /// A directory of which nothing has been read yet.
    pub fn new(directory: T) -> Self {
        Self { directory, kept: Mutex::default() }
    }
}

impl<T: Tree> Tree for ReadOnce<T> {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        self.directory.list(walk)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        let kept = || locked(&self.kept);
        if let Some(bytes) = kept().files.get(path).map(Arc::clone) {
            return Ok(bytes.to_vec());
        }
        let bytes = self.directory.read(path)?;
        let mut kept = kept();
        if kept.bytes + bytes.len() <= MAX_KEPT_BYTES && !kept.files.contains_key(path) {
            kept.bytes += bytes.len();
            kept.files.insert(path.to_owned(), bytes.as_slice().into());
        }
        Ok(bytes)
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        self.directory.check(path)
    }

    fn inner(&self) -> Option<&dyn Tree> {
        Some(&self.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::super::directory::Directory;
    use super::*;

    #[test]
    fn keeps_the_first_content_of_a_changing_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let write = |text: &str| std::fs::write(root.join("a.yaml"), text).expect("written");
        write("a: 1");
        let tree = ReadOnce::new(Directory::open(root, 100).expect("opened"));
        assert_eq!(tree.read("a.yaml".into()), Ok(b"a: 1".to_vec()));
        write("a: 2");
        assert_eq!(tree.read("a.yaml".into()), Ok(b"a: 1".to_vec()));
        assert_eq!(tree.read("b.yaml".into()), Err(Unreadable::Missing));
    }
}
