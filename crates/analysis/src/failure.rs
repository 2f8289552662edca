//! Errors that end a run early.

use crate::prelude::*;

/// An error that ends a run early: usage, configuration or environment.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A wrong argument, with help.
    #[error("{message}\n  help: {help}")]
    Usage {
        /// The error.
        message: String,
        /// The help.
        help: String,
    },
    /// An unreadable repository.
    #[error(transparent)]
    Repo(#[from] repo::Error),
    /// A wrong configuration; the root is the base of the findings' paths.
    #[error("hcoplan.yaml is wrong")]
    Configuration(Vec<Finding>, Utf8PathBuf),
    /// A failed kustomize build.
    #[error(transparent)]
    Build(#[from] repo::BuildError),
    /// An error of reading standard input.
    #[error("{0}: {1}")]
    Read(String, std::io::Error),
    /// An invalid file named on the command line.
    #[error("{0}")]
    Unreadable(String),
    /// An error of the output tree.
    #[error(transparent)]
    Tree(#[from] emit::Error),
    /// An error of git.
    #[error(transparent)]
    Git(#[from] hcoplan_diagnostics::source::Error),
    /// An interrupt by the user, already reported.
    #[error("interrupted")]
    Interrupted,
    /// An error of writing standard output or a file of `--format`.
    #[error("{0}: {1}")]
    Write(String, std::io::Error),
}

impl Failure {
    /// An unreadable repository; `root` is the base of its findings' paths.
    pub fn opening(error: repo::Error, root: &Utf8Path) -> Self {
        match error {
            repo::Error::Configuration(findings) => Self::Configuration(findings, root.to_owned()),
            other => other.into(),
        }
    }

    /// A wrong argument or environment.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }
}

impl From<repo::UnknownRelease> for Failure {
    fn from(unknown: repo::UnknownRelease) -> Self {
        Self::Repo(unknown.into())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Write("standard output".to_owned(), error)
    }
}
