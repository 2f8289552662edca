//! Finds what kustomizations name, to decide which files are sources.
//!
//! A file is a patch instead of a HyperConverged only if a kustomization that can read it names it as one and has
//! something to patch; else a line in any kustomization could hide a manifest.

use super::{Entry, Kustomization, paths_in};
use crate::prelude::*;
use crate::repo::paths::{parent, reached};

/// The files that a kustomization names, relative to the root.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its patch files.
    pub(crate) patches: Vec<Utf8PathBuf>,
    /// Files and directories that it uses as resources.
    pub(crate) resources: Vec<Utf8PathBuf>,
    /// Whether it has resources outside the root.
    pub(super) remote: bool,
    /// Whether it is a component, which only another kustomization uses.
    pub(super) component: bool,
}

impl Named {
    /// The files that a kustomization names.
    pub(crate) fn of(kustomization: &Kustomization) -> Self {
        let patches = kustomization.entries.iter().filter(|entry| entry.what.is_patch()).flat_map(Entry::files);
        let mut out = Self {
            patches: patches.filter_map(|p| kustomization.file(p)).collect(),
            component: kustomization.is_component,
            ..Self::default()
        };
        for (_, resource) in kustomization.bases() {
            match kustomization.file(resource) {
                Some(path) if !resource.contains("://") => out.resources.push(path),
                _ => out.remote = true,
            }
        }
        out
    }
}

/// All kustomizations of a repository, by their paths.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles<'r> {
    pub(super) all: BTreeMap<&'r Utf8Path, (&'r Arc<Utf8Path>, &'r Named)>,
}

impl<'r> NamedFiles<'r> {
    /// Indexes kustomizations by their paths.
    pub(crate) fn new(all: impl Iterator<Item = (&'r Arc<Utf8Path>, &'r Named)>) -> Self {
        Self { all: all.map(|(path, named)| (&**path, (path, named))).collect() }
    }

    /// The files that are only patches, each with the first kustomization that names it. `has_hyperconverged`,
    /// `has_inventory` and `is_readable` classify paths.
    ///
    /// kustomize reads patches at or below its own directory only. A file in a directory with its own kustomization or
    /// inventory belongs to that one, and a file that any kustomization names as a resource is an object. If what a
    /// kustomization patches isn't in the repository, only files next to it are patches, such as those of unused
    /// components.
    pub(crate) fn patches(
        &self,
        has_hyperconverged: impl Fn(&Utf8Path) -> bool,
        has_inventory: impl Fn(&Utf8Path) -> bool,
        is_readable: impl Fn(&Utf8Path) -> bool,
    ) -> BTreeMap<Utf8PathBuf, Arc<Utf8Path>> {
        let named = self.all.values().flat_map(|(_, n)| &n.resources);
        let resources: BTreeSet<&Utf8PathBuf> = named.collect();
        let local = self.building_on(|n| n.resources.iter().any(|r| has_hyperconverged(r)));
        // A resource in another repository may look like a path.
        let missing = |r: &Utf8PathBuf| !is_readable(r) && self.at(r).next().is_none();
        let remote = self.building_on(|n| n.remote || n.resources.iter().any(missing));
        let local = self.with_components(local);
        let remote = self.with_components(remote.into_iter().chain(self.unused_components()));
        let mut out: BTreeMap<Utf8PathBuf, Arc<Utf8Path>> = BTreeMap::new();
        for (path, named) in self.all.values() {
            let directory = parent(path);
            let own = |patch: &&Utf8PathBuf| {
                let mut between = patch.ancestors().skip(1).take_while(|d| *d != directory);
                let is_adjacent = remote.contains(&***path) && patch.parent() == Some(directory);
                (is_adjacent || local.contains(&***path) && patch.starts_with(directory))
                    && !resources.contains(patch)
                    && !between.any(|d| has_inventory(d) || self.at(d).next().is_some())
            };
            for patch in named.patches.iter().filter(own) {
                out.entry(patch.clone()).or_insert_with(|| Arc::clone(path));
            }
        }
        out
    }

    /// The kustomizations in a directory.
    pub(crate) fn at(&self, directory: &Utf8Path) -> impl Iterator<Item = &'r Utf8Path> {
        let found = paths_in(directory).map(|p| self.all.get_key_value(&*p).map(|(path, _)| *path));
        found.into_iter().flatten()
    }

    /// The kustomizations that match, and those that build on them.
    fn building_on(&self, matches: impl Fn(&Named) -> bool) -> BTreeSet<&'r Utf8Path> {
        let mut outer: BTreeMap<&Utf8Path, Vec<&'r Utf8Path>> = BTreeMap::new();
        for (&path, (_, named)) in &self.all {
            for inner in named.resources.iter().flat_map(|resource| self.at(resource)) {
                outer.entry(inner).or_default().push(path);
            }
        }
        let matching = self.all.iter().filter(|(_, (_, named))| matches(named)).map(|(path, _)| *path);
        reached(matching, |path| outer.get(path).into_iter().flatten().copied())
    }

    /// Some kustomizations, and their components recursively: components patch what their users build.
    fn with_components(&self, some: impl IntoIterator<Item = &'r Utf8Path>) -> BTreeSet<&'r Utf8Path> {
        reached(some, |path| {
            let resources = self.all.get(path).into_iter().flat_map(|(_, named)| &named.resources);
            resources.flat_map(|r| self.at(r)).filter(|inner| self.is_component(inner))
        })
    }

    fn is_component(&self, path: &Utf8Path) -> bool {
        let named = self.all.get(path);
        named.is_some_and(|(_, named)| named.component)
    }

    /// The components that no kustomization names.
    fn unused_components(&self) -> Vec<&'r Utf8Path> {
        let resources = self.all.values().flat_map(|(_, named)| &named.resources);
        let used: BTreeSet<&Utf8Path> = resources.flat_map(|r| self.at(r)).collect();
        let unused = self.all.keys().copied().filter(|path| !used.contains(path));
        unused.filter(|path| self.is_component(path)).collect()
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::SourceFile;

    use super::*;

    fn patches(files: &[(&str, &str)]) -> Vec<String> {
        let kustomizations = files.iter().filter(|(path, _)| path.ends_with("kustomization.yaml"));
        let read = kustomizations.map(|(path, text)| {
            let named = Named::of(&Kustomization::read(&SourceFile::new(*path, *text)));
            (Utf8Path::new(path).into(), named)
        });
        let read: Vec<(Arc<Utf8Path>, Named)> = read.collect();
        let has = |path: &Utf8Path, what: &str| files.iter().any(|(p, text)| *p == path.as_str() && *text == what);
        let has_hyperconverged = |path: &Utf8Path| has(path, "HyperConverged");
        let has_inventory = |directory: &Utf8Path| has(&directory.join("inventory.yaml"), "inventory");
        let all = NamedFiles::new(read.iter().map(|(p, n)| (p, n)));
        let is_readable = |path: &Utf8Path| files.iter().any(|(p, _)| *p == path.as_str());
        all.patches(has_hyperconverged, has_inventory, is_readable).into_keys().map(String::from).collect()
    }

    #[test]
    fn recognises_patches_of_a_kustomization() {
        let hc = "HyperConverged";
        let base = ("base/hc.yaml", hc);
        let below = ("base/kustomization.yaml", "resources: [hc.yaml]\n");
        let over = "resources: [../base]\npatches: [{path: p.yaml}]\n";
        let own = [base, below, ("over/kustomization.yaml", over), ("over/p.yaml", hc)];
        assert_eq!(patches(&own), ["over/p.yaml"]);
        let remote = "resources: [example.com/x]\npatchesStrategicMerge: [./p.yaml]\n";
        assert_eq!(patches(&[("kustomization.yaml", remote), ("p.yaml", hc)]), ["p.yaml"]);
    }

    #[test]
    fn a_components_patch_applies_to_the_resources_of_its_users() {
        let hc = "HyperConverged";
        let inner = "kind: Component\npatches: [{path: p.yaml}]\n";
        let outer = "kind: Component\ncomponents: [../y]\npatchesStrategicMerge: [p.yaml]\n";
        let (mut files, over) = (
            vec![
                ("base/hc.yaml", hc),
                ("base/kustomization.yaml", "resources: [hc.yaml]\n"),
                ("components/x/kustomization.yaml", outer),
                ("components/x/p.yaml", hc),
                ("components/y/kustomization.yaml", inner),
                ("components/y/p.yaml", hc),
            ],
            "resources: [../base]\ncomponents: [../components/x]\n",
        );
        let both = ["components/x/p.yaml", "components/y/p.yaml"];
        // x, which is unused here, is for another repository.
        assert_eq!(patches(&files), both);
        files.push(("over/kustomization.yaml", over));
        assert_eq!(patches(&files), both);
        // Its user's resource isn't a HyperConverged, so there is nothing to patch.
        files[0].1 = "ConfigMap";
        assert!(patches(&files).is_empty(), "{:?}", patches(&files));
    }

    #[test]
    fn an_unrelated_kustomization_hides_nothing() {
        let hc = "HyperConverged";
        for files in [
            // kustomize doesn't read it.
            vec![
                ("a/kustomization.yaml", "resources: [hc.yaml]\npatches: [{path: ../b/hc.yaml}]\n"),
                ("a/hc.yaml", hc),
            ],
            // Nothing to patch.
            vec![("kustomization.yaml", "patches: [{path: b/hc.yaml}]\n")],
            vec![("kustomization.yaml", "resources: ['https://example.com/x']\npatches: [{path: b/hc.yaml}]\n")],
            vec![("kustomization.yaml", "resources: [b]\npatches: [{path: b/hc.yaml}]\n")],
            // A file of another kustomization, and of another cluster.
            vec![
                ("kustomization.yaml", "resources: [hc.yaml]\npatches: [{path: b/hc.yaml}]\n"),
                ("hc.yaml", hc),
                ("b/kustomization.yaml", "resources: [hc.yaml]\n"),
            ],
            vec![
                ("kustomization.yaml", "resources: [hc.yaml]\npatches: [{path: b/hc.yaml}]\n"),
                ("hc.yaml", hc),
                ("b/inventory.yaml", "inventory"),
            ],
        ] {
            let files: Vec<_> = files.into_iter().chain([("b/hc.yaml", hc)]).collect();
            assert!(patches(&files).is_empty(), "{files:?}");
        }
    }

    #[test]
    fn stops_at_circular_references() {
        let files = [
            ("a/kustomization.yaml", "resources: [../b]\npatches: [{path: p.yaml}]\n"),
            ("b/kustomization.yaml", "resources: [../a, hc.yaml]\n"),
            ("b/hc.yaml", "HyperConverged"),
        ];
        assert_eq!(patches(&files), ["a/p.yaml"]);
    }
}
