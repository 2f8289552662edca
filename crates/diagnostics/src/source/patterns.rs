//! `.gitignore` files, read as any other file is: no device, no pipe, nothing outside, nothing large.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::tree::{SkippedPath, Unreadable};

/// The largest file of patterns that is read, in bytes: 20,000 lines or so.
const MOST_BYTES: usize = 256 << 10;

/// Opens a file by its path from the root, and says how many bytes it has.
type Open = dyn Fn(&Utf8Path) -> Result<(File, usize), Unreadable> + Send + Sync;

/// The patterns below a directory, each file read when something beside it is looked at.
pub(super) struct Patterns {
    open: Box<Open>,
    read: Mutex<HashMap<Utf8PathBuf, Option<Arc<Gitignore>>>>,
    unreadable: Mutex<Vec<SkippedPath>>,
}

impl Patterns {
    pub(super) fn new(open: impl Fn(&Utf8Path) -> Result<(File, usize), Unreadable> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), read: Mutex::default(), unreadable: Mutex::default() }
    }

    /// Whether git ignores a path, those above it apart. The nearest file that names it decides.
    pub(super) fn ignore(&self, path: &Utf8Path, is_directory: bool) -> bool {
        for directory in path.ancestors().skip(1) {
            let Some(patterns) = self.of(directory) else {
                continue;
            };
            let below = path.strip_prefix(directory).unwrap_or(path);
            match patterns.matched(below, is_directory) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }

    /// The files that could not be read, whose patterns don't count.
    pub(super) fn unreadable(&self) -> Vec<SkippedPath> {
        let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }

    fn of(&self, directory: &Utf8Path) -> Option<Arc<Gitignore>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(directory) {
            return known.clone();
        }
        let path = directory.join(".gitignore");
        let patterns = match self.parsed(&path) {
            Ok(patterns) => Some(Arc::new(patterns)),
            Err(Unreadable::Missing) => None,
            Err(why) => {
                let mut all = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
                let why = why.into();
                all.push(SkippedPath { path, why });
                None
            }
        };
        read.insert(directory.to_owned(), patterns.clone());
        patterns
    }

    fn parsed(&self, path: &Utf8Path) -> Result<Gitignore, Unreadable> {
        let (file, size) = (self.open)(path)?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if size.max(bytes.len()) > MOST_BYTES {
            let most = MOST_BYTES >> 10;
            return Err(Unreadable::Io(format!("it has more than {most} KiB of patterns")));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut builder = GitignoreBuilder::new("");
        for line in text.trim_start_matches('\u{FEFF}').lines() {
            // As git, in silence: a line that is no pattern matches nothing.
            let _ = builder.add_line(None, line);
        }
        builder.build().map_err(|e| Unreadable::Io(e.to_string()))
    }
}
