//! A file written back: as a whole or not at all, and never outside of the root.

use std::fs;
use std::io::{self, Write};

use camino::Utf8Path;
use hcoplan_diagnostics::source::{SourceFile, encode, normalize_path};

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

/// Writes `text` in the place of what `before` was read from, below `root`, in the encoding that
/// the file has. A link is followed and stays one; permissions stay.
///
/// # Errors
/// Why the file stays as it was.
pub fn write(root: &Utf8Path, before: &SourceFile, text: &str) -> Result<(), WriteError> {
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
    file.persist(&path).map_err(|e| e.error)?;
    Ok(())
}
