//! Finds the objects whose sources are around a directory.

use super::Applied;
use crate::prelude::*;

/// The indexes of objects by the directories of their sources, also with links followed, so that none is compared with
/// each file: with 800 clusters and as many Applications that took three times as long.
#[derive(Debug, Default)]
pub(super) struct ByDirectory {
    pub(super) known: BTreeMap<Utf8PathBuf, Vec<usize>>,
    /// Those with sources whose directories aren't known.
    pub(super) elsewhere: Vec<usize>,
}

impl ByDirectory {
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Applied>) -> Self {
        let mut out = Self::default();
        for (index, applied) in all.enumerate() {
            for source in &applied.sources {
                match source.directory() {
                    Some(directory) => {
                        for own in BTreeSet::from([Some(directory), source.real.clone()]).into_iter().flatten() {
                            out.known.entry(own).or_default().push(index);
                        }
                    }
                    None => out.elsewhere.push(index),
                }
            }
        }
        out
    }

    /// Those of `all` with a source at or above a directory, or one whose directory isn't known.
    pub(super) fn around<'a, T>(&self, all: &'a [T], directory: &Utf8Path) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let above = directory.ancestors().filter_map(|above| self.known.get(above)).flatten();
        let indexes: BTreeSet<usize> = above.chain(&self.elsewhere).copied().collect();
        indexes.into_iter().filter_map(|index| all.get(index))
    }
}
