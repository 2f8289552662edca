//! Builds that fail, and the rules about them.

use crate::prelude::*;

/// A build that failed.
#[derive(Debug)]
pub struct FailedBuild {
    /// The directory that would name its cluster.
    pub directory: Utf8PathBuf,
    /// The finding that reports it.
    pub finding: Finding,
}

/// The name of a directory's cluster.
pub(super) fn name_of(tree: &dyn Tree, directory: &Utf8Path) -> ClusterName {
    match directory.as_str() {
        "" => ClusterName::of_root(tree.root_directory().as_deref().and_then(Utf8Path::file_name).unwrap_or(STDIN)),
        name => name.into(),
    }
}

/// The directory's name of a root that is none: standard input.
const STDIN: &str = "stdin";
