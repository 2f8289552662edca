//! The releases that are compiled in: the directories of `schemas/releases`.

use std::sync::{Arc, LazyLock, OnceLock};

use hcoplan_schemas::RELEASES;

use super::{Files, Release};

/// Oldest first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RELEASES.iter().map(|(name, _)| *name)
}

/// The release with this name, parsed once.
pub(super) fn release(name: &str) -> Option<Arc<Release>> {
    static CELLS: LazyLock<Vec<OnceLock<Arc<Release>>>> =
        LazyLock::new(|| RELEASES.iter().map(|_| OnceLock::new()).collect());
    let index = names().position(|n| n == name)?;
    let (cell, (name, given)) = (CELLS.get(index)?, RELEASES.get(index)?);
    let release = cell.get_or_init(|| {
        let mut files = Files::new();
        for (name, text) in *given {
            files.insert(*name, *text);
        }
        Arc::new(Release::named(name, files))
    });
    Some(Arc::clone(release))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_whole_and_says_the_name_of_its_directory() {
        for name in names() {
            let release = release(name).expect("listed");
            release.check().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(release.tables().name, name);
        }
        assert!(release("0.1").is_none());
    }
}
