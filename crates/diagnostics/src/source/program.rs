//! Programs that hcoplan runs: found on the PATH, never in the repository.

use std::env;
use std::path::{Path, PathBuf};

/// A program on the PATH. Skips relative entries: they depend on the current directory, which may be
/// an untrusted repository.
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
