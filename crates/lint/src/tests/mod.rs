//! Properties of every rule.

mod boots;
mod bundles;
mod claims;
mod compared;
mod config_schema;
mod cures;
mod fixes;
mod fixtures;
mod golden;
mod ignored;
pub(crate) mod load;
mod page_examples;
mod pages;
mod random;
mod recorded_fixes;
mod registry;
mod remedies;
mod restored;
mod runbook;
mod suppress;
mod untried;
mod virtual_machines;
mod wishes;
