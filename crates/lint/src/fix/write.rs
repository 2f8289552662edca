//! Files written back: all as a whole or none, and never outside of the root.

use crate::prelude::*;
use std::fs;
use std::io::{self, Write};

use hcoplan_diagnostics::source::{encode, normalize_path};
use tempfile::NamedTempFile;

/// A file that stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It isn't below the root, links followed.
    #[error("it is outside the directory that is fixed")]
    Outside,
    /// It isn't what it was when it was read.
    #[error("it has changed since it was read")]
    Changed,
    /// What the system says.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A file to write back: what it was read as, and its new text.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// What it was read as.
    pub before: &'a SourceFile,
    /// The new text.
    pub text: &'a str,
}

/// Writes files below `root`, all of them or none: each is written beside the old one first. A file has the encoding
/// and the permissions that it had; a link is followed and stays one.
///
/// # Errors
/// The first file that can't be written, and why; all files stay as they were.
pub fn write_all<'a>(
    root: &Utf8Path,
    files: impl IntoIterator<Item = Replacement<'a>>,
) -> Result<usize, (&'a SourceFile, WriteError)> {
    let mut pending = Vec::new();
    for file in files {
        pending.push((file, beside(root, file).map_err(|error| (file.before, error))?));
    }
    let mut written: Vec<(Replacement<'_>, Utf8PathBuf)> = Vec::new();
    for (file, (temporary, path)) in pending {
        if let Err(error) = temporary.persist(&path) {
            for (earlier, path) in written {
                // Best effort: the first error is the one to report.
                let _ = fs::write(path, encode(earlier.before.text(), earlier.before.encoding()));
            }
            return Err((file.before, error.error.into()));
        }
        written.push((file, path));
    }
    Ok(written.len())
}

/// The new file beside the old one, and the old one's path.
fn beside(
    root: &Utf8Path,
    Replacement { before, text }: Replacement<'_>,
) -> Result<(NamedTempFile, Utf8PathBuf), WriteError> {
    let path = normalize_path(before.path()).ok_or(WriteError::Outside)?;
    let root = root.canonicalize_utf8()?;
    let path = root.join(path).canonicalize_utf8()?;
    let parent = path.parent().filter(|_| path.starts_with(&root));
    let parent = parent.ok_or(WriteError::Outside)?;
    // Also where bytes weren't text: they would not come back as they were.
    if fs::read(&path)? != encode(before.text(), before.encoding()) {
        return Err(WriteError::Changed);
    }
    let permissions = fs::metadata(&path)?.permissions();
    let mut file = tempfile::Builder::new().prefix(".hcoplan-").tempfile_in(parent)?;
    file.write_all(&encode(text, before.encoding()))?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    Ok((file, path))
}
