//! The files that hcoplan writes for new users: `hcoplan.yaml`, and an inventory of a dumped cluster.

mod configuration;
mod dumped_cluster;
mod facts;
mod known;

pub use configuration::{Configuration, ignored, inventory_path};
pub use dumped_cluster::DumpedCluster;
pub use facts::{Contradiction, contradictions};
pub use known::{HEADINGS, rows};

/// The URL of an inventory's schema, for editors.
const INVENTORY_SCHEMA: &str = "https://raw.githubusercontent.com/hcoplan/hcoplan/main/schemas/inventory.schema.json";
