//! The output tree: the objects of plans as files for review.
//!
//! A directory per cluster with a file per object and a manifest, and a manifest at the top. The tree is replaced as a
//! whole: a new one is built next to it and exchanged with it. A file that hcoplan didn't write is never touched: the
//! run fails before it writes anything.

mod disk_tree;
mod files;
mod kustomization;
mod manifest;
mod names;
mod temporary_directory;
mod text;
mod tree;

pub use disk_tree::{DiskTree, has_conflict, is_own};
pub use files::{ClusterFiles, File};
pub use kustomization::KUSTOMIZATION;
pub use manifest::{CLUSTER_MANIFEST, Manifest, TOP_MANIFEST};
pub use names::{check_names, cluster_directory, file_names};
pub use text::HEADER;
pub use tree::Tree;

use std::io;

use crate::prelude::*;

/// An error of reading or writing the output tree.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system reports an error.
    #[error("{0}: {1}")]
    Io(Utf8PathBuf, io::Error),
    /// The tree's parent directory isn't writable.
    #[error("{0} can't be written, as the new tree can't be created in {1}: {2}")]
    Beside(Utf8PathBuf, Utf8PathBuf, io::Error),
    /// The new tree can't be completed.
    #[error("{0} can't be written: {1}")]
    Unwritten(Utf8PathBuf, io::Error),
    /// A file in the tree that hcoplan didn't write.
    #[error(
        "{0} was not written by hcoplan, which replaces the output tree as a whole: \
         move it away or choose another tree with --out"
    )]
    Foreign(Utf8PathBuf),
    /// The output tree's own path isn't a directory.
    #[error("{0} is {1}, not a directory: name the output tree with --out")]
    NotADirectory(Utf8PathBuf, &'static str),
    /// An invalid manifest.
    #[error("{0}: {1}; delete the output tree and render it again")]
    Manifest(Utf8PathBuf, String),
    /// A file has conflict markers.
    #[error(
        "{0} has conflict markers: run `hcoplan render --out`, which writes the output tree from the merged sources"
    )]
    Conflict(Utf8PathBuf),
    /// A cluster's name that can't be a directory below the tree.
    #[error(
        "cluster {0:?} can't have a directory in the output tree: {1}; \
         name it in hcoplan.yaml"
    )]
    ClusterName(String, String),
    /// The file system can't exchange two directories.
    #[error(
        "{0}: the file system can't exchange two directories ({1}), so the tree can't \
         be replaced as a whole: delete it before, or write it to another file system with --out"
    )]
    Exchange(Utf8PathBuf, io::Error),
    /// The tree is a file system of its own.
    #[error(
        "{0} is a mount point, which can't be replaced as a whole: name a directory in it \
         with --out"
    )]
    MountPoint(Utf8PathBuf),
    /// The tree and its parent directory are on two file systems, or two layers of one.
    #[error(
        "{0} and the directory that it is in are on two file systems, or two layers of a \
         container's, so the tree can't be replaced as a whole: delete it before, or write it \
         elsewhere with --out"
    )]
    TwoFileSystems(Utf8PathBuf),
}

impl Error {
    fn io(path: impl Into<Utf8PathBuf>, error: io::Error) -> Self {
        Self::Io(path.into(), error)
    }
}
