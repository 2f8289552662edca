//! A cluster on the side before.

use super::Pair;
use super::planned::plan;
use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use crate::previous_state::PreviousObject;
use crate::{Before, ClusterTask};

/// A cluster before the change.
pub(super) enum PreviousCluster {
    /// It doesn't exist, or the side before is unknown.
    Absent,
    /// All its input is equal on both sides.
    Same,
    /// Its manifest was accepted.
    Planned(Box<Planned>),
    /// Its manifest was rejected for this reason, so that the cluster has an older object or none.
    Rejected(Box<Planned>, String),
    /// It isn't planned on that side.
    NotPlanned(Box<NotPlanned>),
    /// The HyperConverged in the cluster.
    Live(PreviousObject),
}

impl PreviousCluster {
    pub(super) fn of(work: &ClusterTask<'_>, repo: &Repo, pair: &Pair<'_>, cluster: &ClusterRef, new: &Inputs) -> Self {
        match (work.before, pair.before) {
            (Before::Nothing | Before::Objects(_), _) => Self::Absent,
            (Before::Live(previous), _) => previous.of(new.manifest()).map_or(Self::Absent, Self::Live),
            (Before::Sources(old, _), None) => match old.not_built_here(cluster) {
                Some(finding) => Self::NotPlanned(Box::new(super::not_planned(finding))),
                None => Self::Absent,
            },
            (Before::Sources(old, _), Some(was)) if old.reads_the_same(was, repo, cluster) => Self::Same,
            (Before::Sources(old, _), Some(was)) => match plan(old, was, Some(new.loaded())) {
                Err(why) => Self::NotPlanned(why),
                Ok(planned) => match planned.rejection(old, was) {
                    Some(why) => Self::Rejected(Box::new(planned), why),
                    None => Self::Planned(Box::new(planned)),
                },
            },
        }
    }
}
