//! Kubernetes words that need no cluster: quantities, durations, selectors, object identity,
//! and what Go's typed structs do to JSON.

#[cfg(test)]
extern crate self as hcoplan_kubernetes;

pub mod cron;
mod decimal;
pub mod duration;
pub mod go;
pub mod label;
pub mod label_selector;
pub mod metadata;
mod names;
pub mod node_affinity;
mod object;
mod prelude;
pub mod quantity;
pub mod schema;
mod suggest;
mod table;
pub mod text;
pub mod toleration;
pub mod tree;

pub use object::{Object, ObjectId};
pub use suggest::nearest;
pub use table::Table;

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
