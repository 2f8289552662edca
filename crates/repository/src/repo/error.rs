//! Errors that end a run before it examines a repository.

use hcoplan_diagnostics::source;
use hcoplan_diagnostics::source::Bytes;

use super::choose_release::UnknownRelease;
use crate::prelude::*;

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
}

/// A value with its location.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its location.
    pub place: Location,
}

impl<T> Located<T> {
    pub(super) fn new(value: T, document: &Document, node: &Node) -> Self {
        let place = document.location(node.span);
        Self { value, place }
    }
}

impl Located<Platform> {
    /// The platform of a mapping; the schema admits no other texts.
    pub(super) fn platform(document: &Document, node: &Node) -> Option<Self> {
        let node = node.get("platform")?;
        Some(Self::new(Platform::named(node.as_str()?)?, document, node))
    }
}

impl Located<String> {
    /// The text at a key of a mapping.
    pub(super) fn text(document: &Document, node: &Node, key: &str) -> Option<Self> {
        let node = node.get(key)?;
        Some(Self::new(node.as_str()?.to_owned(), document, node))
    }

    /// The release at a key as written: `4.20` without quotes is a number of YAML, and not `4.2`.
    pub(super) fn release(document: &Document, node: &Node, key: &str) -> Option<Self> {
        let node = node.get(key)?;
        Some(Self::new(document.written_text(node)?, document, node))
    }

    /// The texts at a key: one, or a list of them.
    pub(super) fn texts(document: &Document, node: &Node, key: &str) -> Vec<Self> {
        let nodes = node.get(key).into_iter().chain(node.list_at(key));
        nodes.filter_map(|n| Some(Self::new(n.as_str()?.to_owned(), document, n))).collect()
    }
}
