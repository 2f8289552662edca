//! Reports clusters with a second HyperConverged, or with none although HCO is installed.

use super::Repo;
use super::objects::{ClusterRef, ObjectRef, Objects, Pairing};
use super::paths::parent;
use super::problem::related;
use crate::prelude::*;

/// HyperConvergeds below another one whose inventory they share, unless the configuration names them.
pub(super) fn second_hyperconvergeds(
    repo: &Repo,
    clusters: &[ClusterRef],
    claimed: &BTreeSet<ObjectRef>,
) -> Vec<Finding> {
    let found = clusters.iter().filter(|c| !claimed.contains(&c.object));
    let found = found.filter_map(|lower| {
        let Pairing::Above(level) = lower.pairing() else {
            return None;
        };
        let upper = clusters.iter().find(|c| c.directory() == level)?;
        let source = |cluster: &ClusterRef| repo.named_at(cluster.object).map(|place| place.file.path().to_owned());
        if source(lower).is_some_and(|file| file != *lower.path() && source(upper) == Some(file)) {
            // Two builds of one HyperConverged are of two clusters.
            return None;
        }
        let message = format!("the cluster `{}` has a second HyperConverged", upper.name());
        let finding = Finding::new(&HCO_MULTIPLE_CRS, message)
            .label("shares the other one's inventory")
            .help("delete one; if they are two clusters, give this one an inventory of its own");
        Some(related(finding, repo.named_at(lower.object), repo.named_at(upper.object), "the first one"))
    });
    found.collect()
}

/// Subscriptions for HCO in clusters without a HyperConverged; `is_level` returns whether a directory has an inventory.
pub(super) fn subscriptions_without_hyperconverged(
    repo: &Repo,
    objects: &Objects,
    is_level: impl Fn(&Utf8Path) -> bool,
) -> Vec<Finding> {
    let missing = objects.subscriptions().filter(|subscription| {
        let directory = parent(objects.path(*subscription));
        let mut above = directory.ancestors();
        let root = above.find(|d| is_level(d)).unwrap_or(Utf8Path::new(""));
        let mut all = objects.hyperconvergeds.iter();
        let is_unbuilt = objects.unbuilt.iter().chain(&objects.unrendered).any(|d| d.starts_with(root));
        !is_unbuilt && !all.any(|o| objects.path(*o).starts_with(root))
    });
    let finding = |subscription: ObjectRef| {
        Some(
            Finding::new(&HCO_CR_MISSING, "HCO is installed, but no HyperConverged is declared")
                .label("installs the operator, which deploys nothing by itself")
                .help("declare a HyperConverged in the operator's namespace")
                .at(repo.named_at(subscription)?),
        )
    };
    missing.filter_map(finding).collect()
}
