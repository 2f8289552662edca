//! Groups equal clusters, and counts over all clusters.

use super::State;
use crate::matrix::{ClusterMatrix, Obstacle};
use crate::prelude::*;

/// Clusters with the same images, cells and reasons.
#[derive(Debug)]
pub struct Group<'a> {
    /// The first cluster.
    pub first: &'a ClusterMatrix,
    /// All clusters, in order.
    pub clusters: Vec<&'a ClusterMatrix>,
}

impl<'a> Group<'a> {
    /// Their releases as printed, sorted, each with its clusters.
    pub fn releases(&self) -> BTreeMap<String, Vec<&'a str>> {
        let mut out: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for cluster in self.clusters.iter().filter(|cluster| !cluster.release.is_empty()) {
            out.entry(format!("{}{}", cluster.release, cluster.basis)).or_default().push(&cluster.cluster);
        }
        out
    }
}

/// Groups equal clusters, in the order of the first of each group.
pub fn groups(clusters: &[ClusterMatrix]) -> Vec<Group<'_>> {
    let mut known: HashMap<_, usize> = HashMap::new();
    let mut out: Vec<Group<'_>> = Vec::new();
    for cluster in clusters {
        let ClusterMatrix { states_nodes, multi_arch, obstacle, images, machines, .. } = cluster;
        let architectures = cluster.architectures.iter().map(|a| (a.name.as_str(), a.workload_nodes > 0));
        let shared = (architectures.collect::<Vec<_>>(), states_nodes, multi_arch, obstacle, images, machines);
        let index = *known.entry(shared).or_insert(out.len());
        match out.get_mut(index) {
            Some(group) => group.clusters.push(cluster),
            None => out.push(Group { first: cluster, clusters: vec![cluster] }),
        }
    }
    out
}

/// Counts over all clusters.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Clusters.
    pub clusters: usize,
    /// Clusters with problems.
    pub with_problems: usize,
    /// Clusters in which an error prevents all imports.
    #[serde(rename = "blocked")]
    pub obstructed: usize,
    /// Virtual machines of the repository.
    #[serde(rename = "virtualMachines")]
    pub machines: usize,
    /// Virtual machines that boot.
    pub booting: usize,
    /// Cells by state.
    pub covered: usize,
    /// See [`State::Wrong`].
    pub wrong: usize,
    /// See [`State::Missing`].
    pub missing: usize,
    /// See [`State::Undeclared`].
    pub undeclared: usize,
    /// See [`State::Undetermined`].
    pub undetermined: usize,
    /// See [`State::Unknown`].
    pub unknown: usize,
    /// See [`State::Off`].
    #[serde(rename = "disabled")]
    pub off: usize,
    /// See [`State::External`].
    pub external: usize,
    /// See [`State::Unneeded`].
    pub unneeded: usize,
    /// Plain names that refer to nothing although the image is imported.
    #[serde(rename = "danglingPlainNames")]
    pub dangling: usize,
}

impl Counts {
    /// Number of cells in which an image is wanted.
    pub const fn wanted(&self) -> usize {
        self.covered + self.wrong + self.missing + self.undetermined + self.unknown
    }
}

/// Counts cells.
pub fn counts(clusters: &[ClusterMatrix]) -> Counts {
    let mut out = Counts::default();
    for cluster in clusters {
        out.clusters += 1;
        out.with_problems += usize::from(cluster.is_problem());
        let obstacle = cluster.obstacle.as_ref();
        out.obstructed += usize::from(obstacle.is_some_and(Obstacle::is_problem));
        out.machines += cluster.machines.len();
        out.booting += cluster.machines.iter().filter(|m| m.outcome == BootOutcome::Boots).count();
        for image in &cluster.images {
            let plain = &image.plain;
            let is_plain = cluster.obstacle.is_none() && plain.state == State::Missing;
            let covered = image.cells.iter().any(|c| c.state == State::Covered);
            out.dangling += usize::from(is_plain && covered);
            for cell in &image.cells {
                *match cell.state {
                    State::Covered => &mut out.covered,
                    State::Wrong => &mut out.wrong,
                    State::Missing => &mut out.missing,
                    State::Undeclared => &mut out.undeclared,
                    State::Undetermined => &mut out.undetermined,
                    State::Unknown => &mut out.unknown,
                    State::Off => &mut out.off,
                    State::External => &mut out.external,
                    State::Unneeded => &mut out.unneeded,
                } += 1;
            }
        }
    }
    out
}
