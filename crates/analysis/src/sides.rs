//! The two sides of `hcoplan diff`: sources and names.

use super::builds::build_side;
use crate::failure::Failure;
use crate::prelude::*;
use hcoplan_diagnostics::source::Commit;

/// The source of a side.
#[derive(Debug, Clone)]
pub struct Side {
    /// Its name: `origin/main`, `release 1.18`.
    pub name: String,
    /// The directory.
    pub directory: Utf8PathBuf,
    /// Its revision; `None` for the working tree.
    pub revision: Option<String>,
    /// The release of every cluster, if given.
    pub release: Option<String>,
    /// How to read it; the release aside.
    pub options: Options,
}

impl Side {
    /// A side for a directory.
    pub fn of(directory: &Utf8Path) -> Self {
        Self {
            name: "the working tree".to_owned(),
            directory: directory.to_owned(),
            revision: None,
            release: None,
            options: Options::default(),
        }
    }

    /// The commit of its revision.
    pub fn commit(&self) -> Option<Commit> {
        Commit::find(&self.directory, self.revision.as_deref()?)
    }

    /// Reads it.
    pub fn open(&self) -> Result<Repo, Failure> {
        let release = self.release.as_deref().map(repo::known_release).transpose()?;
        let mut options = Options { release, ..self.options.clone() };
        let wrong = |error| Failure::opening(error, &self.directory);
        let revision = self.revision.as_ref().map(|name| Revision::open(&self.directory, name, max_bytes()));
        let revision = revision.transpose()?;
        build_side(&self.directory, revision.as_ref(), options.builds, &mut options)?;
        let opened = match revision {
            Some(tree) => Repo::from_tree(Arc::new(tree), &options),
            None => Repo::open(&self.directory, &options),
        };
        opened.map_err(wrong)
    }
}

/// Parses `A..B` into two names, or one name for the side before. `A...B` compares B with its merge base with A; the
/// default of B is HEAD.
pub fn range(text: &str) -> Result<(String, Option<String>), Failure> {
    let wrong = || {
        Failure::usage(
            format!("{text:?} isn't a range"),
            "write A..B; A...B for the changes of B since the merge base; or A alone to compare it with the working tree",
        )
    };
    if let Some((a, b)) = text.split_once("...") {
        return match (a, b) {
            ("", _) => Err(wrong()),
            (_, b) if b.starts_with('.') => Err(wrong()),
            (_, "") => Ok((text.to_owned(), None)),
            (_, b) => Ok((text.to_owned(), Some(b.to_owned()))),
        };
    }
    match text.split_once("..") {
        Some((a, b)) if a.is_empty() || b.is_empty() => Err(wrong()),
        Some((a, b)) => Ok((a.to_owned(), Some(b.to_owned()))),
        None if text.is_empty() => Err(wrong()),
        None => Ok((text.to_owned(), None)),
    }
}
