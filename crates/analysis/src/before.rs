//! The state of a cluster before the change.

use super::previous_state::PreviousState;
use hcoplan_kubernetes::Object;
use hcoplan_repository::repo::Repo;

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

/// What two sides are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonMode {
    /// One after the other: a cluster of the first one becomes that of the second one.
    BeforeAndAfter,
    /// Either of them: the clusters are made from each of them.
    Alternatives,
}
