//! The clusters to process and their sources.

use crate::prelude::*;
use hcoplan_planner::lifecycle::UpdateMethod;

/// The clusters to process and their sources.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A directory, a file, or `-` for documents on standard input.
    pub directory: Utf8PathBuf,
    /// Whether the directory is compared with another one; then nothing outside of it belongs to it but what it refers to.
    pub is_compared: bool,
    /// The files and directories of it that choose the clusters; empty means all.
    pub files: Vec<Utf8PathBuf>,
    /// The git revision of the directory; `None` for the working tree.
    pub revision: Option<String>,
    /// The name of this side, unless it is the working tree.
    pub name: Option<String>,
    /// The release of every cluster, overriding inventories.
    pub release: Option<String>,
    /// The update method of every HyperConverged, overriding files.
    pub update: Option<UpdateMethod>,
    /// The inventory of every cluster, overriding the repository's.
    pub inventory: Vec<Utf8PathBuf>,
    /// Only clusters that match one of these globs; empty means all.
    pub cluster: Vec<String>,
    /// Exclude clusters that match one of these globs.
    pub exclude: Vec<String>,
    /// Whether to examine an operator's bundle if there is no HyperConverged.
    pub bundles: bool,
    /// The configuration file, overriding the root's.
    pub config: Option<Utf8PathBuf>,
    /// The revision to read configuration, baseline, suppressions and releases from.
    pub trust_base: Option<String>,
    /// The requested builds.
    pub builds: Builds,
    /// Whether to list the files read, paired and skipped.
    pub show_files: bool,
    /// Number of clusters processed in parallel; `None` means one per core.
    pub jobs: Option<NonZeroUsize>,
}

impl Sources {
    /// Whether all facts about clusters come from files of the working tree.
    pub fn has_only_own_facts(&self) -> bool {
        self.release.is_none() && self.inventory.is_empty() && self.revision.is_none()
    }
}
