//! hcoplan: what KubeVirt's HyperConverged Cluster Operator would make of a manifest, offline.
//!
//! Everything is built around one pure function: a release's data, a declared inventory of nodes
//! and a HyperConverged go in, a `Plan` comes out. It reads no file, no clock, no environment.
//! The modules lie in layers; a test holds the imports against them.

pub mod admission;
pub mod app;
pub mod boot_images;
pub mod cli;
pub mod diff;
pub mod emit;
pub mod finding;
pub mod fix;
pub mod hyperconverged;
pub mod inventory;
pub mod jsonpatch;
pub mod lifecycle;
pub mod lint;
pub mod lsp;
pub mod matrix;
pub mod operands;
pub mod plan;
pub mod release;
pub mod repo;
pub mod report;
pub mod review;
pub mod secret;
pub mod source;
pub mod topology;
pub mod why;

pub use hcoplan_kubernetes as kube;
pub use hcoplan_kubernetes::schema;
pub use hcoplan_yaml as yaml;

#[cfg(test)]
mod recordings;
