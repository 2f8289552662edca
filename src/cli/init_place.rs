//! Where `hcoplan init` puts a cluster's inventory, so that nobody applies it.

use camino::{Utf8Path, Utf8PathBuf};

use crate::repo::{Appliers, ClusterRef, Pairing, Repo, Use};

/// The directory for inventories that may not lie beside their HyperConverged, at the root.
pub(super) const ELSEWHERE: &str = ".hcoplan";

/// A place for a cluster's inventory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen<'c> {
    /// The cluster has one.
    Nothing,
    /// In this directory: the HyperConverged's, or that of its nodes.
    Beside(&'c Utf8Path),
    /// In [`ELSEWHERE`], and why.
    Elsewhere(String),
    /// There is no place that the configuration could name, and why.
    Nowhere(String),
}

/// Chooses the place of a cluster's inventory.
pub(super) fn choose<'c>(repo: &Repo, appliers: &Appliers, cluster: &'c ClusterRef) -> Chosen<'c> {
    let Some(directory) = missing(repo, cluster) else {
        return Chosen::Nothing;
    };
    let Some(why) = applied(repo, appliers, cluster, directory) else {
        return Chosen::Beside(directory);
    };
    let holds = |f: &&crate::repo::FileUse| *f.path == *cluster.path();
    let several = repo
        .files()
        .iter()
        .find(holds)
        .is_some_and(|f| matches!(&f.what, Use::Read(holds) if holds.hyperconvergeds > 1));
    match several {
        true => Chosen::Nowhere(format!(
            "no inventory for {}: {why}, and hcoplan.yaml can't tell its HyperConvergeds apart",
            cluster.path()
        )),
        false => Chosen::Elsewhere(why),
    }
}

/// The name of an inventory in [`ELSEWHERE`] that nothing else has.
pub(super) fn free_name(cluster: &ClusterRef, is_taken: impl Fn(&Utf8Path) -> bool) -> Utf8PathBuf {
    let name = match cluster.name() {
        "." => "inventory",
        name => name,
    };
    let number = |n: u32| match n {
        1 => format!("{ELSEWHERE}/{name}.yaml"),
        n => format!("{ELSEWHERE}/{name}-{n}.yaml"),
    };
    let mut names = (1..).map(|n| Utf8PathBuf::from(number(n)));
    names.find(|path| !is_taken(path)).unwrap_or_default()
}

/// Why an inventory may not be put into a directory; `None` where it may.
fn applied(
    repo: &Repo,
    appliers: &Appliers,
    cluster: &ClusterRef,
    directory: &Utf8Path,
) -> Option<String> {
    if let Some(by) = appliers.of(directory) {
        return Some(by.to_string());
    }
    // A kustomization builds what it names; nodes and other inventories aren't applied, either.
    let kept = |c: &ClusterRef| c.has_inventory() && *c.pairing() == Pairing::Beside;
    let is_safe = appliers.is_kustomization(directory)
        || matches!(cluster.pairing(), Pairing::Beside | Pairing::Above(_))
        || repo.clusters().iter().any(kept);
    (!is_safe).then(|| "whoever applies the directory as it is would apply it, too".to_owned())
}

/// Where a cluster's ClusterInventory is missing: beside its HyperConverged, or beside the nodes of a
/// dump that no other cluster has.
fn missing<'c>(repo: &Repo, cluster: &'c ClusterRef) -> Option<&'c Utf8Path> {
    if cluster.has_inventory() {
        return None;
    }
    match cluster.pairing() {
        Pairing::None | Pairing::Beside | Pairing::Machines => Some(cluster.directory()),
        Pairing::Above(directory) => {
            let shares = |c: &&ClusterRef| c.inventory_files() == cluster.inventory_files();
            let alone = repo.clusters().iter().filter(shares).count() == 1;
            alone.then_some(directory.as_path())
        }
        Pairing::Configured | Pairing::Given => None,
    }
}
