//! The side before: what clusters are compared with.

use super::previous_state::PreviousState;
use crate::prelude::*;

/// The state that clusters are compared with.
#[derive(Debug, Clone, Copy, Default)]
pub enum Before<'a> {
    /// Unknown: everything is new.
    #[default]
    Nothing,
    /// The sources of the side before, and how the sides are related.
    Sources(&'a Repo, ComparisonMode),
    /// The HyperConvergeds in the cluster.
    Live(&'a PreviousState),
    /// All objects in the cluster.
    Objects(&'a [Object]),
}

/// How two sides are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonMode {
    /// The clusters of the first are updated to those of the second.
    BeforeAndAfter,
    /// Alternatives: the clusters are created from each.
    Alternatives,
}
