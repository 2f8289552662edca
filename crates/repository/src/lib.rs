//! Repositories: [`repo`] finds the HyperConvergeds of a directory and their inventories, through kustomize, Helm and
//! other wrappers; [`emit`] writes the tree of rendered files; [`adopt`] creates a repository's configuration and
//! inventory.

pub mod adopt;
pub mod emit;
mod prelude;
pub mod repo;
