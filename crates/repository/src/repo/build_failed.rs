//! Builds that fail, and the rules about them.

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::finding::Finding;

/// A build that failed.
#[derive(Debug, Clone)]
pub struct FailedBuild {
    /// The directory that would name its cluster.
    pub directory: Utf8PathBuf,
    /// The finding that reports it.
    pub finding: Finding,
}

/// The name of a cluster that is built in a directory.
pub(super) fn name_of(directory: &Utf8Path) -> &str {
    match directory.as_str() {
        "" => ".",
        name => name,
    }
}
