//! Directories that must not outlive the process.
//!
//! Dropping one removes it. A process that is ended while threads still work calls
//! [`remove_scratch`] first.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

type Remove = fn(&Utf8Path) -> io::Result<()>;

/// The directories that there are now, and how each is removed.
static DIRECTORIES: Mutex<Vec<(Utf8PathBuf, Remove)>> = Mutex::new(Vec::new());

/// So often is it tried to remove a directory that others still write to.
const TRIES: usize = 20;

/// A directory that is removed with everything in it when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: Utf8PathBuf,
}

/// While it is held, [`remove_scratch`] waits.
#[derive(Debug)]
#[must_use]
pub struct ScratchLock(MutexGuard<'static, Vec<(Utf8PathBuf, Remove)>>);

impl Scratch {
    /// Takes over a directory that was just made; `remove` removes it.
    pub fn new(path: Utf8PathBuf, remove: Remove) -> Self {
        directories().0.push((path.clone(), remove));
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut directories = directories();
        let found = directories.0.iter().position(|(path, _)| *path == self.path);
        if let Some(index) = found {
            let (path, remove) = directories.0.swap_remove(index);
            // What can't be removed now is removed by the next run.
            let _ = remove(&path);
        }
    }
}

/// Keeps [`remove_scratch`] from removing a directory that is being put in place.
pub fn lock_scratch() -> ScratchLock {
    directories()
}

/// Removes all of them, for a process that ends now: it ends while it holds what this returns, so
/// that none is made or put in place any more.
pub fn remove_scratch() -> ScratchLock {
    let directories = directories();
    for (path, remove) in directories.0.iter() {
        // Other threads may still write there.
        let _ = (0..TRIES).any(|_| remove(path).is_ok());
    }
    directories
}

fn directories() -> ScratchLock {
    ScratchLock(DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner))
}
