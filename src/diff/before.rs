//! The left side of the diff.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::Error;
use crate::emit::{self, CLUSTER_MANIFEST, ClusterManifest, DiskTree, Listed, TOP_MANIFEST};
use crate::source::{self, Revision, Tree as _};

/// An output tree as it was.
#[derive(Debug)]
pub enum Before {
    /// There is none.
    Nothing,
    /// On disk.
    Disk(DiskTree),
    /// As git has committed it.
    Committed {
        /// The commit, seen from a directory that holds the tree.
        revision: Revision,
        /// The tree below that directory.
        below: Utf8PathBuf,
    },
}

impl Before {
    /// The tree that HEAD has at `out`, where git knows one; else the one on disk. The note says
    /// why git could not be asked although `out` lies in a repository.
    pub fn find(out: &Utf8Path, disk: Option<&DiskTree>) -> (Self, Option<String>) {
        let (committed, note) = match committed(out) {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let before = committed.unwrap_or_else(|| match disk {
            Some(tree) => Self::Disk(tree.clone()),
            None => Self::Nothing,
        });
        (before, note)
    }

    /// The clusters' directories, relative to the tree.
    ///
    /// # Errors
    /// A top manifest that can't be understood.
    pub fn directories(&self) -> Result<Vec<Utf8PathBuf>, Error> {
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::Disk(tree) => Ok(tree.directories().map(ToOwned::to_owned).collect()),
            Self::Committed { revision, below } => {
                let listing = revision.list(&source::Walk::default())?;
                let files = listing
                    .files
                    .iter()
                    .filter_map(|f| f.strip_prefix(below).ok());
                let manifests = files.filter(|f| f.file_name() == Some(CLUSTER_MANIFEST));
                Ok(manifests
                    .filter_map(Utf8Path::parent)
                    .map(ToOwned::to_owned)
                    .collect())
            }
        }
    }

    /// The objects of a cluster's directory by file; empty where there is no such directory.
    ///
    /// # Errors
    /// A manifest that can't be read or understood.
    pub fn listed(&self, directory: &Utf8Path) -> Result<BTreeMap<String, Listed>, Error> {
        let manifest = match self {
            Self::Nothing => None,
            Self::Disk(tree) => tree.manifest(directory)?,
            Self::Committed { .. } => match self.text(directory, CLUSTER_MANIFEST)? {
                None => None,
                Some(text) => {
                    let path = directory.join(CLUSTER_MANIFEST);
                    let broken = |message| emit::Error::Manifest { path, message };
                    Some(ClusterManifest::from_text(&text).map_err(broken)?)
                }
            },
        };
        let objects = manifest.into_iter().flat_map(|m| m.objects);
        Ok(objects.map(|o| (o.file.clone(), o)).collect())
    }

    /// A file's text; `None` where there is none.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn text(&self, directory: &Utf8Path, file: &str) -> Result<Option<String>, Error> {
        match self {
            Self::Nothing => Ok(None),
            Self::Disk(tree) => Ok(tree.text(directory, file)?),
            Self::Committed { revision, below } => {
                let path = below.join(directory).join(file);
                match revision.read(&path) {
                    Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
                    Err(source::Unreadable::Missing) => Ok(None),
                    Err(why) => Err(source::Error::Root(path, why).into()),
                }
            }
        }
    }

    /// Whether a file's text is this one. git's own names of contents are enough to know.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn has(&self, directory: &Utf8Path, file: &str, text: &str) -> Result<bool, Error> {
        if let Self::Committed { revision, below } = self {
            let path = below.join(directory).join(file);
            let Some(name) = revision.object_name(&path) else {
                return Ok(false);
            };
            return Ok(name == blob_name(text, name.len()));
        }
        Ok(self.text(directory, file)?.as_deref() == Some(text))
    }
}

/// The tree at `out` in HEAD of the repository around it; `None` where HEAD has none.
fn committed(out: &Utf8Path) -> Result<Option<Before>, Error> {
    let absolute = std::path::absolute(out).ok();
    let Some(out) = absolute.and_then(|p| Utf8PathBuf::from_path_buf(p).ok()) else {
        return Ok(None);
    };
    let Some(existing) = out.ancestors().find(|a| a.is_dir()) else {
        return Ok(None);
    };
    let Ok(directory) = existing.canonicalize_utf8() else {
        return Ok(None);
    };
    // Without a repository git is not even started.
    if !directory.ancestors().any(|a| a.join(".git").exists()) {
        return Ok(None);
    }
    let below = out.strip_prefix(existing).unwrap_or(&out).to_owned();
    let revision = match Revision::open(&directory, "HEAD", source::max_bytes()) {
        Ok(revision) => revision,
        // A repository without a commit.
        Err(source::Error::Git(message)) if message.contains("no revision") => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if revision.object_name(&below.join(TOP_MANIFEST)).is_none() {
        return Ok(None);
    }
    Ok(Some(Before::Committed { revision, below }))
}

/// git's name for a blob: SHA-1, or SHA-256 in a repository of that format.
fn blob_name(text: &str, length: usize) -> String {
    let head = format!("blob {}\0", text.len());
    let hexadecimal =
        |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
    match length {
        40 => hexadecimal(&Sha1::new().chain_update(head).chain_update(text).finalize()),
        _ => hexadecimal(
            &Sha256::new()
                .chain_update(head)
                .chain_update(text)
                .finalize(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_named_as_git_names_them() {
        assert_eq!(
            blob_name("", 40),
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        );
        assert_eq!(
            blob_name("hello\n", 40),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
        assert_eq!(
            blob_name("", 64),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
    }
}
