//! A repository that consists of one directory, or of its build.

use hcoplan_diagnostics::source::{self, Listing};

use super::build::Built;
use super::error::Error;
use super::scan::{FoundKind, scan};
use super::{Options, Repo};
use crate::prelude::*;

impl Repo {
    /// The repository of one directory: its files or, where it has one, its build with the source files; and facts
    /// about its cluster above the directory. Other manifests aren't part of it, and the configuration's entries for
    /// other clusters don't count.
    ///
    /// # Errors
    /// The tree can't be listed, or its configuration is invalid.
    pub fn of_part(
        tree: Arc<dyn Tree>,
        directory: &Utf8Path,
        built: Option<Built>,
        options: &mut Options,
    ) -> Result<Self, Error> {
        let part = ClusterTree {
            tree,
            directory: directory.to_owned(),
            inputs: built.iter().flat_map(|built| built.inputs.values()).flatten().cloned().collect(),
            is_plain: built.is_none(),
        };
        options.part = Some(directory.to_owned());
        options.built = built.map(Arc::new);
        Self::from_tree(Arc::new(part), options)
    }
}

/// A tree that only lists files about one directory's cluster.
struct ClusterTree {
    tree: Arc<dyn Tree>,
    directory: Utf8PathBuf,
    inputs: Vec<Utf8PathBuf>,
    /// Whether the directory's files are read as they are.
    is_plain: bool,
}

impl ClusterTree {
    fn is_about(&self, path: &Utf8Path) -> bool {
        path.starts_with(&self.directory) || path.parent().is_some_and(|parent| self.directory.starts_with(parent))
    }

    /// Whether a file has only facts about a cluster.
    fn is_statement(&self, path: &Utf8Path) -> bool {
        let found = scan(&*self.tree, path).found;
        let says = |what: FoundKind| matches!(what, FoundKind::Inventory(_) | FoundKind::Statement(_));
        !found.is_empty() && found.iter().all(|f| says(f.what))
    }
}

impl Tree for ClusterTree {
    fn list(&self, walk: &Walk) -> Result<Listing, source::Error> {
        let mut listing = self.tree.list(walk)?;
        let is_own = |path: &Utf8Path| self.is_plain && path.starts_with(&self.directory);
        listing.files.retain(|path| {
            is_own(path) || self.inputs.contains(path) || self.is_about(path) && self.is_statement(path)
        });
        listing.skipped.retain(|s| is_own(&s.path) || self.inputs.contains(&s.path));
        Ok(listing)
    }

    fn read(&self, path: &Utf8Path) -> Result<Vec<u8>, Unreadable> {
        self.tree.read(path)
    }

    fn check(&self, path: &Utf8Path) -> Result<(), Unreadable> {
        self.tree.check(path)
    }

    fn inner(&self) -> Option<&dyn Tree> {
        Some(&*self.tree)
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::Memory;

    use super::super::build::build_one;
    use super::*;

    #[test]
    fn checks_a_build_without_unused_files() {
        let manifest = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: kubevirt-hyperconverged, namespace: kubevirt-hyperconverged}\n";
        let inventory =
            "apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nmetadata: {name: a}\nspec: {release: '1.18'}\n";
        let tree: Memory = [
            ("base/hc.yaml", manifest),
            ("base/kustomization.yaml", "resources: [hc.yaml]\n"),
            ("clusters/a/kustomization.yaml", "resources: [../../base]\n"),
            ("clusters/a/stray.yaml", manifest),
            ("clusters/b/hc.yaml", manifest),
            ("clusters/inventory.yaml", inventory),
        ]
        .into_iter()
        .collect();
        let directory = Utf8Path::new("clusters/a");
        let printed = Some(manifest.as_bytes().to_vec());
        let built = build_one(&tree, ".".into(), directory, printed, 1000, &|| false);
        let (built, _) = built.expect("built").expect("there is a kustomization");
        let mut options = Options::default();
        let repo = Repo::of_part(Arc::new(tree), directory, Some(built), &mut options);
        let repo = repo.expect("opened");
        let names: Vec<&str> = repo.clusters().iter().map(|c| &**c.name()).collect();
        assert_eq!(names, ["clusters/a"]);
        let files = repo.clusters()[0].inventory_files();
        assert_eq!(files.len(), 1, "{files:?}");
        assert!(repo.problems().is_empty(), "{:?}", repo.problems());
    }
}
