//! Repositories: [`repo`] finds the HyperConvergeds of a directory and the inventories that belong to them,
//! through kustomize, Helm and other wrappers; [`emit`] writes the tree of rendered files; [`adopt`] makes
//! what a repository lacks: a configuration, an inventory.

pub mod adopt;
pub mod emit;
pub mod repo;
