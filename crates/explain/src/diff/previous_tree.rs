//! The left side of the diff.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{self, Revision, SourceFile, Tree as _};
use hcoplan_kubernetes::Object;
use hcoplan_repository::emit::{self, CLUSTER_MANIFEST, DiskTree, KUSTOMIZATION, TOP_MANIFEST};
use hcoplan_yaml as yaml;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::Error;

/// An output tree as it was.
#[derive(Debug)]
pub enum PreviousTree {
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
        /// The names of the objects' files, sorted, by the cluster's directory.
        files: BTreeMap<Utf8PathBuf, Vec<String>>,
    },
}

impl PreviousTree {
    /// What it is called in a sentence; `path` is where it is.
    pub fn described(&self, path: &Utf8Path) -> String {
        match self {
            Self::Committed { .. } => format!("the tree committed in {path}"),
            Self::Disk(_) => format!("the tree in {path}"),
            Self::Nothing => "nothing".to_owned(),
        }
    }

    /// The tree that HEAD has at `out`, where git knows one; else the one on disk. The note says
    /// why git could not be asked although `out` lies in a repository.
    ///
    /// # Errors
    /// A tree on disk in which a merge left both sides.
    pub fn find(out: &Utf8Path, disk: Option<&DiskTree>) -> Result<(Self, Option<String>), Error> {
        if let Some(tree) = disk {
            tree.check_merged()?;
        }
        let (committed, note) = match committed(out) {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let before = committed.unwrap_or_else(|| match disk {
            Some(tree) => Self::Disk(tree.clone()),
            None => Self::Nothing,
        });
        Ok((before, note))
    }

    /// The clusters' directories, relative to the tree.
    pub fn directories(&self) -> Vec<Utf8PathBuf> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Disk(tree) => tree.directories().map(ToOwned::to_owned).collect(),
            Self::Committed { files, .. } => files.keys().cloned().collect(),
        }
    }

    /// The names of the objects' files of a cluster's directory, sorted.
    pub fn names(&self, directory: &Utf8Path) -> &[String] {
        match self {
            Self::Nothing => &[],
            Self::Disk(tree) => tree.names(directory),
            Self::Committed { files, .. } => files.get(directory).map_or(&[], Vec::as_slice),
        }
    }

    /// The object in a file; `None` where there is no such file.
    ///
    /// # Errors
    /// A file that can't be read, or holds no object.
    pub fn object(&self, directory: &Utf8Path, file: &str) -> Result<Option<Object>, Error> {
        let Some(text) = self.text(directory, file)? else {
            return Ok(None);
        };
        let path = directory.join(file);
        if emit::has_conflict(&text) {
            return Err(emit::Error::Conflict { path }.into());
        }
        let parsed = yaml::parse(&SourceFile::new(path.clone(), text));
        match parsed.documents.first() {
            Some(document) => Ok(Some(Object::new(document.root.to_json()))),
            None => Err(emit::Error::NoObject { path }.into()),
        }
    }

    /// A file's text; `None` where there is none.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn text(&self, directory: &Utf8Path, file: &str) -> Result<Option<String>, Error> {
        match self {
            Self::Nothing => Ok(None),
            Self::Disk(tree) => Ok(tree.text(directory, file)?),
            Self::Committed { revision, below, .. } => {
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
        if let Self::Committed { revision, below, .. } = self {
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
fn committed(out: &Utf8Path) -> Result<Option<PreviousTree>, Error> {
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
    let listing = revision.list(&source::Walk::default())?;
    let mut files = BTreeMap::<Utf8PathBuf, Vec<String>>::new();
    let all = || listing.files.iter().filter_map(|f| f.strip_prefix(&below).ok());
    for manifest in all().filter(|f| f.file_name() == Some(CLUSTER_MANIFEST)) {
        let directory = manifest.parent().unwrap_or(Utf8Path::new(""));
        files.insert(directory.to_owned(), Vec::new());
    }
    for file in all() {
        let (Some(directory), Some(name)) = (file.parent(), file.file_name()) else {
            continue;
        };
        if !matches!(name, CLUSTER_MANIFEST | TOP_MANIFEST | KUSTOMIZATION)
            && let Some(names) = files.get_mut(directory)
        {
            names.push(name.to_owned());
        }
    }
    files.values_mut().for_each(|names| names.sort());
    Ok(Some(PreviousTree::Committed { revision, below, files }))
}

/// git's name for a blob: SHA-1, or SHA-256 in a repository of that format.
fn blob_name(text: &str, length: usize) -> String {
    let head = format!("blob {}\0", text.len());
    let hexadecimal = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
    match length {
        40 => hexadecimal(&Sha1::new().chain_update(head).chain_update(text).finalize()),
        _ => hexadecimal(&Sha256::new().chain_update(head).chain_update(text).finalize()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_named_as_git_names_them() {
        assert_eq!(blob_name("", 40), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_name("hello\n", 40), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(blob_name("", 64), "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
    }
}
