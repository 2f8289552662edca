//! Fixes applied: byte edits of several findings, together where they can be, in files that keep
//! everything else as it is.
//!
//! Nothing is believed. Each fix is tried alone first: the file must still be readable, no comment
//! may be lost, and the tree may differ only inside of what the edits touch. The trees of fixes
//! that go together are put together, too, and the file with all of their edits must be just that
//! tree. What does not match is dropped with a [`hcoplan_yaml::edit::Reason`]; what overlaps waits for the next
//! round.

mod layer_edits;
mod migrate;
mod other_clusters;
mod preview;
mod round;
#[cfg(test)]
mod tests;
mod trees;
mod write;

pub use layer_edits::{is_as_intended, move_to_layers};
pub use migrate::{
    Migrated, NotMigrated, UnmigratableLayer, is_same, kustomization_by_hand, operation_by_hand, resource_to_v1, to_v1,
    without_place,
};
pub(crate) use migrate::{NEW_DEVICES, OLD_DEVICES, mediated_device_lists};
pub use other_clusters::{NewError, first_new_error};
pub use preview::{Line, preview};
pub use round::{AppliedFix, Choice, DroppedFix, Rewritten, Round, choose, choose_with, round};
pub(crate) use trees::{are_apart, differences};
pub use write::{Replacement, WriteError, write_all};
