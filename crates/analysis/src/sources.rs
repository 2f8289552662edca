//! Which clusters to process, and where to find them.

use std::num::NonZeroUsize;

use camino::Utf8PathBuf;

use super::shard::Shard;
use hcoplan_planner::lifecycle::UpdateMethod;
use hcoplan_repository::repo::Builds;

/// Which clusters to process, and where to find them.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A directory, a file of it, or `-` for a stream of documents on standard input.
    pub directory: Utf8PathBuf,
    /// The git revision of the directory; `None` for the working tree.
    pub revision: Option<String>,
    /// The name of this side, where it isn't the working tree.
    pub name: Option<String>,
    /// The release of every cluster, instead of their inventories'.
    pub release: Option<String>,
    /// How every HyperConverged is submitted where there is one already, instead of what the files say.
    pub update: Option<UpdateMethod>,
    /// The inventory of every cluster, instead of the repository's.
    pub inventory: Vec<Utf8PathBuf>,
    /// Only clusters whose names match one of these globs; empty = all.
    pub cluster: Vec<String>,
    /// Not those whose names match one of these.
    pub exclude: Vec<String>,
    /// Only a part of the clusters.
    pub shard: Option<Shard>,
    /// Whether to check an operator's bundle where there is no HyperConverged.
    pub bundles: bool,
    /// The configuration file, instead of the root's.
    pub config: Option<Utf8PathBuf>,
    /// The revision that configuration, baseline, suppressions and releases are read from.
    pub trust_base: Option<String>,
    /// What is asked to be built.
    pub builds: Builds,
    /// Whether to show which files were read, paired and skipped.
    pub show_files: bool,
    /// The number of clusters to process in parallel; `None` = one per core.
    pub jobs: Option<NonZeroUsize>,
}

impl Sources {
    /// Whether all that is known of the clusters comes from the files of the working tree.
    pub fn has_only_own_facts(&self) -> bool {
        self.release.is_none() && self.inventory.is_empty() && self.revision.is_none()
    }
}
