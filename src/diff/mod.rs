//! What changes between two output trees: objects by identity, their text line by line.
//!
//! The left side is the tree as git has committed it, or as it is on disk.

mod before;
mod compare;
mod human;
mod hunks;
pub mod semantic;

pub use before::Before;
pub use compare::{Change, ClusterChanges, Kind, Totals, compare, gone};
pub use human::{write_cluster, write_totals};
pub use hunks::unified;

use crate::{emit, source};

/// The left side can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tree on disk.
    #[error(transparent)]
    Tree(#[from] emit::Error),
    /// The tree that git has committed.
    #[error(transparent)]
    Git(#[from] source::Error),
}
