//! Reads a cluster's inventory from documents: a ClusterInventory, a dump of nodes, MachineSets. Everything keeps its
//! location, so that rules can point at it.

mod declared;
mod drift;
mod dump;
mod load;
mod locations;
mod machines;
mod merge;
mod pools;
mod schema;
#[cfg(test)]
mod tests;

pub use drift::{CountDrift, Drift, UnknownPool, drift};
pub use load::{LoadedInventory, Source, SourceKind, load};
pub use locations::{InventoryLocations, NodeLocations};
pub use pools::{Pool, is_left_out, pools, pools_yaml};
pub use schema::INVENTORY_SCHEMA;
pub(crate) use schema::finding as schema_finding;
