//! The side before: a revision, a directory, a release, or the objects in a cluster.

use super::shown_path::shown_path;
use crate::PreviousState;
use crate::clusters::Clusters;
use crate::failure::Failure;
use crate::notices::Notices;
use crate::prelude::*;
use crate::sides::Side;
use crate::{Before, ComparisonMode};

/// The side before; by default there is nothing to compare with.
#[derive(Default)]
pub struct CompareBase {
    name: Option<String>,
    /// Whether it is the side before a change, so that only differences fail the run: the command line gives it, or it is
    /// where a branch or an uncommitted change began.
    pub(super) is_before_change: bool,
    root: Option<Utf8PathBuf>,
    /// The revision it is read from.
    pub revision: Option<Side>,
    side: BaseSide,
}

/// The data of the side before.
#[derive(Default)]
enum BaseSide {
    /// Unknown: everything is new.
    #[default]
    Nothing,
    /// Its sources, and how the sides are related.
    Sources { repo: Box<Repo>, mode: ComparisonMode },
    /// The HyperConvergeds in the cluster.
    Live(PreviousState),
    /// All objects in the cluster.
    Objects(Vec<Object>),
}

impl CompareBase {
    /// The merge base with the main branch; nothing outside of a git repository.
    pub fn merge_base(found: &Clusters, notices: &dyn Notices) -> Result<Self, Failure> {
        match if found.is_stream() { None } else { merge_base(&found.side(), notices) } {
            // On the main branch itself, without a change, the whole state is judged.
            Some((side, is_current)) => {
                let base = Self::sources(side, ComparisonMode::BeforeAndAfter)?;
                Ok(Self { is_before_change: !is_current, ..base })
            }
            None => Ok(Self::default()),
        }
    }

    /// The HyperConvergeds in a cluster.
    pub fn live(previous: PreviousState) -> Self {
        Self { name: Some(previous.file.to_string()), side: BaseSide::Live(previous), ..Self::default() }
    }

    /// A git revision of the clusters' directory.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn revision(name: String, found: &Clusters, notices: &dyn Notices) -> Result<Self, Failure> {
        Self::named(Side { revision: Some(name.clone()), name, ..found.side() }, found, notices)
    }

    /// Another directory.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn directory(directory: &Utf8Path, found: &Clusters, notices: &dyn Notices) -> Result<Self, Failure> {
        Self::named(found.side_of(directory)?, found, notices)
    }

    fn named(side: Side, found: &Clusters, notices: &dyn Notices) -> Result<Self, Failure> {
        let base = Self::sources(side, ComparisonMode::BeforeAndAfter)?;
        base.warn(found, notices);
        Ok(base)
    }

    /// The sources of a side.
    pub fn sources(side: Side, mode: ComparisonMode) -> Result<Self, Failure> {
        let repo = Box::new(side.open().map_err(|failure| wrong_before(failure, &side))?);
        Ok(Self {
            name: Some(side.name.clone()),
            is_before_change: true,
            root: Some(side.directory.clone()),
            side: BaseSide::Sources { repo, mode },
            revision: side.revision.is_some().then_some(side),
        })
    }

    /// The objects in a cluster, from a file.
    pub fn objects(name: &Utf8Path, objects: Vec<Object>) -> Self {
        Self { name: Some(name.to_string()), side: BaseSide::Objects(objects), ..Self::default() }
    }

    /// The side before, for the analysis.
    pub fn before(&self) -> Before<'_> {
        match &self.side {
            BaseSide::Nothing => Before::Nothing,
            BaseSide::Sources { repo, mode, .. } => Before::Sources(repo, *mode),
            BaseSide::Live(previous) => Before::Live(previous),
            BaseSide::Objects(objects) => Before::Objects(objects),
        }
    }

    /// Its sources, if it has any.
    pub fn repo(&self) -> Option<&Repo> {
        match &self.side {
            BaseSide::Sources { repo, .. } => Some(repo),
            _ => None,
        }
    }

    /// Whether there is nothing to compare with.
    pub fn is_nothing(&self) -> bool {
        matches!(self.side, BaseSide::Nothing)
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The root of its files; the other side's root if it has none.
    pub fn root(&self, other: &Utf8Path) -> Utf8PathBuf {
        self.root.clone().unwrap_or_else(|| other.to_owned())
    }

    /// Reports its unreadable files.
    fn warn(&self, found: &Clusters, notices: &dyn Notices) {
        let (Some(repo), Some(name)) = (self.repo(), self.name()) else {
            return;
        };
        for problem in repo.problems().iter().filter(|p| p.fatal) {
            let at = problem.finding.location.as_ref();
            let at =
                at.map_or_else(String::new, |l| format!("{}:{}: ", shown_path(&found.root, &l.file), l.start().line));
            notices.warning(format_args!("in {name}, {at}{}; what is in it is judged as new", problem.finding.message));
        }
    }
}

/// The merge base with the main branch, and whether that is checked out without a change; `None` outside of a repository
/// or without a commit.
fn merge_base(side: &Side, notices: &dyn Notices) -> Option<(Side, bool)> {
    let directory = side.directory.canonicalize_utf8().ok()?;
    // Avoids starting git outside of a repository.
    let top = directory.ancestors().find(|above| above.join(".git").exists())?;
    let (branch, commit, is_current) = Revision::branch_point(&directory)?;
    let name = match branch.as_str() {
        "HEAD" => {
            if top.join(".git/shallow").exists() {
                notices.warning("a shallow clone without a main branch: only uncommitted changes are compared");
            }
            "HEAD".to_owned()
        }
        "origin/HEAD" => "the merge base with origin's main branch".to_owned(),
        name => format!("the merge base with {name}"),
    };
    Some((Side { name, revision: Some(commit), ..side.clone() }, is_current))
}

/// An error in the configuration of the side before is reported as such.
fn wrong_before(failure: Failure, side: &Side) -> Failure {
    match failure {
        Failure::Configuration(findings, _) | Failure::Repo(repo::Error::Configuration(findings))
            if side.revision.is_some() =>
        {
            let first = findings.first().map_or("", |f| f.message.as_str());
            Failure::usage(
                format!("hcoplan.yaml is wrong in {}: {first}", side.name),
                "leave --against out for the change that fixes it",
            )
        }
        other => other,
    }
}
