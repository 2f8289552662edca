//! A directory as a tree.
//!
//! `.gitignore` files below the root count for files that git doesn't track, also outside a repository, unless it is a
//! checkout; files of the user's or the machine's git configuration don't, and nothing above the root is examined.

use crate::prelude::*;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use ignore::WalkBuilder;

use super::git::TrackedFiles;
use super::locked;
use super::patterns::Patterns;
use super::read::read_sized;
use super::rooted_directory::{RootedDirectory, outside_git};
use super::tree::{Error, Listing, SkipReason, SkippedPath, Tree, Unreadable, Walk, normalize_path};

/// A directory as a tree.
#[derive(Debug, Clone)]
pub struct Directory {
    root: Utf8PathBuf,
    /// The root with every link resolved.
    real: Utf8PathBuf,
    rooted_directory: RootedDirectory,
    max_bytes: usize,
}

impl Directory {
    /// The directory `root`; files above `max_bytes` are not read.
    ///
    /// # Errors
    /// When it doesn't exist or isn't a directory.
    pub fn open(root: impl Into<Utf8PathBuf>, max_bytes: usize) -> Result<Self, Error> {
        let root = root.into();
        let real = root.canonicalize_utf8().map_err(|e| Error::Root(root.clone(), e.into()))?;
        // A link may lead there.
        if outside_git(&root).is_ok() {
            outside_git(&real).map_err(|why| Error::Root(root.clone(), why))?;
        }
        match fs::metadata(&real) {
            Ok(meta) if meta.is_dir() => match RootedDirectory::new(&real) {
                Ok(rooted_directory) => Ok(Self { root, real, rooted_directory, max_bytes }),
                Err(error) => Err(Error::Root(root, error.into())),
            },
            Ok(meta) if meta.is_file() => Err(Error::Root(root, Unreadable::NotADirectory)),
            Ok(meta) => Err(Error::Root(root, not_a_file(meta.file_type()))),
            Err(error) => Err(Error::Root(root, error.into())),
        }
    }

    /// The root as it was given.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// What a link leads to, when that is below the root.
    fn follow(&self, path: &Utf8Path) -> Result<FileType, Unreadable> {
        let target = self.rooted_directory.resolve(path)?;
        Ok(fs::metadata(self.real.join(target))?.file_type())
    }

    /// Opens a file below the root and returns it with its size in bytes. Links are followed as far as
    /// they stay there; anything but a file is rejected.
    pub(super) fn open_below(&self, path: &Utf8Path) -> Result<(File, usize), Unreadable> {
        self.rooted_directory.open(path).and_then(sized).map_err(|why| match why {
            // A socket can't even be opened.
            Unreadable::Io(_) => match fs::metadata(self.real.join(path)) {
                Ok(meta) if !meta.is_file() && why != Unreadable::LeavesRoot => not_a_file(meta.file_type()),
                _ => why,
            },
            other => other,
        })
    }
}

impl Tree for Directory {
    fn root_directory(&self) -> Option<Utf8PathBuf> {
        Some(self.real.clone())
    }

    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        // The root itself must be readable; unreadable directories below it are skipped.
        fs::read_dir(&self.real).map_err(|e| Error::Root(self.root.clone(), e.into()))?;
        let ignored = walk.matcher()?;
        let left_out = Arc::new(Mutex::new(Vec::new()));
        let (root, out) = (self.real.clone(), Arc::clone(&left_out));
        let here = self.clone();
        let patterns = Arc::new(Patterns::new(move |path| here.open_below(path)));
        let asked = (!walk.checkout).then(|| Arc::clone(&patterns));
        let (tracked, opened) = (OnceLock::new(), Mutex::new(Vec::new()));
        let keep = move |entry: &ignore::DirEntry| {
            let directory = entry.file_type().is_some_and(|t| t.is_dir());
            if directory && entry.file_name() == ".git" {
                return false;
            }
            let path = relative(&root, entry.path());
            let is_within = |above: &Vec<Utf8PathBuf>| above.iter().any(|a| path.starts_with(a));
            let mut above = locked(&opened);
            if is_within(&above) || asked.as_ref().is_some_and(|p| p.ignore(&path, directory)) {
                // A file that git tracks is applied even where a pattern ignores it.
                let tracked = tracked.get_or_init(|| TrackedFiles::of(&root));
                if !tracked.has(&path, directory) {
                    return false;
                }
                if directory {
                    above.push(path.clone());
                }
            }
            drop(above);
            if path.as_str().is_empty() || !ignored.matched(&path, directory).is_ignore() {
                return true;
            }
            let why = SkipReason::Ignored;
            let mut out = locked(&out);
            out.push(SkippedPath { path, why });
            false
        };
        let entries = WalkBuilder::new(&self.real)
            .hidden(false)
            .parents(false)
            .ignore(false)
            .git_ignore(false)
            .git_global(false)
            .git_exclude(false)
            .require_git(false)
            .max_depth(walk.depth)
            // The order of the listing: sorting the names of each directory is cheaper.
            // Their directory is the same, and to find the name in a path takes longer.
            .sort_by_file_path(|a, b| a.as_os_str().cmp(b.as_os_str()))
            .filter_entry(keep)
            .build();
        let mut listing = Listing::default();
        for entry in entries {
            self.add_entry(entry, &mut listing);
        }
        let mut out = locked(&left_out);
        listing.skipped.append(&mut out);
        listing.skipped.append(&mut patterns.unreadable());
        listing.sort();
        listing.skipped.dedup();
        Ok(listing)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        let (mut file, size) = self.open_below(path)?;
        if size > self.max_bytes {
            return Err(Unreadable::TooBig(self.max_bytes));
        }
        Ok(read_sized(&mut file, size)?)
    }

    fn mentions(&self, path: &Utf8Path, words: &[&str]) -> bool {
        self.open_below(path).is_ok_and(|(file, _)| search(file, words))
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        let path = normalize_path(path).ok_or(Unreadable::LeavesRoot)?;
        fs::symlink_metadata(self.real.join(&path))?;
        match self.follow(&path)? {
            kind if kind.is_file() => Ok(()),
            kind => Err(not_a_file(kind)),
        }
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        let real = self.rooted_directory.resolve(path);
        real.unwrap_or_else(|_| path.to_owned())
    }
}

impl Directory {
    fn add_entry(&self, entry: Result<ignore::DirEntry, ignore::Error>, out: &mut Listing) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                if let Some(skipped) = self.walk_error(&error) {
                    out.skipped.push(skipped);
                }
                return;
            }
        };
        let Some(kind) = entry.file_type() else {
            return;
        };
        let path = relative(&self.real, entry.path());
        let why = if kind.is_dir() {
            return;
        } else if entry.path().to_str().is_none() {
            Unreadable::Name.into()
        } else if kind.is_symlink() {
            match self.follow(&path) {
                Ok(target) if target.is_file() => return out.files.push(path),
                Ok(target) if target.is_dir() => SkipReason::LinkedDirectory,
                Ok(target) => not_a_file(target).into(),
                Err(unreadable) => unreadable.into(),
            }
        } else if kind.is_file() {
            return out.files.push(path);
        } else {
            not_a_file(kind).into()
        };
        out.skipped.push(SkippedPath { path, why });
    }

    /// A directory that can't be read.
    fn walk_error(&self, error: &ignore::Error) -> Option<SkippedPath> {
        let path = error_path(error)?;
        let why = Unreadable::from(io::Error::from(error.io_error()?.kind()));
        Some(SkippedPath { path: relative(&self.real, path), why: why.into() })
    }
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err),
        _ => None,
    }
}

fn relative(root: &Utf8Path, path: &Path) -> Utf8PathBuf {
    // What the walk yields begins with the root as it is written.
    let below = path.to_str().and_then(|p| p.strip_prefix(root.as_str()));
    match below.and_then(|p| p.strip_prefix('/')) {
        Some(below) => Utf8PathBuf::from(below),
        None => {
            let below = path.strip_prefix(root).unwrap_or(path);
            Utf8PathBuf::from(below.to_string_lossy().into_owned())
        }
    }
}

/// Opens a file and returns it with its size in bytes. Rejects anything but a regular file, checked after opening;
/// doesn't block on a pipe.
///
/// # Errors
/// Why it can't be read.
pub fn open_file(path: &Utf8Path) -> Result<(File, usize), Unreadable> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    sized(options.open(path)?)
}

/// A file with its size; anything but a file is rejected.
fn sized(file: File) -> Result<(File, usize), Unreadable> {
    let metadata = file.metadata()?;
    match metadata.file_type() {
        kind if kind.is_file() => {
            let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
            Ok((file, size))
        }
        kind => Err(not_a_file(kind)),
    }
}

#[cfg(unix)]
fn not_a_file(kind: FileType) -> Unreadable {
    use std::os::unix::fs::FileTypeExt;
    Unreadable::NotAFile(if kind.is_dir() {
        return Unreadable::Directory;
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_fifo() {
        "a pipe"
    } else {
        "a device"
    })
}

#[cfg(not(unix))]
fn not_a_file(kind: FileType) -> Unreadable {
    if kind.is_dir() { Unreadable::Directory } else { Unreadable::NotAFile("something else") }
}

/// The number of bytes that are searched of a file that is too large to be read.
const SEARCHED: u64 = 1 << 30;

/// Whether one of the words is in a file, without holding all of it.
fn search(file: File, words: &[&str]) -> bool {
    AhoCorasick::new(words).is_ok_and(|finder| {
        let mut found = finder.stream_find_iter(file.take(SEARCHED));
        found.next().is_some_and(|found| found.is_ok())
    })
}

#[cfg(test)]
mod tests;
