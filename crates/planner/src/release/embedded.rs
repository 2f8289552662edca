//! The compiled-in releases: the directories of `schemas/releases` and `schemas/behaviour`.

use super::Files;
use crate::prelude::*;
use crate::release::Release;
use hcoplan_schemas::RELEASES;

/// Names of the releases, oldest first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    RELEASES.iter().map(|(name, _)| *name)
}

/// The release with this name, parsed once.
pub(super) fn release(name: &str) -> Option<Arc<Release>> {
    static CELLS: LazyLock<Vec<OnceLock<Arc<Release>>>> =
        LazyLock::new(|| RELEASES.iter().map(|_| OnceLock::new()).collect());
    let index = names().position(|n| n == name)?;
    let (cell, (name, texts)) = (CELLS.get(index)?, RELEASES.get(index)?);
    let release = cell.get_or_init(|| {
        let mut files = Files::new();
        for (name, text) in *texts {
            files.insert(*name, *text);
        }
        Arc::new(Release::named(name, files))
    });
    Some(Arc::clone(release))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_release_is_named_like_its_directory() {
        for name in names() {
            let release = release(name).expect("listed");
            assert_eq!(release.tables().name, name);
        }
        assert!(release("0.1").is_none());
    }

    #[test]
    fn no_key_is_both_imported_and_written() {
        let schemas = hcoplan_testing::root().join("schemas");
        let mut compared = 0;
        for name in names() {
            let written = schemas.join("behaviour").join(name);
            for entry in std::fs::read_dir(written).expect("a directory for each release") {
                let path = entry.expect("readable").path();
                let imported = schemas.join("releases").join(name);
                let imported = imported.join(path.file_name().expect("a file"));
                if !imported.exists() {
                    continue;
                }
                let keys = |path: &std::path::Path| -> BTreeMap<String, Value> {
                    let text = std::fs::read_to_string(path).expect("readable");
                    serde_json::from_str(&text).expect("an object")
                };
                let (one, other) = (keys(&imported), keys(&path));
                let both: Vec<_> = one.keys().filter(|key| other.contains_key(*key)).collect();
                assert!(both.is_empty(), "{}: {both:?}", path.display());
                compared += 1;
            }
        }
        assert!(compared >= 4 * names().count(), "{compared}");
    }
}
