//! Computes offline what KubeVirt's HyperConverged Cluster Operator renders from a manifest.
//!
//! This crate is the command line and the language server. It uses these crates, lowest first:
//!
//! | crate | content |
//! |---|---|
//! | `schemas` | releases and distributions as data, and the JSON Schemas of documents |
//! | `crates/yaml` | YAML as Kubernetes reads it, with locations, and edits that keep the rest |
//! | `crates/kubernetes` | quantities, durations, selectors, schemas, Go's structs |
//! | `crates/diagnostics` | files, locations, findings, and the masking of secrets |
//! | `crates/planner` | the one pure function: a release, an inventory and a HyperConverged go in, a `Plan` comes out |
//! | `crates/repository` | a directory's clusters, through kustomize and Helm; the tree of rendered files |
//! | `crates/explain` | `diff` and `why`: questions about plans; `docs`: descriptions of fields |
//! | `crates/lint` | the rules, and `fix` |
//! | `crates/analysis` | the one pipeline behind every command: plan each cluster of both sides, compare, judge |
//! | `crates/report` | a document for people with its printers, and the formats that machines read |
//!
//! A crate uses those above it in the table. The product's crates are re-exported under the names of their modules.

pub mod cli;
pub mod lsp;
mod prelude;

pub use hcoplan_analysis as analysis;
pub use hcoplan_analysis::{matrix, review};
pub use hcoplan_diagnostics::{finding, secret, source};
pub use hcoplan_explain::{diff, docs, why};
pub use hcoplan_kubernetes as kube;
pub use hcoplan_kubernetes::schema;
pub use hcoplan_lint as lint;
pub use hcoplan_lint::fix;
pub use hcoplan_planner::{
    admission, boot, boot_images, cause, hyperconverged, jsonpatch, lifecycle, machines, operands, plan, release,
    topology, verdict,
};
pub use hcoplan_report as report;
pub use hcoplan_repository::{adopt, emit, repo};
pub use hcoplan_yaml as yaml;

/// The declared cluster, and how it is read.
pub mod inventory {
    pub use hcoplan_planner::inventory::*;
    pub use hcoplan_repository::inventory::*;
}
