//! `.gitignore` files, read with the limits of any other file: no device, no pipe, not outside the root, not too large.

use crate::prelude::*;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::locked;
use super::tree::{SkippedPath, Unreadable};

/// The largest file of patterns that is read, in bytes: 20,000 lines or so.
const MAX_BYTES: usize = 256 << 10;

/// Opens a file by its path from the root; returns it with its size in bytes.
type Open = dyn Fn(&Utf8Path) -> Result<(File, usize), Unreadable> + Send + Sync;

/// The patterns below a directory, each file read when something next to it is examined.
pub(super) struct Patterns {
    open: Box<Open>,
    /// The patterns of each visited directory.
    read: Mutex<HashMap<Utf8PathBuf, Option<Arc<PatternChain>>>>,
    unreadable: Mutex<Vec<SkippedPath>>,
}

/// The nearest file of patterns, and those above it: directories without one, of which a path may have thousands, are
/// examined once.
struct PatternChain {
    directory: Utf8PathBuf,
    patterns: Gitignore,
    above: Option<Arc<Self>>,
}

impl Patterns {
    pub(super) fn new(open: impl Fn(&Utf8Path) -> Result<(File, usize), Unreadable> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), read: Mutex::default(), unreadable: Mutex::default() }
    }

    /// Whether git ignores a path by itself, not by a directory above it. The nearest file that names it decides.
    pub(super) fn ignore(&self, path: &Utf8Path, is_directory: bool) -> bool {
        let mut nearest = path.parent().and_then(|directory| self.of(directory));
        while let Some(here) = nearest {
            let below = path.strip_prefix(&here.directory).unwrap_or(path);
            match here.patterns.matched(below, is_directory) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
            nearest = here.above.clone();
        }
        false
    }

    /// The files that could not be read, whose patterns are ignored.
    pub(super) fn unreadable(&self) -> Vec<SkippedPath> {
        let mut all = locked(&self.unreadable);
        std::mem::take(&mut *all)
    }

    fn of(&self, directory: &Utf8Path) -> Option<Arc<PatternChain>> {
        let mut read = locked(&self.read);
        // A walk goes downwards, so that mostly only the last directory is new.
        let new: Vec<&Utf8Path> = directory.ancestors().take_while(|d| !read.contains_key(*d)).collect();
        let known = directory.ancestors().nth(new.len()).and_then(|d| read.get(d));
        let mut nearest = known.cloned().flatten();
        for directory in new.into_iter().rev() {
            let path = directory.join(".gitignore");
            match self.parsed(&path) {
                Ok(patterns) => {
                    let above = nearest.take();
                    nearest = Some(Arc::new(PatternChain { directory: directory.to_owned(), patterns, above }));
                }
                Err(Unreadable::Missing) => {}
                Err(why) => {
                    let mut all = locked(&self.unreadable);
                    let why = why.into();
                    all.push(SkippedPath { path, why });
                }
            }
            read.insert(directory.to_owned(), nearest.clone());
        }
        nearest
    }

    fn parsed(&self, path: &Utf8Path) -> Result<Gitignore, Unreadable> {
        let (file, size) = (self.open)(path)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if size.max(bytes.len()) > MAX_BYTES {
            let most = MAX_BYTES >> 10;
            return Err(Unreadable::Io(format!("it has more than {most} KiB of patterns")));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut builder = GitignoreBuilder::new("");
        for line in text.trim_start_matches('\u{FEFF}').lines() {
            // As in git, an invalid line matches nothing, without an error.
            let _ = builder.add_line(None, line);
        }
        builder.build().map_err(|e| Unreadable::Io(e.to_string()))
    }
}
