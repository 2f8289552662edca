//! The analysis behind every command: opens both sides, plans each cluster once per side, compares the sides, and
//! finishes the findings.
//!
//! ```text
//! Sources ── find ──▶ Clusters ── AnalysisRequest::analyse ──▶ Analysis
//!                        │ each cluster, on any thread     findings, changes, consequences, verdicts, exit code
//!                        ▼
//!                    ClusterTask ── plan, lint, compare, write ──▶ ClusterResult
//! ```
//!
//! The modules are in the order of these steps: open, plan, compare, finish; then other results of clusters. Commands
//! that print no findings (`render`, `matrix`, `argocd`, `why`) use the [`ClusterResult`]s: [`Clusters::report_each`],
//! [`Clusters::result_of`].
//!
//! Results arrive in the order of the clusters and aren't kept. A panic while processing a cluster is reported as a bug
//! with the cluster's name; the other clusters continue.

mod prelude;

// Open: the sides' sources and clusters.
mod application;
mod builds;
mod clusters;
mod compare_base;
mod export;
mod manifests;
mod open;
mod root;
mod selection;
mod sides;
mod sources;
mod two_sides;
mod upgrade_path;

// Plan: the task for each cluster, and its plan on each side.
mod before;
mod cluster;
mod cluster_result;
mod cluster_task;
mod object_selector;
mod ordered;
mod pairs;
mod panics;
mod pipeline;
mod planned;
mod previous_cluster;
mod previous_state;
mod progress;
mod steps;
mod transition;

// Compare: differences and their consequences.
mod compared;
pub mod matrix;
mod preview;
pub mod review;

// Finish: the findings and the exit code.
mod assumed;
mod baseline;
pub mod exit;
mod failure;
mod findings;
mod notices;
mod request;

// Other results: rendered files, fixes, single answers.
pub mod atomic_file;
mod document;
mod emitted;
mod field_question;
mod fixes;
mod migrate;
mod process;
mod release_diff;
mod shown_path;
mod tree;
mod trials;

#[cfg(test)]
mod compare_tests;
#[cfg(test)]
mod embedded_tests;
#[cfg(test)]
mod properties;

pub use application::{Application, claimed};
pub use baseline::BaselineFile;
pub use before::{Before, ComparisonMode};
pub use builds::open_unconfigured;
pub use cluster_result::{ClusterDrift, ClusterResult, Upgraded, report_outcome};
pub use cluster_task::ClusterTask;
pub use clusters::Clusters;
pub use compare_base::CompareBase;
pub use document::plan_document;
pub use exit::Exit;
pub use failure::Failure;
pub use field_question::{FieldAnswer, FieldQuestion};
pub use findings::{FinalFindings, Findings, Summary};
pub use fixes::{FixRequest, FixResult, MAX_ROUNDS};
pub use manifests::{BUILD_ELSEWHERE, passed_on};
pub use notices::{KeptNotices, NoticeKind, Notices};
pub use object_selector::{ObjectSelector, ObjectSelectorError};
pub use open::{all_clusters, find, find_edited, find_named, find_to_edit};
pub use pairs::{After, Pair, entries, pairs};
pub use panics::catch_panic;
pub use pipeline::run;
pub use planned::{finding_line, is_assumption, not_planned};
pub use previous_state::PreviousState;
pub use process::{interrupted, today, watch};
pub use progress::Progress;
pub use release_diff::{Difference, Nothing, ReleaseDiff, of_nothing, release_diff};
pub use request::{Analysis, AnalysisRequest};
pub use root::{Place, finding_with_help};
pub use selection::names;
pub use selection::{cluster_named, typed};
pub use shown_path::{join, shown_path};
pub use sides::{Side, range};
pub use sources::Sources;
pub use tree::{OutputTree, committed};
pub use two_sides::TwoSides;
pub use upgrade_path::last_release;
