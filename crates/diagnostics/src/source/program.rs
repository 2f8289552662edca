//! Programs that hcoplan runs: found on the PATH, never in the directory that is looked at.

use std::env;
use std::path::{Path, PathBuf};

/// A program on the PATH. Entries that are relative are passed over: what they name depends on the
/// directory that hcoplan is run in, which may be a stranger's.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let directories = env::split_paths(&path).filter(|d| d.is_absolute());
    let mut found = directories.map(|d| d.join(&file)).filter(|p| is_program(p));
    found.next()
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
