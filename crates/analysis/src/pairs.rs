//! Pairs the clusters of two sides.

use crate::prelude::*;

/// A cluster on one or both sides.
#[derive(Debug)]
pub struct Pair<'a> {
    /// Its name on the side after, else on the side before.
    pub name: ClusterName,
    /// On the side before, if it exists there.
    pub before: Option<&'a ClusterRef>,
    /// On the side after.
    pub after: After<'a>,
}

/// A cluster's state on the side after.
#[derive(Debug, Clone, Copy)]
pub enum After<'a> {
    /// It exists.
    Cluster(&'a ClusterRef),
    /// It exists but a file can't be parsed or built, as the finding reports.
    NotPlanned(&'a Finding),
    /// It doesn't exist.
    Nothing,
}

impl<'a> Pair<'a> {
    /// A cluster without a side before.
    pub fn new(after: &'a ClusterRef) -> Self {
        Self { name: after.name().clone(), before: None, after: After::Cluster(after) }
    }

    /// A pair of clusters with any names.
    pub fn of(before: &'a ClusterRef, after: &'a ClusterRef) -> Self {
        Self { before: Some(before), ..Self::new(after) }
    }
}

/// The clusters of a repository by name, including those that can't be planned and whose finding is selected.
pub fn entries(repo: &Repo, is_meant: impl Fn(&Finding) -> bool) -> Vec<Pair<'_>> {
    let mut out: Vec<Pair<'_>> = repo.clusters().iter().map(Pair::new).collect();
    let names: BTreeSet<&ClusterName> = repo.clusters().iter().map(ClusterRef::name).collect();
    for (name, finding) in repo.not_planned() {
        if is_meant(finding) && !names.contains(&name) {
            out.push(Pair { name, before: None, after: After::NotPlanned(finding) });
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// Pairs clusters by name, then those that the same controllers' objects apply, then moved ones: those with the same
/// HyperConverged or the same inventory `metadata.name`.
pub fn pairs<'a>(before: (&'a Repo, &[&'a ClusterRef]), after: (&'a Repo, Vec<Pair<'a>>)) -> Vec<Pair<'a>> {
    let mut old: BTreeMap<&ClusterName, &ClusterRef> = before.1.iter().map(|c| (c.name(), *c)).collect();
    let mut out = Vec::new();
    let mut new = Vec::new();
    for pair in after.1 {
        match (old.remove(&pair.name), pair.after) {
            (None, After::Cluster(cluster)) => new.push(cluster),
            (was, _) => out.push(Pair { before: was, ..pair }),
        }
    }
    let identity = |repo: &Repo, cluster: &ClusterRef| -> Option<(Option<String>, String)> {
        let loaded = repo.load(cluster).ok()?;
        let name = loaded.inventory.inventory.name.clone();
        Some((name, loaded.json.to_string()))
    };
    // A moved cluster is removed on one side and added on the other.
    let gone: Vec<_> =
        if new.is_empty() { Vec::new() } else { old.values().map(|c| (*c, identity(before.0, c))).collect() };
    let mut taken = BTreeSet::new();
    for cluster in new {
        if let Some(was) = before.0.of_same_applier(after.0, cluster) {
            taken.insert(was.name());
            old.remove(was.name());
            out.push(Pair { before: Some(was), ..Pair::new(cluster) });
            continue;
        }
        let is = if gone.is_empty() { None } else { identity(after.0, cluster) };
        let same = |was: &Option<(Option<String>, String)>| match (was, &is) {
            (Some((a, x)), Some((b, y))) => (a.is_some() && a == b) || x == y,
            _ => false,
        };
        let mut candidates = gone.iter().filter(|(c, _)| !taken.contains(c.name()));
        let found = candidates.find(|(_, was)| same(was)).map(|(c, _)| *c);
        if let Some(found) = found {
            taken.insert(found.name());
            old.remove(found.name());
        } else if before.0.is_part_of_build(cluster.directory()) && after.0.applier_of(cluster).is_none() {
            // A base on which nothing builds any more is no new cluster.
            continue;
        }
        out.push(Pair { before: found, ..Pair::new(cluster) });
    }
    for cluster in old.into_values() {
        let after = match (after.0.not_built_here(cluster), after.0.of_same_applier(before.0, cluster)) {
            (Some(finding), _) => After::NotPlanned(finding),
            (None, Some(is)) => After::Cluster(is),
            (None, None) => After::Nothing,
        };
        out.push(Pair { name: cluster.name().clone(), before: Some(cluster), after });
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}
