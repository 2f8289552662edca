//! The two sides of `hcoplan diff`: sources and names.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::builds::build_side;
use super::failure::Failure;
use super::previous_state::take_apart;
use hcoplan_diagnostics::source::{Commit, Directory, Revision, SourceFile, Tree as _, Walk, max_bytes};
use hcoplan_kubernetes::Object;
use hcoplan_planner::lifecycle::UpdateMethod;
use hcoplan_repository::repo::{self, Builds, ClusterFilter, Options, Repo, Trust};
use hcoplan_yaml as yaml;

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
                Some(name) => Some(self.trust.named_release(name)?),
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

/// The objects of an export: a file of `kubectl get -o yaml|json`, or a directory of such files (a must-gather). Splits
/// lists; skips files that aren't manifests.
pub(super) fn export(path: &Utf8Path) -> Result<Vec<Object>, Failure> {
    let failed = |why: String| Failure::Read(path.to_string(), std::io::Error::other(why));
    let mut values = Vec::new();
    let mut read = |file: &Utf8Path, bytes: Vec<u8>| {
        let parsed = yaml::parse(&SourceFile::from_bytes(file, bytes));
        if let Some(problem) = parsed.problems.first() {
            return Err(problem.message.clone());
        }
        parsed.documents.iter().for_each(|document| take_apart(document.root.to_json(), &mut values));
        Ok(())
    };
    if path.is_file() {
        read(path, repo::read_named(Utf8Path::new("."), path, &Trust::Files)?).map_err(failed)?;
    } else {
        let tree = Directory::open(path, max_bytes()).map_err(|e| failed(e.to_string()))?;
        let listing = tree.list(&Walk::default());
        for file in listing.map_err(|e| failed(e.to_string()))?.files {
            if matches!(file.extension(), Some("yaml" | "yml" | "json"))
                && let Ok(bytes) = tree.read(&file)
            {
                // An invalid file isn't a manifest.
                let _ = read(&file, bytes);
            }
        }
    }
    let mut out: Vec<Object> = values.into_iter().map(Object::new).collect();
    if out.is_empty() {
        return Err(failed("there is no object in it".to_owned()));
    }
    out.sort_by(|a, b| a.id.cmp(&b.id));
    out.dedup_by(|a, b| a.id == b.id);
    Ok(out)
}
