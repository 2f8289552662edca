//! The pipeline over many clusters: order, parallelism, progress. The only module that knows
//! that there is more than one.
//!
//! Each cluster is planned, linted, emitted and compared on its own, on any thread; what comes of
//! it arrives in the clusters' order and is not kept. A panic in one cluster's work is a bug of
//! ours: it is reported with the cluster's name, and the others go on.

mod allowed;
mod any_release;
#[cfg(test)]
mod carried_tests;
mod check;
mod cluster;
mod compare;
#[cfg(test)]
mod compare_tests;
mod compare_with;
mod document;
mod drift;
mod interrupt;
mod only;
mod ordered;
mod outcome;
mod panics;
mod pipeline;
mod planned;
mod prior_state;
mod progress;
#[cfg(test)]
mod properties;
mod release_diff;
mod steps;
mod transition;
mod upgrade;
mod view;
mod work;

pub use allowed::{ALLOW_HELM, ALLOW_KUSTOMIZE, is_allowed};
pub use compare::{ComparisonMode, Pair, PairOutcome, compare, findings, mark_standing, pairs, unbuilt, unplannable};
pub use compare_with::{OldSide, compare_with, compare_with_prior, removed_clusters};
pub use document::plan_document;
pub use drift::{ClusterDrift, cluster_drift};
pub use interrupt::{interrupted, watch};
pub use only::{ObjectSelector, OnlyError};
pub use outcome::{Outcome, Refusal, State};
pub(crate) use panics::catch_panic;
pub use pipeline::run;
pub use planned::{NO_INVENTORY, finding_line};
pub use prior_state::PriorState;
pub use progress::Progress;
pub use release_diff::{Difference, ReleaseDiff, release_diff};
pub use steps::end_state;
pub use upgrade::{Upgraded, Upgrading, upgrades};
pub use work::Work;
