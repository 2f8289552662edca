//! The one analysis behind every command: [`find`] opens a side, a [`Question`] plans each cluster once per side,
//! compares, finishes the findings and decides how the run ends.
//!
//! Each cluster is planned, linted, compared and emitted on its own, on any thread; its result
//! arrives in the clusters' order and is not kept. A panic in one cluster's work is a bug of
//! ours: it is reported with the cluster's name, and the others go on.

mod application;
mod assumed;
pub mod atomic_file;
mod baseline;
mod before;
mod builds;
mod check;
mod cluster;
mod cluster_result;
mod cluster_task;
mod clusters;
mod compare_base;
#[cfg(test)]
mod compare_tests;
mod compared;
mod document;
mod drift;
#[cfg(test)]
mod embedded_tests;
pub mod exit;
mod failure;
mod field_question;
mod findings;
mod fixes;
mod interrupt;
mod manifests;
pub mod matrix;
mod notices;
mod object_selector;
mod open;
mod ordered;
mod pairs;
mod panics;
mod pipeline;
mod planned;
mod preview;
mod previous_cluster;
mod previous_state;
mod progress;
#[cfg(test)]
mod properties;
mod question;
mod release_diff;
pub mod review;
mod root;
mod selection;
mod shard;
mod sides;
mod sources;
mod steps;
mod today;
mod transition;
mod tree;
mod trial;
mod upgrade_path;
mod view;

pub use application::{Application, claimed};
pub use baseline::BaselineFile;
pub use before::{Before, ComparisonMode};
pub use builds::open_unconfigured;
pub use cluster_result::{ClusterResult, Upgraded};
pub use cluster_task::ClusterTask;
pub use clusters::{Clusters, cluster_name, names};
pub use compare_base::CompareBase;
pub use document::plan_document;
pub use drift::ClusterDrift;
pub use exit::Exit;
pub use failure::Failure;
pub use field_question::{FieldAnswer, FieldQuestion};
pub use findings::{FinalFindings, Findings, Summary};
pub use fixes::{FixRequest, FixResult, MOST_ROUNDS};
pub use interrupt::{interrupted, watch};
pub use manifests::{BUILD_ELSEWHERE, manifests, manifests_of};
pub use notices::{KeptNotices, NoticeKind, Notices};
pub use object_selector::{ObjectSelector, ObjectSelectorError};
pub use open::{all_clusters, configuration, find, find_edited, find_named, find_to_edit, place, trust};
pub use pairs::{After, Pair, entries, pairs};
pub use panics::catch_panic;
pub use pipeline::run;
pub use planned::{finding_line, not_planned};
pub use previous_state::PreviousState;
pub use progress::Progress;
pub use question::{Analysis, Question};
pub use release_diff::{Difference, ReleaseDiff, release_diff};
pub use root::{Place, finding_with_help, problems};
pub use selection::{cluster_named, typed};
pub use shard::Shard;
pub use sides::{Side, export, range};
pub use sources::Sources;
pub use today::today;
pub use tree::{OutputTree, committed, gone, report_outcome};
pub use upgrade_path::last_release;
