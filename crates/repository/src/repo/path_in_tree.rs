//! Resolves paths of the command line in the tree: a change may have replaced them by links.

use camino::absolute_utf8;

use super::error::Error;
use super::paths::shown_path;
use crate::prelude::*;

/// Rejects a path of the command line that leaves its git work tree through links.
///
/// # Errors
/// A link on the path leads elsewhere.
pub fn check_links(path: &Utf8Path) -> Result<(), Error> {
    let full = absolute_utf8(path).ok();
    // A directory that `..` leaves isn't on the path.
    let full = full.map(|full| without_parents(&full));
    let Some((full, real)) = full.and_then(|full| Some((full.clone(), full.canonicalize_utf8().ok()?))) else {
        return Ok(());
    };
    let mut tops = full.ancestors().skip(1).filter(|directory| directory.join(".git").exists());
    if tops.any(|top| top.canonicalize_utf8().is_ok_and(|top| !real.starts_with(top))) {
        return Err(Error::File(path.to_owned(), Unreadable::LeavesRoot));
    }
    Ok(())
}

/// An absolute path without `..`, by its text.
fn without_parents(path: &Utf8Path) -> Utf8PathBuf {
    let mut out = Utf8PathBuf::new();
    for part in path.components() {
        if part == camino::Utf8Component::ParentDir {
            out.pop();
        } else {
            out.push(part);
        }
    }
    out
}

/// A path in a tree, by its own name or after links.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathInTree {
    /// The tree's root, without links.
    pub(super) top: Utf8PathBuf,
    /// The path from there, with links.
    pub(super) path: Utf8PathBuf,
    /// Whether its own name is in the tree.
    pub(super) by_name: bool,
}

impl PathInTree {
    /// Resolves a path relative to the current directory; the tree is the git work tree around a directory, else the
    /// directory itself. `None` if the path is elsewhere.
    pub(super) fn of(directory: &Utf8Path, path: &Utf8Path) -> Option<Self> {
        let real = Utf8Path::new(shown_path(directory)).canonicalize_utf8().ok()?;
        let top = real.ancestors().find(|d| d.join(".git").exists()).unwrap_or(&real).to_owned();
        let full = absolute_utf8(path).ok()?;
        // By its name, as links may lead to the tree.
        let is_top = |d: &&Utf8Path| d.canonicalize_utf8().is_ok_and(|real| real == top);
        let named = full.ancestors().skip(1).find(is_top).and_then(|d| full.strip_prefix(d).ok());
        if let Some(path) = named {
            return Some(Self { path: path.to_owned(), top, by_name: true });
        }
        let real = full.canonicalize_utf8().ok()?;
        let path = real.strip_prefix(&top).ok()?.to_owned();
        Some(Self { path, top, by_name: false })
    }
}
