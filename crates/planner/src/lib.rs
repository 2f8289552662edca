//! What HCO and SSP would make of a HyperConverged, without a cluster.
//!
//! Everything is built around one pure function, [`plan::plan`]: a release's data, a declared inventory of
//! nodes and a HyperConverged go in, a [`plan::Plan`] comes out. It reads no file, no clock, no environment.
//! [`lifecycle`] puts plans behind each other: what an update, an upgrade or other nodes do to live objects.

pub mod admission;
pub mod boot;
pub mod boot_images;
pub mod hyperconverged;
pub mod inventory;
pub mod jsonpatch;
pub mod lifecycle;
pub mod machines;
pub mod operands;
pub mod plan;
pub mod release;
pub mod topology;
pub mod verdict;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
