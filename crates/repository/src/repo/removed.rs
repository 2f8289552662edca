//! HyperConvergeds that a change removes or hides.

use super::open::configuration;
use super::paths::{in_root, matches_any};
use super::{ClusterRef, Repo};
use crate::prelude::*;

/// The clusters of `before` that `after` lacks, among those chosen by name. A cluster whose build failed is not
/// removed, and is reported as failed.
pub fn removed(before: &Repo, after: &Repo, is_selected: impl Fn(&ClusterName) -> bool) -> Vec<Finding> {
    let names =
        |repo: &'_ Repo| -> BTreeSet<ClusterName> { repo.clusters().iter().map(|c| c.name().clone()).collect() };
    let (old, new) = (names(before), names(after));
    let missing = before.clusters().iter();
    let missing: Vec<&ClusterRef> = missing.filter(|c| !new.contains(c.name()) && is_selected(c.name())).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let added = after.clusters().iter().filter(|c| !old.contains(c.name()));
    let added: Vec<_> = added.filter_map(|c| after.hyperconverged(c).ok()).collect();
    let moved = |cluster: &ClusterRef| {
        let was = before.hyperconverged(cluster);
        was.is_ok_and(|was| added.contains(&was))
    };
    let missing = missing.iter().filter(|c| after.not_built_here(c).is_none());
    missing.filter(|c| !moved(c)).map(|c| removed_finding(before, after, c)).collect()
}

impl Repo {
    /// Whether an entry of the tree's own `hcoplan.yaml`, trusted or not, names a cluster, perhaps of another revision.
    fn names(&self, cluster: &ClusterRef) -> bool {
        let own = configuration(&*self.tree, None);
        let paths = own.iter().flat_map(|own| &own.clusters).filter_map(|entry| in_root(&entry.path.value));
        paths.into_iter().any(|path| path == cluster.named_path() || path == cluster.directory())
    }

    /// The pattern of `ignore` in `hcoplan.yaml` that excludes a cluster of another revision.
    pub fn ignoring(&self, cluster: &ClusterRef) -> Option<&Location> {
        let mut patterns = self.config().ignore.iter();
        patterns.find(|pattern| matches_any(&pattern.value, cluster.path())).map(|pattern| &pattern.place)
    }
}

/// The help for a cluster whose entry was removed with it: the change says that it is intended.
const INTENDED: &str = "hcoplan.yaml has no entry for it any more, so it is intended; restore both if it isn't";

/// The finding that a cluster's HyperConverged isn't found any more, or is ignored.
pub fn removed_finding(before: &Repo, after: &Repo, cluster: &ClusterRef) -> Finding {
    let name = cluster.name();
    let appliers = before.applying(cluster);
    let gone = appliers.iter().find(|old| after.gitops().same(old, before.gitops()).is_none());
    let left = gone.and_then(|old| before.left(after, old, cluster, None));
    let is_named = before.names(cluster);
    // A file that is only hidden, or not applied any more, still has the cluster.
    let is_there = after.files_below(cluster.named_path()).next().is_some();
    let ignored = after.ignoring(cluster);
    let is_intended = is_named && ignored.is_none() && !after.names(cluster) && !is_there;
    let finding = match (ignored, left) {
        (Some(pattern), _) => {
            let message = format!("hcoplan.yaml ignores the HyperConverged of cluster {name}");
            Finding::new(&HCO_REMOVED, message)
                .label("the cluster keeps it, and nothing checks it")
                .help("remove the pattern from `ignore`")
                .related(pattern.clone(), "this pattern")
        }
        (None, Some(left)) => left.finding(before, cluster, None),
        (None, None) => {
            Finding::new(&HCO_REMOVED, format!("the HyperConverged of cluster {name} is not found any more"))
                .label("it was here before the change")
                .help(if is_named {
                    "restore it; if its removal is intended, remove its entry from hcoplan.yaml, too"
                } else {
                    "restore it; if its removal is intended, pass `--ignore hco-removed`"
                })
        }
    };
    let finding = if is_intended { finding.warning().help(INTENDED) } else { finding };
    let location = finding.location.clone().or_else(|| before.named_at(cluster.object));
    Finding { location, cluster: Some(name.clone()), ..finding }
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::Memory;

    use super::*;
    use crate::repo::Options;

    const HC: &str = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\n\
                      metadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\n";

    fn repo(files: &[(&str, &str)]) -> Repo {
        let tree: Memory = files.iter().map(|(p, t)| (*p, *t)).collect();
        Repo::from_tree(Arc::new(tree), &Options::default()).expect("a repository")
    }

    fn messages(before: &Repo, after: &Repo) -> Vec<String> {
        let line = |f: Finding| {
            let place = f.location.expect("a place");
            let at = place.start();
            format!("{}:{} {}", place.file.path(), at.line, f.message)
        };
        let found = removed(before, after, |name| **name != *"unasked");
        found.into_iter().map(line).collect()
    }

    #[test]
    fn reports_removed_clusters_but_not_moved_ones() {
        let other = format!("{HC}spec: {{defaultCPUModel: x}}\n");
        let before = repo(&[("a/hc.yaml", HC), ("b/hc.yaml", &other), ("unasked/hc.yaml", &other)]);
        let missing = ["a/hc.yaml:3 the HyperConverged of cluster a is not found any more"];
        assert_eq!(messages(&before, &repo(&[("b/new.yaml", HC)])), missing);
        assert_eq!(messages(&before, &repo(&[("b/hc.yaml", HC), ("c/d/hc.yaml", HC)])), [""; 0]);
        let edited = repo(&[("b/hc.yaml", HC), ("c/hc.yaml", &other)]);
        assert_eq!(messages(&before, &edited), missing);
        assert_eq!(messages(&before, &before), [""; 0]);
        let ignored = repo(&[("a/hc.yaml", HC), ("b/hc.yaml", &other), ("hcoplan.yaml", "ignore: [a]\n")]);
        assert_eq!(messages(&before, &ignored), ["a/hc.yaml:3 hcoplan.yaml ignores the HyperConverged of cluster a"]);
    }

    #[test]
    fn removed_entry_says_that_the_removal_is_intended() {
        let other = format!("{HC}spec: {{defaultCPUModel: x}}\n");
        let severity = |entries: [&str; 2]| {
            let [old, new] = entries.map(|entry| format!("clusters: [{{path: b/hc.yaml}}{entry}]\n"));
            let before = repo(&[("hcoplan.yaml", &old), ("a/hc.yaml", HC), ("b/hc.yaml", &other)]);
            let after = repo(&[("hcoplan.yaml", &new), ("b/hc.yaml", &other)]);
            removed(&before, &after, |_| true)[0].severity
        };
        let entry = ", {path: a, release: '1.18'}";
        assert_eq!(severity([entry, ""]), Severity::Warning);
        assert_eq!(severity([entry, entry]), Severity::Error);
        assert_eq!(severity(["", ""]), Severity::Error, "nothing says so");
        let old = format!("clusters: [{}]\n", entry.trim_start_matches(", "));
        let before = repo(&[("hcoplan.yaml", &old), ("a/hc.yaml", HC)]);
        let hidden = removed(&before, &repo(&[("a/hc.yaml", "kind: Other\n")]), |_| true);
        assert_eq!(hidden[0].severity, Severity::Error, "its file is there");
    }
}
