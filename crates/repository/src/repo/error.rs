//! Errors that end a run before it examines a repository.

use camino::Utf8PathBuf;
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{self, Bytes, Unreadable};
use hcoplan_planner::release;

use super::choose_release::UnknownRelease;

/// Why a repository can't be examined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the root, or of git.
    #[error(transparent)]
    Source(#[from] source::Error),
    /// An unreadable file on the command line.
    #[error("{0}: {1}")]
    File(Utf8PathBuf, Unreadable),
    /// A file on the command line that the trusted revision doesn't have.
    #[error("the trusted revision {1} has no {0}")]
    NotTrusted(Utf8PathBuf, String),
    /// The files exceed the size limit.
    #[error(
        "the files about HCO and its nodes exceed {} in total, the limit \
         (exclude files with `ignore` in hcoplan.yaml)",
        Bytes(*.0)
    )]
    TooMuch(u64),
    /// `hcoplan.yaml` is invalid; each finding has its location.
    #[error("hcoplan.yaml: {}", .0.first().map_or("", |f| &f.message))]
    Configuration(Vec<Finding>),
    /// The release is unknown.
    #[error(transparent)]
    Unknown(#[from] UnknownRelease),
    /// The release's directory can't be used.
    #[error("{0}: {1}")]
    Release(Utf8PathBuf, release::Error),
}
