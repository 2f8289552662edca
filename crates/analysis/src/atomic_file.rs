//! Writes a file completely or not at all, even after a kill, a full disk or Ctrl-C.

use crate::prelude::*;
use hcoplan_diagnostics::source::{reject_git, reject_links};
use std::fs::{self, File};
use std::io::{self, Write as _};
use tempfile::NamedTempFile;

/// Writes a file, replacing an existing one. Devices and pipes are written to directly.
pub fn replace(path: &Utf8Path, text: &[u8]) -> io::Result<()> {
    let mut file = PartialFile::begin(path)?;
    file.write(text)?;
    file.finish()
}

/// A file that is written in parts and appears at its path when finished.
#[derive(Debug)]
pub struct PartialFile {
    path: Utf8PathBuf,
    to: WriteTarget,
}

#[derive(Debug)]
enum WriteTarget {
    /// Replaces the file at the end.
    Beside(NamedTempFile),
    /// A device or a pipe.
    Itself(File),
}

impl PartialFile {
    /// Creates a temporary file in the same directory.
    ///
    /// # Errors
    /// If it can't be created.
    pub fn begin(path: &Utf8Path) -> io::Result<Self> {
        let to = if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            reject_links(path)?;
            WriteTarget::Itself(File::options().write(true).open(path)?)
        } else {
            WriteTarget::Beside(beside(path)?)
        };
        let path = path.to_owned();
        Ok(Self { path, to })
    }

    /// Its path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Writes a part.
    ///
    /// # Errors
    /// An I/O error.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match &mut self.to {
            WriteTarget::Beside(file) => file.write_all(text),
            WriteTarget::Itself(file) => file.write_all(text),
        }
    }

    /// Moves the file to its path.
    ///
    /// # Errors
    /// An I/O error; the existing file is unchanged then.
    pub fn finish(self) -> io::Result<()> {
        if let WriteTarget::Beside(file) = self.to {
            file.persist(self.path)?;
        }
        Ok(())
    }
}

/// Writes a new file; never overwrites one created in the meantime.
pub fn create(path: &Utf8Path, text: &[u8]) -> io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(text)?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// A temporary file in the same directory, removed when dropped.
fn beside(path: &Utf8Path) -> io::Result<NamedTempFile> {
    // Temporary files have to be removed after an interrupt.
    crate::watch();
    let parent = match path.parent() {
        Some(parent) if !parent.as_str().is_empty() => parent,
        _ => ".".into(),
    };
    reject_git(path).and_then(|()| reject_links(parent))?;
    fs::create_dir_all(parent)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hcoplan-");
    #[cfg(unix)]
    {
        // The permissions of any new file, by the umask.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_file_whole_or_not_at_all() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let path = root.join("deep/a.txt");
        create(&path, b"one").expect("created");
        assert!(create(&path, b"two").is_err());
        assert_eq!(fs::read(&path).expect("readable"), b"one");
        replace(&path, b"three").expect("replaced");
        assert_eq!(fs::read(&path).expect("readable"), b"three");
        assert!(replace(&root.join("deep"), b"four").is_err());
        let left = fs::read_dir(root.join("deep")).expect("a directory");
        assert_eq!(left.count(), 1, "nothing is left beside it");
    }
}
