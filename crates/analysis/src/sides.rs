//! The two sides of `hcoplan diff`: sources and names.

use super::builds::build_side;
use crate::failure::Failure;
use crate::prelude::*;
use hcoplan_diagnostics::source::Commit;
use hcoplan_planner::lifecycle::UpdateMethod;

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
    /// The update method of every HyperConverged, if given.
    pub update: Option<UpdateMethod>,
    /// The inventory of every cluster, if given.
    pub inventory: Vec<Utf8PathBuf>,
    /// The configuration, if not the directory's own.
    pub config: Option<Arc<SourceFile>>,
    /// The trust source.
    pub trust: Trust,
    /// The requested builds.
    pub builds: Builds,
    /// The examined part of the directory, relative to it; `None` for all of it.
    pub within: Option<Utf8PathBuf>,
    /// The clusters to build.
    pub chosen: ClusterFilter,
}

impl Side {
    /// A side for a directory.
    pub fn of(directory: &Utf8Path) -> Self {
        Self {
            name: "the working tree".to_owned(),
            directory: directory.to_owned(),
            revision: None,
            release: None,
            update: None,
            inventory: Vec::new(),
            config: None,
            trust: Trust::Files,
            builds: Builds::default(),
            within: None,
            chosen: ClusterFilter::default(),
        }
    }

    /// The commit of its revision.
    pub fn commit(&self) -> Option<Commit> {
        Commit::find(&self.directory, self.revision.as_deref()?)
    }

    /// Reads it.
    pub fn open(&self) -> Result<Repo, Failure> {
        let mut options = Options {
            release: match &self.release {
                Some(name) => Some(repo::known_release(name)?),
                None => None,
            },
            update: self.update,
            inventory: self.inventory.clone(),
            config: self.config.clone(),
            trust: self.trust.clone(),
            within: self.within.clone(),
            chosen: self.chosen.clone(),
            ..Options::default()
        };
        let wrong = |error| Failure::opening(error, &self.directory);
        let revision = self.revision.as_ref().map(|name| Revision::open(&self.directory, name, max_bytes()));
        let revision = revision.transpose()?;
        build_side(&self.directory, revision.as_ref(), self.builds, &mut options)?;
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
