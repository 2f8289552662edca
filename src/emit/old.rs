//! The tree on disk as it is now: what is in it, and that all of it is ours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::Error;
use super::kustomization::KUSTOMIZATION;
use super::manifest::{CLUSTER_MANIFEST, ClusterManifest, TOP_MANIFEST, TopManifest};
use crate::source::{Unreadable, max_bytes, open_file, read_sized};

/// The texts of a cluster's directory by file name, our manifests left out.
pub type Files = BTreeMap<String, String>;

/// An output tree on disk.
#[derive(Debug, Clone)]
pub struct DiskTree {
    root: Utf8PathBuf,
    directories: BTreeSet<Utf8PathBuf>,
}

impl DiskTree {
    /// Looks at the tree and checks that every file in it is in a manifest; `None` where there
    /// is no tree. Nothing is changed.
    ///
    /// # Errors
    /// What can't be read, and the first thing in the tree that isn't ours.
    pub fn open(root: &Utf8Path) -> Result<Option<Self>, Error> {
        let metadata = match fs::symlink_metadata(root) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(root, error)),
        };
        let what = match metadata.file_type() {
            kind if kind.is_dir() => None,
            kind if kind.is_symlink() => Some("a symbolic link"),
            kind if kind.is_file() => Some("a file"),
            _ => Some("a special file"),
        };
        if let Some(what) = what {
            let path = root.to_owned();
            return Err(Error::NotADirectory { path, what });
        }
        let mut tree = Self {
            root: root.to_owned(),
            directories: BTreeSet::new(),
        };
        let top = root.join(TOP_MANIFEST);
        let ours = match read(&top)? {
            Some(text) => {
                TopManifest::from_text(&text).map_err(|m| broken(&top, m))?;
                true
            }
            None => false,
        };
        tree.check(Utf8Path::new(""), ours)?;
        Ok(Some(tree))
    }

    /// Whether this directory is the top of a tree of ours.
    pub fn is_tree(directory: &Utf8Path) -> bool {
        directory.join(TOP_MANIFEST).is_file()
    }

    fn check(&mut self, directory: &Utf8Path, ours: bool) -> Result<(), Error> {
        let path = match directory.as_str() {
            "" => self.root.clone(),
            _ => self.root.join(directory),
        };
        let (mut files, mut below) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&path).map_err(|e| Error::io(&path, e))? {
            let entry = entry.map_err(|e| Error::io(&path, e))?;
            let kind = entry.file_type().map_err(|e| Error::io(&path, e))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let name = name.to_string_lossy().into_owned();
                let path = path.join(name);
                return Err(Error::Foreign { path });
            };
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => below.push(name.to_owned()),
                (_, true) => files.push(name.to_owned()),
                _ => {
                    let path = path.join(name);
                    return Err(Error::Foreign { path });
                }
            }
        }
        files.sort();
        below.sort();
        let manifest = match ours && files.iter().any(|f| f == CLUSTER_MANIFEST) {
            true => self.manifest(directory)?,
            false => None,
        };
        let listed = manifest.iter().flat_map(|m| &m.objects);
        let listed: BTreeSet<&str> = listed.map(|o| o.file.as_str()).collect();
        let is_ours = |file: &str| match file {
            TOP_MANIFEST => ours && directory.as_str().is_empty(),
            CLUSTER_MANIFEST => manifest.is_some(),
            KUSTOMIZATION => manifest.as_ref().is_some_and(|m| m.kustomization),
            _ => listed.contains(file),
        };
        if let Some(file) = files.iter().find(|f| !is_ours(f)) {
            let path = path.join(file);
            return Err(Error::Foreign { path });
        }
        if manifest.is_some() {
            self.directories.insert(directory.to_owned());
        }
        below
            .iter()
            .try_for_each(|name| self.check(&directory.join(name), ours))
    }

    /// Where it is.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The clusters' directories, relative to the tree, sorted; empty for the root's own.
    pub fn directories(&self) -> impl Iterator<Item = &Utf8Path> {
        self.directories.iter().map(AsRef::as_ref)
    }

    /// A cluster's manifest; `None` where the directory has none.
    ///
    /// # Errors
    /// A manifest that can't be read or understood.
    pub fn manifest(&self, directory: &Utf8Path) -> Result<Option<ClusterManifest>, Error> {
        let path = self.root.join(directory).join(CLUSTER_MANIFEST);
        let Some(text) = read(&path)? else {
            return Ok(None);
        };
        let manifest = ClusterManifest::from_text(&text).map_err(|m| broken(&path, m))?;
        Ok(Some(manifest))
    }

    /// The text of a file of the tree; `None` where there is none.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn text(&self, directory: &Utf8Path, file: &str) -> Result<Option<String>, Error> {
        read(&self.root.join(directory).join(file))
    }

    /// The objects' files of a cluster's directory.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn files(&self, directory: &Utf8Path) -> Result<Files, Error> {
        let manifest = self.manifest(directory)?;
        let mut out = Files::new();
        for object in manifest.into_iter().flat_map(|m| m.objects) {
            if let Some(text) = self.text(directory, &object.file)? {
                out.insert(object.file, text);
            }
        }
        Ok(out)
    }
}

fn broken(path: &Utf8Path, message: String) -> Error {
    Error::Manifest {
        path: path.to_owned(),
        message,
    }
}

/// A file's text, what isn't UTF-8 replaced: it can only be shown as different.
fn read(path: &Utf8Path) -> Result<Option<String>, Error> {
    let (mut file, size) = match open_file(path) {
        Ok(opened) => opened,
        Err(Unreadable::Missing) => return Ok(None),
        // Not ours: hcoplan writes files.
        Err(Unreadable::NotAFile(_) | Unreadable::Directory) => {
            let path = path.to_owned();
            return Err(Error::Foreign { path });
        }
        Err(why) => return Err(Error::io(path, io::Error::other(why))),
    };
    let bytes = match size > max_bytes() {
        true => Err(io::Error::other(Unreadable::TooBig(max_bytes()))),
        false => read_sized(&mut file, size),
    };
    let bytes = bytes.map_err(|e| Error::io(path, e))?;
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }))
}
