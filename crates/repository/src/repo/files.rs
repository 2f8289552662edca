//! The use of each file, for `--show-files`.

use std::fmt;

use super::statements::StatementKind;
use crate::prelude::*;

/// A file and its use.
#[derive(Debug, Clone)]
pub struct FileUse {
    /// Its path, relative to the root.
    pub path: Arc<Utf8Path>,
    /// Its use.
    pub what: FileRole,
}

/// The use of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRole {
    /// The configuration.
    Configuration,
    /// Read, with relevant contents.
    Read(FileContents),
    /// Read, without contents about HCO or its nodes.
    Nothing,
    /// A kustomization names it as a patch.
    Patch {
        /// The kustomization.
        of: Utf8PathBuf,
    },
    /// Skipped, with the reason.
    Skipped(String),
}

/// The relevant contents of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileContents {
    /// HyperConvergeds.
    pub hyperconvergeds: usize,
    /// ClusterInventories.
    pub inventories: usize,
    /// Whether it has nodes, as a cluster prints them.
    pub nodes: bool,
    /// Whether it has machine sets.
    pub machines: bool,
    /// The kinds of other manifests with facts about a cluster.
    pub statements: Box<[StatementKind]>,
    /// Objects that look like HyperConvergeds.
    pub unrecognized: usize,
    /// The number of documents with HyperConvergeds that aren't planned.
    pub not_planned: usize,
    /// Whether it has controllers' objects that change what they apply.
    pub changing: bool,
}

impl fmt::Display for FileRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration => f.write_str("configuration"),
            Self::Read(holds) => {
                let several = |n: usize, what: &str| match n {
                    0 => None,
                    1 => Some(what.to_owned()),
                    n => Some(format!("{n} × {what}")),
                };
                let parts = [
                    several(holds.hyperconvergeds, "HyperConverged"),
                    several(holds.unrecognized, "unrecognized HyperConverged"),
                    several(holds.not_planned, "HyperConverged not planned"),
                    holds.changing.then(|| "changes of what a controller applies".to_owned()),
                    several(holds.inventories, "ClusterInventory"),
                    holds.nodes.then(|| "nodes".to_owned()),
                    holds.machines.then(|| "machine sets".to_owned()),
                ];
                let statements = holds.statements.iter().map(|kind| format!("{kind:?}"));
                let parts: Vec<String> = parts.into_iter().flatten().chain(statements).collect();
                f.write_str(&parts.join(", "))
            }
            Self::Nothing => f.write_str("read, nothing in it is about HCO"),
            Self::Patch { of } => write!(f, "skipped: {of} names it as a patch"),
            Self::Skipped(why) => write!(f, "skipped: {why}"),
        }
    }
}

impl FileUse {
    pub(super) fn skipped(path: &Utf8Path, why: &dyn fmt::Display) -> Self {
        Self { path: path.into(), what: FileRole::Skipped(why.to_string()) }
    }
}
