//! Reads the output tree on disk, and checks that hcoplan wrote all of it.

use std::fs;
use std::io;

use hcoplan_diagnostics::source::{open_file, read_sized};

use super::Error;
use super::HEADER;
use super::kustomization::KUSTOMIZATION;
use super::manifest::{CLUSTER_MANIFEST, Manifest, TOP_MANIFEST};
use crate::prelude::*;

/// An output tree on disk.
#[derive(Debug, Clone)]
pub struct DiskTree {
    root: Utf8PathBuf,
    /// The names of the objects' files, sorted, by the cluster's directory.
    directories: BTreeMap<Utf8PathBuf, Vec<String>>,
    /// The first file with conflict markers.
    conflict: Option<Utf8PathBuf>,
}

/// Whether a text is a rendered object: its first line is the header.
pub fn is_own(text: &str) -> bool {
    text.lines().next() == Some(HEADER.trim_end())
}

/// Whether a text has git's conflict markers.
pub fn has_conflict(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("<<<<<<< "))
}

impl DiskTree {
    /// Reads the tree and checks that hcoplan wrote every file; `None` if there is no tree. Changes nothing.
    ///
    /// # Errors
    /// An unreadable file, or the first file that hcoplan didn't write.
    pub fn open(root: &Utf8Path) -> Result<Option<Self>, Error> {
        let metadata = match fs::symlink_metadata(root) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(root, error)),
        };
        let what = match metadata.file_type() {
            kind if kind.is_symlink() => "a symbolic link",
            kind if kind.is_file() => "a file",
            _ => "a special file",
        };
        if !metadata.is_dir() {
            return Err(Error::NotADirectory(root.to_owned(), what));
        }
        let mut tree = Self { root: root.to_owned(), directories: BTreeMap::new(), conflict: None };
        let top = root.join(TOP_MANIFEST);
        let text = read(&top)?;
        if let Some(text) = &text {
            if has_conflict(text) {
                // It is rewritten.
                tree.conflict = Some(top);
            } else {
                Manifest::from_text(text).map_err(|m| broken(&top, m))?;
            }
        }
        tree.check(Utf8Path::new(""), text.is_some())?;
        Ok(Some(tree))
    }

    fn check(&mut self, directory: &Utf8Path, has_manifest: bool) -> Result<(), Error> {
        let path = match directory.as_str() {
            "" => self.root.clone(),
            _ => self.root.join(directory),
        };
        let foreign = |name: &str| Error::Foreign(path.join(name));
        let (mut files, mut below) = (Vec::new(), Vec::new());
        let failed = |error| Error::io(&path, error);
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { return Err(foreign(&name.to_string_lossy())) };
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => below.push(name.to_owned()),
                (_, true) => files.push(name.to_owned()),
                _ => return Err(foreign(name)),
            }
        }
        files.sort();
        below.sort();
        let manifest =
            if has_manifest && files.iter().any(|f| f == CLUSTER_MANIFEST) { self.manifest(directory)? } else { None };
        let mut objects = Vec::new();
        for file in files {
            let is_ours = match file.as_str() {
                TOP_MANIFEST => has_manifest && directory.as_str().is_empty(),
                CLUSTER_MANIFEST => manifest.is_some(),
                KUSTOMIZATION => manifest.as_ref().is_some_and(|m| m.kustomization),
                _ if manifest.is_some() && self.read_object(&path.join(&file))? => {
                    objects.push(file.clone());
                    true
                }
                _ => false,
            };
            if !is_ours {
                return Err(foreign(&file));
            }
        }
        if manifest.is_some() {
            self.directories.insert(directory.to_owned(), objects);
        }
        below.iter().try_for_each(|name| self.check(&directory.join(name), has_manifest))
    }

    /// Whether a file is a rendered object; records its conflict markers.
    fn read_object(&mut self, path: &Utf8Path) -> Result<bool, Error> {
        let text = read(path)?.unwrap_or_default();
        if self.conflict.is_none() && has_conflict(&text) {
            self.conflict = Some(path.to_owned());
        }
        Ok(is_own(&text))
    }

    /// Rejects a tree with conflict markers.
    ///
    /// # Errors
    /// The first file with conflict markers.
    pub fn check_merged(&self) -> Result<(), Error> {
        self.conflict.clone().map_or(Ok(()), |path| Err(Error::Conflict(path)))
    }

    /// Its path.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The clusters' directories, relative to the tree, sorted; empty for the root cluster.
    pub fn directories(&self) -> impl Iterator<Item = &Utf8Path> {
        self.directories.keys().map(AsRef::as_ref)
    }

    /// A cluster's manifest; `None` where the directory has none.
    ///
    /// # Errors
    /// An unreadable or invalid manifest.
    pub fn manifest(&self, directory: &Utf8Path) -> Result<Option<Manifest>, Error> {
        let path = self.root.join(directory).join(CLUSTER_MANIFEST);
        let Some(text) = read(&path)? else {
            return Ok(None);
        };
        if has_conflict(&text) {
            // The result of the merge is unknown, but hcoplan wrote all files of both sides.
            return Ok(Some(Manifest { kustomization: true, ..Manifest::new("") }));
        }
        let manifest = Manifest::of_cluster(&text).map_err(|m| broken(&path, m))?;
        Ok(Some(manifest))
    }

    /// Whether any cluster's directory is a kustomization.
    pub fn has_kustomization(&self) -> bool {
        self.directories().any(|d| matches!(self.manifest(d), Ok(Some(manifest)) if manifest.kustomization))
    }

    /// The names of the objects' files in a cluster's directory, sorted.
    pub fn names(&self, directory: &Utf8Path) -> &[String] {
        self.directories.get(directory).map_or(&[], Vec::as_slice)
    }

    /// The text of a file of the tree; `None` if it doesn't exist.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn text(&self, directory: &Utf8Path, file: &str) -> Result<Option<String>, Error> {
        read(&self.root.join(directory).join(file))
    }
}

fn broken(path: &Utf8Path, message: String) -> Error {
    Error::Manifest(path.to_owned(), message)
}

/// A file's text, with invalid UTF-8 replaced: it is only shown as different.
fn read(path: &Utf8Path) -> Result<Option<String>, Error> {
    let (mut file, size) = match open_file(path) {
        Ok(opened) => opened,
        Err(Unreadable::Missing) => return Ok(None),
        // hcoplan only writes regular files.
        Err(Unreadable::NotAFile(_) | Unreadable::Directory) => {
            return Err(Error::Foreign(path.to_owned()));
        }
        Err(why) => return Err(Error::io(path, io::Error::other(why))),
    };
    let bytes = if size > max_bytes() {
        Err(io::Error::other(Unreadable::TooBig(max_bytes())))
    } else {
        read_sized(&mut file, size)
    };
    let bytes = bytes.map_err(|e| Error::io(path, e))?;
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_that_git_left_open_is_a_conflict() {
        let merged = "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> topic\n";
        assert!(has_conflict(merged));
        assert!(!has_conflict("a: 1\n>>>>>>> quoted in a mail\n"));
    }
}
