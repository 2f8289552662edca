//! Clusters whose paths are one path for file systems that fold names, such as those of macOS and Windows.

use unicode_normalization::UnicodeNormalization;

use super::problem::related;
use super::{ClusterRef, Repo};
use crate::prelude::*;

/// A path as such a file system compares it.
fn folded(path: &Utf8Path) -> String {
    path.as_str().nfc().collect::<String>().to_lowercase()
}

impl Repo {
    /// Reports clusters of which a checkout on such a file system keeps one.
    pub(super) fn report_folded_paths(&mut self) {
        let mut seen: BTreeMap<String, &ClusterRef> = BTreeMap::new();
        let mut found = Vec::new();
        for cluster in &self.clusters {
            let first = *seen.entry(folded(cluster.path())).or_insert(cluster);
            if first.path() == cluster.path() {
                continue;
            }
            let finding = Finding::new(
                &CLUSTER_NAME_TAKEN,
                format!("the paths of {} and {} differ in case or Unicode form only", first.name(), cluster.name()),
            );
            let finding = finding.warning().label("some file systems keep one of the two in a checkout");
            let [own, other] = [cluster, first].map(|cluster| self.named_at(cluster.object));
            found.push(related(finding.help("rename one of them"), own, other, "the other one"));
        }
        self.findings.extend(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_case_and_composed_characters() {
        assert_eq!(folded("cafe\u{301}/A".into()), folded("caf\u{e9}/a".into()));
        assert_ne!(folded("cafe/a".into()), folded("caf\u{e9}/a".into()));
    }
}
