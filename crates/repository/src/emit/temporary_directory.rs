//! The temporary directory next to the tree, in which the new tree is built.

use std::fs::{self, File};
use std::io;
use std::sync::atomic::AtomicU32;

use hcoplan_diagnostics::source::Scratch;

use super::Error;
use super::manifest::TOP_MANIFEST;
use crate::prelude::*;

/// A directory that is removed with everything in it when it is dropped.
#[derive(Debug)]
pub(super) struct TemporaryDirectory {
    directory: Scratch,
    // A lock that marks the directory as used for other processes.
    _lock: Option<File>,
}

impl TemporaryDirectory {
    /// Creates `.<name>.hcoplan-<something>` in `parent`, and removes those of killed runs.
    pub(super) fn beside(parent: &Utf8Path, name: &str) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // File systems limit the length of a name.
        let prefix = format!(".{}.hcoplan-", &name[..name.floor_char_boundary(MAX_NAME_BYTES)]);
        remove_abandoned(parent, &prefix);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{prefix}{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => {
                    return Err(Error::Beside(parent.join(name), parent.to_owned(), error));
                }
            }
            let directory = Scratch::new(path, remove);
            let lock = lock(directory.path());
            // Another run may have removed it before it was locked.
            if directory.path().is_dir() {
                return Ok(Self { directory, _lock: lock });
            }
        }
    }

    pub(super) fn path(&self) -> &Utf8Path {
        self.directory.path()
    }
}

/// The number of bytes of the tree's name in the temporary directory's.
const MAX_NAME_BYTES: usize = 200;

/// Removes a tree, its manifest last: if it is killed, the rest is still never read as input.
fn remove(path: &Utf8Path) -> io::Result<()> {
    for entry in path.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != TOP_MANIFEST {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir_all(path)
}

/// Locks a directory; `None` if the system can't.
fn lock(path: &Utf8Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

fn remove_abandoned(parent: &Utf8Path, prefix: &str) {
    let Ok(entries) = parent.read_dir_utf8() else {
        return;
    };
    for entry in entries.flatten() {
        let is_directory = entry.file_type().is_ok_and(|t| t.is_dir());
        if is_directory && entry.file_name().starts_with(prefix) && lock(entry.path()).is_some() {
            let _ = remove(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_leftovers_of_killed_runs_only() {
        let parent = tempfile::tempdir().expect("a directory");
        let parent = Utf8Path::from_path(parent.path()).expect("UTF-8");
        let abandoned = parent.join(".rendered.hcoplan-1-1");
        fs::create_dir_all(abandoned.join("a")).expect("made");
        let other = parent.join(".other.hcoplan-1-1");
        fs::create_dir(&other).expect("made");

        let first = TemporaryDirectory::beside(parent, "rendered").expect("first");
        assert!(!abandoned.exists());
        assert!(other.exists());
        let second = TemporaryDirectory::beside(parent, "rendered").expect("second");
        assert!(first.path().exists());
        assert_ne!(first.path(), second.path());
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }
}
