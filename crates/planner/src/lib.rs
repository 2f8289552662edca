//! Predicts the objects that HCO and SSP create from a HyperConverged, without a cluster.
//!
//! Everything is built around one pure function, [`plan::plan`]: it computes a [`plan::Plan`] from a release's data, a
//! declared inventory of nodes and a HyperConverged. It reads no file, clock or environment. [`lifecycle`] chains
//! plans: the effects of updates, upgrades and other nodes on live objects.

pub mod admission;
pub mod boot;
pub mod boot_images;
pub mod cause;
pub mod hyperconverged;
pub mod inventory;
pub mod jsonpatch;
pub mod lifecycle;
pub mod machines;
mod names;
pub mod operands;
pub mod plan;
mod prelude;
pub mod release;
pub mod topology;
pub mod verdict;
pub mod world;

pub use names::NAMES;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
