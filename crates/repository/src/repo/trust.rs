//! The trust source: the files that are checked, or a revision before them.
//!
//! A change must not control which of its own findings are reported. So the configuration and the baseline can be read
//! from the revision that the change is based on; suppressions in documents have no effect then.

use hcoplan_diagnostics::source::Revision;

use super::config::CONFIG_FILE;
use super::path_in_tree::PathInTree;
use crate::prelude::*;

/// The source of settings that control the reported findings and the programs that run.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// The files themselves.
    #[default]
    Files,
    /// An earlier revision.
    Base(TrustBase),
    /// No source: the files may only be stricter than the defaults.
    Nobody,
}

/// A trusted revision.
#[derive(Debug, Clone)]
pub struct TrustBase {
    name: String,
    tree: Arc<Revision>,
    directory: Arc<Utf8PathBuf>,
}

impl TrustBase {
    /// Opens the revision with this name for a directory.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(directory: &Utf8Path, name: &str) -> Result<Self, super::Error> {
        let tree = Revision::open_outermost(directory, name, max_bytes())?;
        Ok(Self { name: name.to_owned(), tree: Arc::new(tree), directory: Arc::new(directory.to_owned()) })
    }

    /// Its name as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its files.
    pub fn tree(&self) -> &Arc<Revision> {
        &self.tree
    }

    /// The revision's bytes of a file of the working tree, anywhere in the repository and independent of the present
    /// content; `None` for a file outside the repository.
    ///
    /// # Errors
    /// When it has none.
    pub fn file(&self, path: &Utf8Path) -> Result<Option<Vec<u8>>, super::Error> {
        let Some(PathInTree { top, path: below, .. }) = PathInTree::of(&self.directory, path) else {
            return Ok(None);
        };
        let Some(below) = normalize_path(&below) else {
            return Err(super::Error::File(below, Unreadable::LeavesRoot));
        };
        let tree = Revision::open_outermost(&top, &self.name, max_bytes())?;
        tree.read(&below).map(Some).map_err(|why| match why {
            Unreadable::Missing => super::Error::NotTrusted(path.to_owned(), self.name.clone()),
            why => super::Error::File(path.to_owned(), why),
        })
    }
}

impl Trust {
    /// The trusted revision, if there is one.
    pub fn base(&self) -> Option<&TrustBase> {
        match self {
            Self::Base(base) => Some(base),
            Self::Files | Self::Nobody => None,
        }
    }

    /// The finding that the files' configuration has no effect.
    pub(super) fn configuration(&self, tree: &dyn Tree) -> Option<Finding> {
        let base = self.base()?;
        let path = Utf8Path::new(CONFIG_FILE);
        let own = match tree.read(path) {
            // It has no effect either.
            Err(Unreadable::Untracked) => Vec::new(),
            own => own.ok()?,
        };
        if base.tree.read(path).is_ok_and(|theirs| theirs == own) {
            return None;
        }
        let place = Location::new(&SourceFile::from_bytes(path, own), Span::default());
        let message = format!("the changes to this file since {} have no effect", base.name);
        let finding = Finding::new(&CHANGE_NOT_TRUSTED, message).at(place);
        Some(finding.label("taken from the trusted revision"))
    }
}
