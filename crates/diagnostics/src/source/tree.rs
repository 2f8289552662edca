//! Where files come from: a directory, a git revision, or memory.

use crate::prelude::*;
use std::cmp::Ordering;

use super::{Bytes, SourceFile};

/// A set of files below one root. Paths are relative to it, with `/` as separator.
pub trait Tree: Send + Sync {
    /// The tree that answers what this one doesn't itself.
    fn inner(&self) -> Option<&dyn Tree> {
        None
    }

    /// Every file below the root that `walk` doesn't leave out.
    ///
    /// # Errors
    /// When the root itself can't be read.
    fn list(&self, walk: &Walk) -> Result<Listing, Error>;

    /// The bytes of a file, as they are stored.
    ///
    /// # Errors
    /// Why there are none; see [`Unreadable`].
    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable>;

    /// A file as text; one that was built knows the origins of its parts.
    ///
    /// # Errors
    /// Why it can't be read.
    fn source(&self, path: &Utf8Path) -> Result<Arc<SourceFile>, Unreadable> {
        Ok(SourceFile::from_bytes(path, self.read(path)?))
    }

    /// Whether one of the words is in a file that is too large to be read, as far as the file is
    /// searched.
    fn mentions(&self, path: &Utf8Path, words: &[&str]) -> bool {
        self.inner().is_some_and(|tree| tree.mentions(path, words))
    }

    /// Whether a file that is in no listing (it may be ignored by git) can be read and is below
    /// the root, links followed.
    ///
    /// # Errors
    /// Why it can't.
    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable>;

    /// The path from the root that a path leads to, links on its way and at its end followed; the path itself
    /// where it leads nowhere below the root.
    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.inner().map_or_else(|| path.to_owned(), |tree| tree.real(path))
    }

    /// A name of a file's content that is the same for the same bytes in another tree of this
    /// kind, where that is known without reading them.
    fn digest(&self, path: &Utf8Path) -> Option<String> {
        self.inner()?.digest(path)
    }

    /// The directory that is the root; `None` if there is none, as in memory.
    fn root_directory(&self) -> Option<Utf8PathBuf> {
        self.inner()?.root_directory()
    }
}

impl<P: std::ops::Deref<Target: Tree> + Send + Sync> Tree for P {
    fn list(&self, walk: &Walk) -> Result<Listing, Error> {
        (**self).list(walk)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        (**self).read(path)
    }

    fn source(&self, path: &Utf8Path) -> Result<Arc<SourceFile>, Unreadable> {
        (**self).source(path)
    }

    fn mentions(&self, path: &Utf8Path, words: &[&str]) -> bool {
        (**self).mentions(path, words)
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        (**self).check(path)
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        (**self).real(path)
    }

    fn digest(&self, path: &Utf8Path) -> Option<String> {
        (**self).digest(path)
    }

    fn root_directory(&self) -> Option<Utf8PathBuf> {
        (**self).root_directory()
    }
}

/// Which files of a tree are listed.
#[derive(Debug, Clone, Default)]
pub struct Walk {
    /// Patterns in the syntax of `.gitignore`, relative to the root; what matches is left out.
    pub ignore: Vec<String>,
    /// How many directories deep; 1 = the files of the root itself. `None` = everything.
    pub depth: Option<usize>,
    /// Whether files that `.gitignore` names are listed, too: a checkout has only what git tracks,
    /// and git tracks what was added before it was ignored.
    pub checkout: bool,
}

impl Walk {
    /// The patterns, compiled.
    ///
    /// # Errors
    /// The first invalid pattern, with the reason.
    pub fn matcher(&self) -> Result<ignore::gitignore::Gitignore, Error> {
        let mut builder = ignore::gitignore::GitignoreBuilder::new("");
        for pattern in &self.ignore {
            builder.add_line(None, pattern).map_err(|e| Error::Pattern(pattern.clone(), e.to_string()))?;
        }
        builder.build().map_err(|e| Error::Pattern(self.ignore.join(", "), e.to_string()))
    }
}

/// The files of a tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files that can be read, sorted.
    pub files: Vec<Utf8PathBuf>,
    /// What was left out, sorted. Files that git ignores are not even mentioned.
    pub skipped: Vec<SkippedPath>,
}

impl Listing {
    /// Sorts both lists by path.
    pub(super) fn sort(&mut self) {
        self.files.sort_unstable_by(|a, b| in_order(a, b));
        self.skipped.sort_by(|a, b| in_order(&a.path, &b.path));
    }
}

/// Compares paths in the order of [`Utf8Path`], but without splitting them, which takes five times as
/// long.
pub fn in_order(a: &Utf8Path, b: &Utf8Path) -> Ordering {
    let key = |byte| if byte == b'/' { 0 } else { byte };
    let (a, b) = (a.as_str().bytes(), b.as_str().bytes());
    a.map(key).cmp(b.map(key))
}

/// A file or directory that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedPath {
    /// Its path, relative to the root; `�` where the name isn't UTF-8.
    pub path: Utf8PathBuf,
    /// Why.
    pub why: SkipReason,
}

/// Why something was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// The configuration says so.
    #[error("ignored by the configuration")]
    Ignored,
    /// A link to a directory: what is in it would be found twice, or without end.
    #[error("a link to a directory is not followed")]
    LinkedDirectory,
    /// Another repository (a git submodule).
    #[error("a submodule, not part of this revision")]
    Submodule,
    /// It can't be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// Why a file can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing is there.
    #[error("no such file")]
    Missing,
    /// The link's target is not there, or the links go in a circle.
    #[error("the target of the link doesn't exist")]
    BrokenLink,
    /// The link, or the path, points outside the root.
    #[error("it is outside the directory that hcoplan reads")]
    LeavesRoot,
    /// Below a `.git`, whose files may hold a token.
    #[error("it is below .git, of which hcoplan reads nothing")]
    InGit,
    /// git doesn't track it, and only what git tracks is read.
    #[error("git doesn't track it: with --trust-base, and in the builds of CI, only files that git tracks are read")]
    Untracked,
    /// git stores it in another encoding than a checkout has it.
    #[error("git stores it in another encoding than a checkout (working-tree-encoding in .gitattributes)")]
    Reencoded,
    /// A directory.
    #[error("it is a directory")]
    Directory,
    /// The root: anything else.
    #[error("it is not a directory")]
    NotADirectory,
    /// A socket, pipe or device.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// No permission.
    #[error("permission denied")]
    Denied,
    /// Another program has locked it: a lease, or on Windows an exclusive lock.
    #[error("another program has locked it")]
    Locked,
    /// Bigger than the limit.
    #[error("it is larger than {}, the limit", Bytes(*.0 as u64))]
    TooBig(usize),
    /// The repository is a partial clone, and this content was not cloned.
    #[error(
        "the clone is partial and lacks its content, and hcoplan fetches nothing: run \
         `git fetch --refetch --no-filter` (in a workflow, check out without a filter)"
    )]
    NotFetched,
    /// The name is not UTF-8.
    #[error("its name is not UTF-8")]
    Name,
    /// Anything else that the system says.
    #[error("{0}")]
    Io(String),
}

impl From<std::io::Error> for Unreadable {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing,
            ErrorKind::PermissionDenied => Self::Denied,
            ErrorKind::IsADirectory => Self::Directory,
            // Files are opened without waiting.
            ErrorKind::WouldBlock => Self::Locked,
            // As `openat2` calls a path that leaves the directory.
            ErrorKind::CrossesDevices => Self::LeavesRoot,
            _ if cfg!(windows) && matches!(error.raw_os_error(), Some(32 | 33)) => Self::Locked,
            _ => Self::Io(error.to_string()),
        }
    }
}

/// A tree that can't be listed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root.
    #[error("{0}: {1}")]
    Root(Utf8PathBuf, Unreadable),
    /// An invalid ignore pattern.
    #[error("`{0}` is not a valid pattern: {1}")]
    Pattern(String, String),
    /// git isn't installed, or can't be run.
    #[error("git can't be run: {0}")]
    NoGit(String),
    /// git failed.
    #[error("git: {0}")]
    Git(String),
}

/// A path without `.` and `..`; `None` when it is absolute or leaves the root.
pub fn normalize_path(path: &Utf8Path) -> Option<Utf8PathBuf> {
    use camino::Utf8Component;
    let mut out = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::Normal(name) => out.push(name),
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Utf8Component::RootDir | Utf8Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        let cases = [
            ("a/./b/../c", Some("a/c")),
            ("./a", Some("a")),
            ("a/..", Some("")),
            ("../a", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
        ];
        for (path, expected) in cases {
            let found = normalize_path(Utf8Path::new(path));
            assert_eq!(found.as_deref().map(Utf8Path::as_str), expected, "{path}");
        }
    }

    #[test]
    fn orders_paths_by_their_parts() {
        let paths = ["", "a", "a-b", "a-b/c", "a.b", "a/b", "a/b-c", "a/b/c", "a0", "b", "ä/b"];
        for a in paths.map(Utf8Path::new) {
            for b in paths.map(Utf8Path::new) {
                assert_eq!(in_order(a, b), a.cmp(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn reports_an_invalid_pattern() {
        let walk = Walk { ignore: vec!["[z-a]".to_owned()], ..Walk::default() };
        let message = walk.matcher().map(|_| ()).map_err(|e| e.to_string());
        assert!(message.clone().is_err_and(|m| m.starts_with("`[z-a]` is not a valid pattern: ")), "{message:?}");
    }
}
