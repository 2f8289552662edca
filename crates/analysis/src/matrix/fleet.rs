//! Groups equal clusters, and counts over all clusters.

use std::collections::HashMap;

use hcoplan_planner::boot::BootOutcome;

use super::{ClusterMatrix, Image, MachineRow, Obstacle, State};

/// Clusters with the same images, cells and reasons.
#[derive(Debug)]
pub struct Group<'a> {
    /// The first cluster.
    pub first: &'a ClusterMatrix,
    /// All clusters, in order.
    pub clusters: Vec<&'a ClusterMatrix>,
}

impl Group<'_> {
    /// Their releases, sorted.
    pub fn releases(&self) -> Vec<&str> {
        let all = self.clusters.iter().map(|c| c.release.as_str());
        let mut all: Vec<_> = all.filter(|r| !r.is_empty()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The properties shared by a group's clusters.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey<'a> {
    architectures: Vec<(&'a str, bool)>,
    states_nodes: bool,
    multi_arch: bool,
    obstacle: Option<&'a Obstacle>,
    images: &'a [Image],
    machines: &'a [MachineRow],
}

/// Groups equal clusters, in the order of the first of each group.
pub fn groups(clusters: &[ClusterMatrix]) -> Vec<Group<'_>> {
    let mut known: HashMap<GroupKey<'_>, usize> = HashMap::new();
    let mut out: Vec<Group<'_>> = Vec::new();
    for cluster in clusters {
        let architectures = cluster.architectures.iter();
        let likeness = GroupKey {
            architectures: architectures.map(|a| (a.name.as_str(), a.workload_nodes > 0)).collect(),
            states_nodes: cluster.states_nodes,
            multi_arch: cluster.multi_arch,
            obstacle: cluster.obstacle.as_ref(),
            images: &cluster.images,
            machines: &cluster.machines,
        };
        let index = *known.entry(likeness).or_insert(out.len());
        match out.get_mut(index) {
            Some(group) => group.clusters.push(cluster),
            None => out.push(Group { first: cluster, clusters: vec![cluster] }),
        }
    }
    out
}

/// Counts over all clusters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clusters.
    pub clusters: usize,
    /// Clusters with problems.
    pub with_problems: usize,
    /// Clusters in which an error prevents all imports.
    pub obstructed: usize,
    /// Virtual machines of the repository.
    pub machines: usize,
    /// Virtual machines that boot.
    pub booting: usize,
    /// Cells by state.
    pub covered: usize,
    /// See [`State::Wrong`].
    pub wrong: usize,
    /// See [`State::Missing`].
    pub missing: usize,
    /// See [`State::Undetermined`].
    pub undetermined: usize,
    /// See [`State::Unknown`].
    pub unknown: usize,
    /// See [`State::Off`].
    pub off: usize,
    /// See [`State::External`].
    pub external: usize,
    /// See [`State::Unneeded`].
    pub unneeded: usize,
    /// Plain names that refer to nothing although the image is imported.
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
