//! The side before: a revision, a directory, another release, or what a cluster holds.

use camino::{Utf8Path, Utf8PathBuf};

use super::clusters::Clusters;
use super::failure::Failure;
use super::output::Output;
use super::prior_state::{self, Named};
use super::sides::Side;
use crate::kube::Object;
use crate::repo::{self, Repo};
use crate::source::Revision;
use hcoplan_analysis::{Before, ComparisonMode, PriorState};

/// The side before.
pub(super) struct Base {
    name: Option<String>,
    /// Whether the command line names it.
    is_explicit: bool,
    root: Option<Utf8PathBuf>,
    /// The revision that it was read from.
    pub(super) revision: Option<Side>,
    side: BaseSide,
}

/// What is known of the side before.
pub(super) enum BaseSide {
    /// Nothing: everything is new.
    Nothing,
    /// Its sources, and what the two sides are to each other.
    Sources { repo: Box<Repo>, mode: ComparisonMode },
    /// The HyperConverged that a cluster holds.
    Live(PriorState),
    /// The objects that a cluster holds.
    Objects(Vec<Object>),
}

impl Base {
    /// Nothing to compare with.
    pub(super) const NOTHING: Self =
        Self { name: None, is_explicit: false, root: None, revision: None, side: BaseSide::Nothing };

    /// What the command line names, else where this branch left the main one.
    pub(super) fn open(arguments: &prior_state::Arguments, found: &Clusters, output: &Output) -> Result<Self, Failure> {
        let named = Self::named(arguments, found, output)?;
        if named.name.is_some() { Ok(named) } else { Self::left_main(found) }
    }

    /// Where this branch left the main one; nothing outside a repository.
    pub(super) fn left_main(found: &Clusters) -> Result<Self, Failure> {
        match if found.is_stream() { None } else { left_main(&found.side()) } {
            Some(left) => Ok(Self { is_explicit: false, ..Self::sources(left, ComparisonMode::BeforeAndAfter)? }),
            None => Ok(Self::NOTHING),
        }
    }

    /// What the command line names; nothing where it names none.
    pub(super) fn named(
        arguments: &prior_state::Arguments,
        found: &Clusters,
        output: &Output,
    ) -> Result<Self, Failure> {
        if let Some(prior) = arguments.live(found, output)? {
            let name = Some(prior.file.to_string());
            return Ok(Self { name, side: BaseSide::Live(prior), ..Self::NOTHING });
        }
        let side = match arguments.before(found)? {
            None => return Ok(Self::NOTHING),
            Some(Named::Revision(name)) => Side { revision: Some(name.clone()), name, ..found.side() },
            Some(Named::Directory(directory)) => found.side_of(&directory)?,
        };
        let base = Self::sources(side, ComparisonMode::BeforeAndAfter)?;
        base.warn(found, output);
        Ok(base)
    }

    /// The sources of a side.
    pub(super) fn sources(side: Side, mode: ComparisonMode) -> Result<Self, Failure> {
        let repo = Box::new(side.open().map_err(|failure| wrong_before(failure, &side))?);
        Ok(Self {
            name: Some(side.name.clone()),
            is_explicit: true,
            root: Some(side.directory.clone()),
            side: BaseSide::Sources { repo, mode },
            revision: side.revision.is_some().then_some(side),
        })
    }

    /// The objects that a cluster holds, of a file.
    pub(super) fn objects(name: &Utf8Path, objects: Vec<Object>) -> Self {
        Self { name: Some(name.to_string()), side: BaseSide::Objects(objects), ..Self::NOTHING }
    }

    /// As the analysis takes it.
    pub(super) fn before(&self) -> Before<'_> {
        self.side.as_before()
    }

    /// The sources, where it has any.
    pub(super) fn repo(&self) -> Option<&Repo> {
        match &self.side {
            BaseSide::Sources { repo, .. } => Some(repo),
            _ => None,
        }
    }

    /// Whether the command line names it, so that only what differs from it fails the run.
    pub(super) fn is_explicit(&self) -> bool {
        self.is_explicit
    }

    /// Whether there is nothing to compare with.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.side, BaseSide::Nothing)
    }

    /// Its name.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What it is, for people.
    pub(super) fn described(&self) -> String {
        self.name.clone().unwrap_or_else(|| "nothing".to_owned())
    }

    /// The root of its files; that of the other side where it has none of its own.
    pub(super) fn root(&self, other: &Utf8Path) -> Utf8PathBuf {
        self.root.clone().unwrap_or_else(|| other.to_owned())
    }

    /// Says which files of it can't be read.
    fn warn(&self, found: &Clusters, output: &Output) {
        let (Some(repo), Some(name)) = (self.repo(), self.name()) else {
            return;
        };
        for problem in repo.problems().iter().filter(|p| p.fatal) {
            let at = problem.finding.location.as_ref();
            let at = at.map_or_else(String::new, |l| {
                let file = match found.root.as_str() {
                    "." => l.file.path().to_owned(),
                    _ => found.root.join(l.file.path()),
                };
                format!("{file}:{}: ", l.start().line)
            });
            output.warning(format_args!("in {name}, {at}{}; what is in it is judged as new", problem.finding.message));
        }
    }
}

/// Where this branch left the main one; `None` outside a repository, and where there is no commit.
fn left_main(side: &Side) -> Option<Side> {
    let directory = side.directory.canonicalize_utf8().ok()?;
    // Without a repository git is not even started.
    if !directory.ancestors().any(|a| a.join(".git").exists()) {
        return None;
    }
    let (branch, commit) = Revision::left_main(&directory)?;
    let name = match branch.as_str() {
        "HEAD" => "HEAD".to_owned(),
        "origin/HEAD" => "the merge base with origin's main branch".to_owned(),
        name => format!("the merge base with {name}"),
    };
    Some(Side { name, revision: Some(commit), ..side.clone() })
}

/// A wrong configuration of a revision is no mistake of the change.
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
