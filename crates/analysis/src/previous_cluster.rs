//! A cluster on the side before.

use super::Pair;
use super::planned::plan;
use crate::planned::{Inputs, Planned};
use crate::prelude::*;
use crate::previous_state::PreviousObject;
use crate::{Before, ClusterTask};
use hcoplan_lint::Site;

/// A cluster before the change.
pub(super) enum PreviousCluster<'a> {
    /// It doesn't exist, or the side before is unknown.
    Absent,
    /// All its input is equal on both sides.
    Same,
    /// Its manifest was accepted.
    Planned(Box<Planned<'a>>),
    /// Its manifest was rejected for this reason, so that the cluster has an older object or none.
    Rejected(Box<Planned<'a>>, String),
    /// It isn't planned on that side.
    NotPlanned(Box<NotPlanned>),
    /// The HyperConverged in the cluster.
    Live(PreviousObject),
}

impl<'a> PreviousCluster<'a> {
    pub(super) fn of(work: &ClusterTask<'a>, pair: &Pair<'a>, cluster: &ClusterRef, new: &Inputs<'_>) -> Self {
        match (work.before, pair.before) {
            (Before::Nothing | Before::Objects(_), _) => Self::Absent,
            (Before::Live(previous), _) => previous.of(new.manifest()).map_or(Self::Absent, Self::Live),
            (Before::Sources(old, _), None) => match old.not_built_here(cluster) {
                Some(finding) => Self::NotPlanned(Box::new(super::not_planned(finding))),
                None => Self::Absent,
            },
            (Before::Sources(old, _), Some(was)) if old.reads_the_same(was, new.repo(), cluster) => Self::Same,
            (Before::Sources(old, _), Some(was)) => match plan(old, was, Some(new.loaded())) {
                Err(why) => Self::NotPlanned(why),
                Ok(planned) => match planned.rejection() {
                    Some(why) => Self::Rejected(Box::new(planned), why),
                    None => Self::Planned(Box::new(planned)),
                },
            },
        }
    }

    /// The other objects before the change; reads them if the cluster wasn't planned.
    pub(super) fn objects(
        &self,
        now: &Inputs<'_>,
        read: impl FnOnce() -> Option<Arc<OtherObjects>>,
    ) -> Option<Arc<OtherObjects>> {
        match self {
            Self::Same => Some(now.other_objects()),
            Self::Planned(before) | Self::Rejected(before, _) => Some(before.other_objects()),
            _ => read(),
        }
    }

    /// The object in the cluster before the change, if known.
    pub(super) fn object(&self, now: &Inputs<'_>) -> Option<PreviousObject> {
        match self {
            Self::Same => Some(PreviousObject::Manifest(now.manifest().clone())),
            Self::Planned(before) if now.updates(before) => Some(PreviousObject::Manifest(before.manifest().clone())),
            Self::Live(object) => Some(object.clone()),
            _ => None,
        }
    }
}
