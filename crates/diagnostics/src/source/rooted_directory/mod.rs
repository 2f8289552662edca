//! Opens files below a directory, and nowhere else.
//!
//! No link on the path is followed (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` on Linux, step by step
//! on other systems). Where a link is on the path, it is resolved first, its target has to be below the directory, and
//! the target is opened in the same way: a link created meanwhile is not followed.

use super::tree::Unreadable;
use crate::prelude::*;
use std::fs::{self, File};
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;

#[cfg(target_os = "linux")]
use camino::Utf8Component;

/// A directory that files are opened below.
#[derive(Debug, Clone)]
pub(super) struct RootedDirectory {
    /// Without links.
    real: Utf8PathBuf,
    #[cfg(unix)]
    handle: Arc<OwnedFd>,
}

impl RootedDirectory {
    /// The directory at a path without links.
    pub(super) fn new(real: &Utf8Path) -> io::Result<Self> {
        Ok(Self {
            real: real.to_owned(),
            #[cfg(unix)]
            handle: Arc::new(unix::directory(real)?),
        })
    }

    /// Opens a file for reading. Doesn't wait for a pipe; the caller checks the type.
    pub(super) fn open(&self, path: &Utf8Path) -> Result<File, Unreadable> {
        outside_git(path)?;
        match self.without_links(path) {
            Err(Failed::Link) => match self.without_links(&self.resolve(path)?) {
                Ok(file) => Ok(file),
                Err(Failed::Link) => Err(Unreadable::BrokenLink),
                Err(Failed::Other(error)) => Err(error.into()),
            },
            Err(Failed::Other(error)) => Err(error.into()),
            Ok(file) => Ok(file),
        }
    }

    /// The path from the directory that a path leads to, links followed.
    pub(super) fn resolve(&self, path: &Utf8Path) -> Result<Utf8PathBuf, Unreadable> {
        // One call of the system instead of one for each directory above, for almost every path.
        #[cfg(target_os = "linux")]
        if path.components().all(|part| matches!(part, Utf8Component::Normal(_))) && unix::is_real(&*self.handle, path)
        {
            outside_git(path)?;
            return Ok(path.components().collect());
        }
        let real = fs::canonicalize(self.real.join(path)).map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => Unreadable::Denied,
            _ => Unreadable::BrokenLink,
        })?;
        let below = real.strip_prefix(&self.real);
        let below = below.map_err(|_| Unreadable::LeavesRoot)?;
        let below = Utf8PathBuf::from_path_buf(below.to_owned()).map_err(|_| Unreadable::Name)?;
        outside_git(&below)?;
        Ok(below)
    }

    #[cfg(unix)]
    fn without_links(&self, path: &Utf8Path) -> Result<File, Failed> {
        unix::open(&*self.handle, path)
    }

    #[cfg(not(unix))]
    fn without_links(&self, path: &Utf8Path) -> Result<File, Failed> {
        let full = self.real.join(path);
        match fs::canonicalize(&full) {
            Ok(real) if real == full.as_std_path() => File::open(real).map_err(Failed::Other),
            Ok(_) => match self.resolve(path) {
                Ok(real) => File::open(self.real.join(real)).map_err(Failed::Other),
                Err(_) => Err(Failed::Link),
            },
            Err(error) => Err(Failed::Other(error)),
        }
    }
}

/// Rejects what is below a `.git`, however a file system spells it.
pub(super) fn outside_git(path: &Utf8Path) -> Result<(), Unreadable> {
    let is_inside = path.components().any(|part| part.as_str().eq_ignore_ascii_case(".git"));
    if is_inside { Err(Unreadable::InGit) } else { Ok(()) }
}

/// Why a path could not be opened without following a link.
#[derive(Debug)]
enum Failed {
    /// A link is on its way.
    Link,
    /// Anything else.
    Other(io::Error),
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};

    use camino::{Utf8Component, Utf8Path};
    use rustix::fs::{CWD, Mode, OFlags, openat};
    #[cfg(target_os = "linux")]
    use rustix::fs::{ResolveFlags, openat2};
    use rustix::io::Errno;

    use super::Failed;

    const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

    #[cfg(target_os = "linux")]
    const WITHOUT_LINKS: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

    pub(super) fn directory(path: &Utf8Path) -> io::Result<OwnedFd> {
        Ok(openat(CWD, path.as_str(), DIRECTORY, Mode::empty())?)
    }

    pub(super) fn open(root: impl AsFd, path: &Utf8Path) -> Result<File, Failed> {
        #[cfg(target_os = "linux")]
        {
            let path = if path.as_str().is_empty() { "." } else { path.as_str() };
            match openat2(&root, path, FILE, Mode::empty(), WITHOUT_LINKS) {
                Ok(file) => return Ok(file.into()),
                // A kernel before 5.6, or a sandbox that doesn't know the call.
                Err(Errno::NOSYS | Errno::PERM) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        step_by_step(root, path)
    }

    /// Whether something is at a path, and no link is on it or at its end.
    #[cfg(target_os = "linux")]
    pub(super) fn is_real(root: impl AsFd, path: &Utf8Path) -> bool {
        openat2(root, path.as_str(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), WITHOUT_LINKS).is_ok()
    }

    /// Opens one directory after the other, none of them by a link.
    pub(super) fn step_by_step(root: impl AsFd, path: &Utf8Path) -> Result<File, Failed> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Utf8Component::Normal(name) => names.push(name),
                Utf8Component::CurDir => {}
                _ => return Err(failed(Errno::XDEV)),
            }
        }
        let last = names.pop().unwrap_or(".");
        let mut inner: Option<OwnedFd> = None;
        for name in names {
            let at = inner.as_ref().map_or(root.as_fd(), AsFd::as_fd);
            let opened = openat(at, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
            inner = Some(opened.map_err(|error| linked(at, name, error))?);
        }
        let at = inner.as_ref().map_or(root.as_fd(), AsFd::as_fd);
        let file = openat(at, last, FILE | OFlags::NOFOLLOW, Mode::empty());
        file.map(Into::into).map_err(|error| linked(at, last, error))
    }

    /// Systems say different things of a link that is not to be followed.
    fn linked(at: impl AsFd, name: &str, error: Errno) -> Failed {
        use rustix::fs::{AtFlags, FileType, statat};
        let is_link = statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Symlink);
        if is_link { Failed::Link } else { failed(error) }
    }

    fn failed(error: Errno) -> Failed {
        match error {
            Errno::LOOP => Failed::Link,
            other => Failed::Other(other.into()),
        }
    }
}

#[cfg(test)]
mod tests;
