//! The side before: what a cluster was before the change.

use std::sync::Arc;

use serde_json::Value;

use super::planned;
use super::previous_state::{PreviousObject, PreviousState, is_same};
use hcoplan_kubernetes::Object;
use hcoplan_planner::release::Release;
use hcoplan_repository::repo::{ClusterRef, Problem, Repo};

/// What clusters are compared with.
#[derive(Debug, Clone, Copy, Default)]
pub enum Before<'a> {
    /// Nothing is known: everything is new.
    #[default]
    Nothing,
    /// The sources of another side, and what the two are to each other.
    Sources(&'a Repo, ComparisonMode),
    /// The HyperConvergeds that a cluster holds.
    Live(&'a PreviousState),
    /// The objects that a cluster holds.
    Objects(&'a [Object]),
}

impl Before<'_> {
    /// What a cluster holds of `object` before a change, where that is known: a manifest that is rejected was never
    /// stored. `release` is the one where nothing says another.
    ///
    /// # Errors
    /// The old HyperConverged can't be read.
    pub(super) fn held(
        self,
        cluster: &ClusterRef,
        object: &Value,
        release: &Arc<Release>,
    ) -> Result<Option<PreviousObject>, Box<Problem>> {
        match self {
            Self::Live(previous) => Ok(previous.of(object)),
            Self::Sources(repo, _) => {
                let Some(was) = repo.clusters().iter().find(|c| c.name() == cluster.name()) else {
                    return Ok(None);
                };
                let old = repo.hyperconverged(was)?;
                let is_held = is_same(&old, object) && !planned::is_rejected(repo, was, release);
                Ok(is_held.then_some(PreviousObject::Manifest(old)))
            }
            Self::Nothing | Self::Objects(_) => Ok(None),
        }
    }
}

/// What two sides are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonMode {
    /// One after the other: a cluster of the first one becomes that of the second one.
    BeforeAndAfter,
    /// Either of them: the clusters are made from each of them.
    Alternatives,
}
