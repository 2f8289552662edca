//! Where `hcoplan init` puts a cluster's inventory, so that nobody applies it.

use std::collections::HashSet;

use camino::{Utf8Path, Utf8PathBuf};

use crate::repo::{Appliers, ClusterRef, FileRole, Pairing, Repo};

/// The directory for inventories that may not lie beside their HyperConverged, at the root.
pub(super) const ELSEWHERE: &str = ".hcoplan";

/// A place for a cluster's inventory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chosen<'c> {
    /// The cluster has one.
    Nothing,
    /// In this directory, the HyperConverged's.
    Beside(&'c Utf8Path),
    /// In [`ELSEWHERE`], and why.
    Elsewhere(String),
    /// There is no place that the configuration could name, and why.
    Nowhere(String),
}

/// Chooses the place of a cluster's inventory.
///
/// `kept` are the directories below which an inventory lies beside its HyperConverged: see [`keep_inventories`].
pub(super) fn choose<'c>(
    repo: &Repo,
    appliers: &Appliers,
    kept: &HashSet<Utf8PathBuf>,
    cluster: &'c ClusterRef,
) -> Chosen<'c> {
    if cluster.has_inventory() || matches!(cluster.pairing(), Pairing::Configured | Pairing::Given) {
        return Chosen::Nothing;
    }
    let directory = cluster.directory();
    let Some(why) = applied(appliers, kept, cluster) else {
        return Chosen::Beside(directory);
    };
    let holds = |f: &&crate::repo::FileUse| *f.path == *cluster.path();
    let several = repo
        .files_in(directory)
        .find(holds)
        .is_some_and(|f| matches!(&f.what, FileRole::Read(holds) if holds.hyperconvergeds > 1));
    if several {
        Chosen::Nowhere(format!(
            "no inventory for {}: {why}, and hcoplan.yaml can't tell its HyperConvergeds apart",
            cluster.path()
        ))
    } else {
        Chosen::Elsewhere(why)
    }
}

/// The directories above clusters that have an `inventory.yaml` beside their HyperConverged.
pub(super) fn keep_inventories(repo: &Repo) -> HashSet<Utf8PathBuf> {
    let keeps = |c: &&ClusterRef| {
        let mut files = c.inventory_files().iter();
        let own = files.any(|f| f.file_name() == Some("inventory.yaml"));
        own && c.has_inventory() && *c.pairing() == Pairing::Beside
    };
    let above = |c: &ClusterRef| c.directory().parent().map(Utf8Path::to_path_buf);
    repo.clusters().iter().filter(keeps).filter_map(above).collect()
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

/// Why an inventory may not be put beside its HyperConverged; `None` where it may.
fn applied(appliers: &Appliers, kept: &HashSet<Utf8PathBuf>, cluster: &ClusterRef) -> Option<String> {
    let directory = cluster.directory();
    if let Some(by) = appliers.of(directory) {
        return Some(by.to_string());
    }
    if let Pairing::Above(_) = cluster.pairing() {
        return Some("hcoplan.yaml names its nodes, which lie above it, with it".to_owned());
    }
    // A kustomization builds what it names. That a dump of nodes lies there says little: what applies YAML
    // may leave its JSON out. An inventory of the same name next door is as good as this one.
    let has_one_next_door = directory.parent().is_some_and(|above| kept.contains(above));
    let is_safe = appliers.is_kustomization(directory) || has_one_next_door;
    (!is_safe).then(|| "whoever applies the directory as it is would apply it, too".to_owned())
}
