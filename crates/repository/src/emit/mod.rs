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

use crate::prelude::*;

/// An error of reading or writing the output tree.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system reports an error.
    #[error("{path}: {error}")]
    Io {
        /// The file or directory.
        path: Utf8PathBuf,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// The tree's parent directory isn't writable.
    #[error("{tree} can't be written, as the new tree can't be created in {parent}: {error}")]
    Beside {
        /// The output tree.
        tree: Utf8PathBuf,
        /// The directory that it is in.
        parent: Utf8PathBuf,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// The new tree can't be completed.
    #[error("{path} can't be written: {error}")]
    Unwritten {
        /// The output tree.
        path: Utf8PathBuf,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// A file in the tree that hcoplan didn't write.
    #[error(
        "{path} was not written by hcoplan, which replaces the output tree as a whole: \
         move it away or choose another tree with --out"
    )]
    Foreign {
        /// The file, symbolic link or device.
        path: Utf8PathBuf,
    },
    /// The output tree's own path isn't a directory.
    #[error("{path} is {what}, not a directory: name the output tree with --out")]
    NotADirectory {
        /// The path.
        path: Utf8PathBuf,
        /// `a file`, `a symbolic link`.
        what: &'static str,
    },
    /// An invalid manifest.
    #[error("{path}: {message}; delete the output tree and render it again")]
    Manifest {
        /// The manifest.
        path: Utf8PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file has conflict markers.
    #[error(
        "{path} has conflict markers: run `hcoplan render --out`, which writes the output tree from the merged sources"
    )]
    Conflict {
        /// The file.
        path: Utf8PathBuf,
    },
    /// A cluster's name that can't be a directory below the tree.
    #[error(
        "cluster {cluster:?} can't have a directory in the output tree: {reason}; \
         name it in hcoplan.yaml"
    )]
    ClusterName {
        /// The name.
        cluster: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file system can't exchange two directories.
    #[error(
        "{path}: the file system can't exchange two directories ({error}), so the tree can't \
         be replaced as a whole: delete it before, or write it to another file system with --out"
    )]
    Exchange {
        /// The output tree.
        path: Utf8PathBuf,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// The tree is a file system of its own.
    #[error(
        "{path} is a mount point, which can't be replaced as a whole: name a directory in it \
         with --out"
    )]
    MountPoint {
        /// The output tree.
        path: Utf8PathBuf,
    },
    /// The tree and its parent directory are on two file systems, or two layers of one.
    #[error(
        "{path} and the directory that it is in are on two file systems, or two layers of a \
         container's, so the tree can't be replaced as a whole: delete it before, or write it \
         elsewhere with --out"
    )]
    TwoFileSystems {
        /// The output tree.
        path: Utf8PathBuf,
    },
}

impl Error {
    fn io(path: impl Into<Utf8PathBuf>, error: std::io::Error) -> Self {
        Self::Io { path: path.into(), error }
    }
}
