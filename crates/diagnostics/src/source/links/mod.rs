//! Symbolic links on the path of an output, which a change may have added.

use crate::prelude::*;
use std::env::current_dir;
use std::io;
use std::path::absolute;

/// The first link on a path, the path itself included, below the tree that it is in: the outermost git work tree
/// around it, else the current directory. Links above are those of whoever owns the machine.
///
/// # Errors
/// A path that isn't UTF-8, or a current directory that isn't there.
fn first_link(path: &Utf8Path) -> io::Result<Option<Utf8PathBuf>> {
    let full = Utf8PathBuf::from_path_buf(absolute(path)?).map_err(|_| io::ErrorKind::InvalidFilename)?;
    let here = current_dir()?;
    let ways: Vec<&Utf8Path> = full.ancestors().collect();
    let Some(top) = ways.iter().skip(1).rposition(|d| d.as_std_path() == here || d.join(".git").exists()) else {
        return Ok(None);
    };
    let below = ways.iter().take(top + 1).rev();
    let is_link = |d: &&&Utf8Path| d.symlink_metadata().is_ok_and(|m| m.is_symlink());
    Ok(below.copied().find(|d| is_link(&d)).map(ToOwned::to_owned))
}

/// Rejects a `.git`, which leads to a work tree's repository, and a path below one, from which git runs programs.
///
/// # Errors
/// It is one.
pub fn reject_git(path: &Utf8Path) -> io::Result<()> {
    if path.components().any(|part| part.as_str().eq_ignore_ascii_case(".git")) {
        return Err(io::Error::other(format!("{path} is `.git` or below it, where nothing is written")));
    }
    Ok(())
}

/// Rejects a path with a link on it, see [`first_link`], and what [`reject_git`] does.
///
/// # Errors
/// Which link.
pub fn reject_links(path: &Utf8Path) -> io::Result<()> {
    reject_git(path)?;
    match first_link(path)? {
        Some(link) => Err(io::Error::other(format!("{link} is a link, which is not followed to write: remove it"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
