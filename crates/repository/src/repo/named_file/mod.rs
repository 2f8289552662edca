//! Reads files that the command line names: a change may have replaced them by links.

use hcoplan_diagnostics::source::{open_file, read_limited};

use super::error::Error;
use super::path_in_tree::PathInTree;
use super::trust::Trust;
use crate::prelude::*;

/// The bytes of a file that the command line names: from the trusted revision, if there is one and its repository has
/// the file, also through links. A file of the tree around `directory` is only read if its links stay there.
///
/// # Errors
/// It can't be read, or the revision lacks it.
pub fn read_named(directory: &Utf8Path, path: &Utf8Path, trust: &Trust) -> Result<Vec<u8>, Error> {
    if let Some(base) = trust.base()
        && let Some(bytes) = base.file(path)?
    {
        return Ok(bytes);
    }
    let failed = |why| Error::File(path.to_owned(), why);
    let opened = match PathInTree::of(directory, path) {
        Some(within) if within.by_name => {
            let tree = Directory::open(within.top, max_bytes())?;
            return Tree::read(&tree, &within.path).map_err(failed);
        }
        _ => open_file(path),
    };
    let (mut file, _) = opened.map_err(failed)?;
    read_limited(&mut file).map_err(|error| failed(error.into()))
}

#[cfg(test)]
mod tests;
