//! Repositories: [`repo`] finds the HyperConvergeds of a directory and their inventories, through kustomize, Helm and
//! other wrappers; [`inventory`] reads what is declared about a cluster; [`emit`] writes the tree of rendered files; [`adopt`] creates a repository's configuration and
//! inventory.

pub mod adopt;
pub mod emit;
pub mod inventory;
mod prelude;
pub mod repo;
