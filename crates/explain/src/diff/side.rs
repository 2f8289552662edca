//! A cluster before or after a change.

use crate::prelude::*;
use hcoplan_repository::inventory::LoadedInventory;

/// One side: the inputs and their plan.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The release that the cluster runs.
    pub release: &'a Arc<Release>,
    /// The release that a source states, if it isn't modelled; `release` is the nearest one then.
    pub stated: Option<&'a str>,
    /// Its nodes.
    pub inventory: &'a LoadedInventory,
    /// The HyperConverged as written, for the locations of causes.
    pub document: Option<&'a Document>,
    /// The same as JSON.
    pub object: &'a Value,
    /// Their plan.
    pub plan: &'a Plan,
}

impl Side<'_> {
    /// Its release, for sentences about both sides.
    pub(super) fn release_name(&self) -> String {
        match self.stated {
            Some(stated) => format!("{stated} (planned as {})", self.release.label()),
            None => self.release.label().to_owned(),
        }
    }
}

/// The objects that exist on both sides, which may be more than the plans render.
pub struct States<'a> {
    /// The objects before.
    pub existed: &'a [Object],
    /// The objects after.
    pub exist: &'a [Object],
    /// The objects after with other inputs, to find out which difference changes which object.
    pub with: &'a ExistingObjects<'a>,
}

/// The objects that exist with a release, nodes and a HyperConverged.
pub type ExistingObjects<'a> = dyn Fn(&Arc<Release>, &Inventory, &Value) -> Vec<Object> + 'a;
