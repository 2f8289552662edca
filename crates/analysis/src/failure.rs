//! Errors that end a run early.

use camino::{Utf8Path, Utf8PathBuf};

use hcoplan_diagnostics::finding::Finding;
use hcoplan_repository::repo;

/// What ends a run before its work is done: usage, configuration or environment.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An argument that means nothing, with what to do about it.
    #[error("{message}\n  help: {help}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// The repository.
    #[error(transparent)]
    Repo(#[from] repo::Error),
    /// Its configuration, with the root that the findings' paths count from.
    #[error("hcoplan.yaml is wrong")]
    Configuration(Vec<Finding>, Utf8PathBuf),
    /// A kustomization that can't be built.
    #[error(transparent)]
    Build(#[from] repo::BuildError),
    /// Standard input.
    #[error("{0}: {1}")]
    Read(String, std::io::Error),
    /// A file named on the command line that can't be parsed.
    #[error("{0}")]
    Unreadable(String),
    /// The output tree.
    #[error(transparent)]
    Tree(#[from] hcoplan_repository::emit::Error),
    /// A git repository or a revision of it.
    #[error(transparent)]
    Git(#[from] hcoplan_diagnostics::source::Error),
    /// The user stopped hcoplan: reported elsewhere.
    #[error("interrupted")]
    Interrupted,
    /// Standard output, or a file named with `--format`.
    #[error("{0}: {1}")]
    Write(String, std::io::Error),
}

impl Failure {
    /// A repository that can't be opened; its configuration's findings count from `root`.
    pub fn opening(error: repo::Error, root: &Utf8Path) -> Self {
        match error {
            repo::Error::Configuration(findings) => Self::Configuration(findings, root.to_owned()),
            other => other.into(),
        }
    }

    /// Arguments or an environment with which nothing can be done.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Write("standard output".to_owned(), error)
    }
}
