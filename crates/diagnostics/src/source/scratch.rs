//! Temporary directories.

use crate::prelude::*;
use std::io;

type Remove = fn(&Utf8Path) -> io::Result<()>;

/// A directory that is removed with everything in it when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: Utf8PathBuf,
    remove: Remove,
}

impl Scratch {
    /// Takes over a directory that was just made; `remove` removes it.
    pub fn new(path: Utf8PathBuf, remove: Remove) -> Self {
        Self { path, remove }
    }

    /// Where it is.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The next run removes a directory that can't be removed now.
        let _ = (self.remove)(&self.path);
    }
}
