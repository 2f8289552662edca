//! Reads a release from a directory, as `cargo run -p xtask -- release` writes it.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Directory, Tree, Unreadable, Walk, max_bytes};
use hcoplan_planner::plan;
use hcoplan_planner::release::{self, Files, Release};

use super::choose_release::{is_directory, known_release};
use super::error::Error;
use super::path_in_tree::PathInTree;
use super::trust::{Trust, TrustBase};

/// The release of `--release`: a known one's name (`1.17`), or a directory (`./mine`).
///
/// # Errors
/// The name is unknown, or the directory has no release.
pub fn named_release(name: &str) -> Result<Arc<Release>, Error> {
    let path = Utf8Path::new(name);
    let directory = is_directory(name) || (path.is_dir() && Release::known(name).is_none());
    if !directory {
        return Ok(known_release(name)?);
    }
    let real = match PathInTree::of(Utf8Path::new("."), path) {
        Some(within) => within.real().map_err(|why| Error::File(path.to_owned(), why))?,
        None => path.to_owned(),
    };
    let tree = Directory::open(real, max_bytes())?;
    read(&tree, Utf8Path::new("")).map_err(|error| Error::Release(path.to_owned(), error))
}

/// The release of a name or directory, read from a revision.
///
/// # Errors
/// Those of [`named_release`], or the revision lacks the directory.
pub fn named_release_of(base: &TrustBase, name: &str) -> Result<Arc<Release>, Error> {
    let path = Utf8Path::new(name);
    if !is_directory(name) && (!path.is_dir() || Release::known(name).is_some()) {
        return Ok(known_release(name)?);
    }
    match base.around(path)? {
        Some((tree, path)) => read(&tree, &path).map_err(|error| Error::Release(name.into(), error)),
        None => named_release(name),
    }
}

impl Trust {
    /// The release that the command line names, its directory as the trusted revision has it.
    ///
    /// # Errors
    /// When there is none.
    pub fn named_release(&self, name: &str) -> Result<Arc<Release>, Error> {
        match self.base() {
            Some(base) => named_release_of(base, name),
            None => named_release(name),
        }
    }
}

/// The release in a directory of a tree, checked whole.
pub(super) fn read(tree: &dyn Tree, directory: &Utf8Path) -> Result<Arc<Release>, release::Error> {
    let mut files = Files::new();
    for name in names(tree, directory) {
        let bytes = match tree.read(&directory.join(&name)) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing) => continue,
            Err(why) => return Err(release::Error::shape(name.as_str(), &why.to_string())),
        };
        let text = String::from_utf8(bytes).map_err(|_| release::Error::shape(name.as_str(), "it isn't UTF-8"))?;
        files.insert(name.into_string(), text);
    }
    let release = Release::from_files(files)?;
    release.check()?;
    plan::check(&release)?;
    Ok(Arc::new(release))
}

/// The JSON files of the directory and its `crds`.
fn names(tree: &dyn Tree, directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    let listing = tree.list(&Walk::default()).unwrap_or_default();
    let below = listing.files.iter().filter_map(|p| p.strip_prefix(directory).ok());
    let json = below.filter(|p| p.extension() == Some("json"));
    json.map(Utf8Path::to_owned).collect()
}
