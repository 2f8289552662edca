//! Errors that end a run before it begins.

use camino::Utf8PathBuf;
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{self, Bytes, Unreadable};
use hcoplan_planner::release;

use super::choose_release::UnknownRelease;

/// Why a repository can't be examined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root, or git.
    #[error(transparent)]
    Source(#[from] source::Error),
    /// A file that the command line names.
    #[error("{0}: {1}")]
    File(Utf8PathBuf, Unreadable),
    /// A file that the command line names, and the trusted revision, which hasn't it.
    #[error("{1}, the trusted revision, has no {0}")]
    NotTrusted(Utf8PathBuf, String),
    /// More than what is searched at most.
    #[error(
        "the files about HCO and its nodes have more than {} in all, the limit \
         (`ignore` in hcoplan.yaml leaves files out)",
        Bytes(*.0)
    )]
    TooMuch(u64),
    /// `hcoplan.yaml` is wrong; each finding has its place.
    #[error("hcoplan.yaml: {}", .0.first().map_or("", |f| &f.message))]
    Configuration(Vec<Finding>),
    /// The release is none.
    #[error(transparent)]
    Unknown(#[from] UnknownRelease),
    /// The release's directory can't be used.
    #[error("{0}: {1}")]
    Release(Utf8PathBuf, release::Error),
}
