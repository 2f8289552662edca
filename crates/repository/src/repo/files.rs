//! The use of each file, for `--show-files`.

use super::scan::{FoundKind, FoundObject};
use crate::prelude::*;

/// A file and its use.
#[derive(Debug)]
pub struct FileUse {
    /// Its path, relative to the root.
    pub path: Arc<Utf8Path>,
    /// Its use.
    pub what: FileRole,
}

/// The use of a file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileRole {
    /// The configuration.
    #[error("configuration")]
    Configuration,
    /// Read, with these relevant contents.
    #[error("{0}")]
    Read(String),
    /// Read, without contents about HCO or its nodes.
    #[error("read, no HyperConverged or inventory in it")]
    Nothing,
    /// A kustomization names it as a patch.
    #[error("skipped: {of} names it as a patch")]
    Patch {
        /// The kustomization.
        of: Utf8PathBuf,
    },
    /// Skipped, with the reason.
    #[error("skipped: {0}")]
    Skipped(String),
}

/// The relevant contents of a file, as text: how many of each kind, or that it has some.
pub(super) fn contents(found: &[FoundObject]) -> String {
    /// Each with its name, and whether its objects are counted.
    static KINDS: Table<Vec<(FoundKind, bool, &str)>> = Table::of(include_str!("contents.json"));
    let part =
        |(kind, is_counted, name): &(FoundKind, bool, &str)| match found.iter().filter(|f| f.what == *kind).count() {
            0 => None,
            count if *is_counted && count > 1 => Some(format!("{count} × {name}")),
            _ => Some((*name).to_owned()),
        };
    let statement = |found: &FoundObject| match found.what {
        FoundKind::Statement(kind) => Some(format!("{kind:?}")),
        _ => None,
    };
    joined(KINDS.iter().filter_map(part).chain(found.iter().filter_map(statement)), ", ")
}

impl FileUse {
    /// Whether it was read.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.what, FileRole::Read(_) | FileRole::Nothing)
    }

    pub(super) fn skipped(path: &Utf8Path, why: &dyn fmt::Display) -> Self {
        Self { path: path.into(), what: FileRole::Skipped(why.to_string()) }
    }
}
