//! The one analysis behind every command: opens no side itself, plans each cluster once per side, compares, and
//! knows that there are many clusters.
//!
//! Each cluster is planned, linted, compared and emitted on its own, on any thread; its result
//! arrives in the clusters' order and is not kept. A panic in one cluster's work is a bug of
//! ours: it is reported with the cluster's name, and the others go on.

mod assumed;
mod before;
#[cfg(test)]
mod carried_tests;
mod check;
mod cluster;
#[cfg(test)]
mod compare_tests;
mod compared;
mod document;
mod drift;
mod interrupt;
pub mod matrix;
mod old;
mod only;
mod ordered;
mod outcome;
mod pairs;
mod panics;
mod pipeline;
mod planned;
mod preview;
mod prior_state;
mod progress;
#[cfg(test)]
mod properties;
mod release_diff;
pub mod review;
mod steps;
mod today;
mod transition;
mod view;
mod work;

pub use before::{Before, ComparisonMode};
pub use document::plan_document;
pub use drift::ClusterDrift;
pub use interrupt::{interrupted, watch};
pub use only::{ObjectSelector, OnlyError};
pub use outcome::{Outcome, Upgraded};
pub use pairs::{After, Pair, entries, pairs};
pub use panics::catch_panic;
pub use pipeline::run;
pub use planned::{finding_line, not_planned};
pub use prior_state::PriorState;
pub use progress::Progress;
pub use release_diff::{Difference, ReleaseDiff, release_diff};
pub use steps::end_state;
pub use today::today;
pub use work::Work;
