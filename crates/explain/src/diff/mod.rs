//! Differences between two sides.
//!
//! [`compare_plans`] compares two [`Side`]s by meaning, with the cause and the consequence of each change.

mod assumed;
mod cause;
mod cluster;
mod comparison;
pub(crate) mod consequence;
mod defaults;
mod drift;
mod edits;
mod effect;
mod effects;
mod gates;
mod live;
mod live_check;
mod note;
pub mod semantic;
pub(crate) mod side;
mod steps;
mod upgrade;
mod versions;

pub use assumed::{SideOrigin, mark_assumed};
pub use cause::{Cause, Shares};
pub use cluster::{ClusterDiff, Removal};
pub use comparison::{
    Comparison, Kept, VerdictChange, compare_objects, compare_plans, compare_rejected, compare_states,
};
pub use consequence::{Consequence, uses};
pub use defaults::short_name;
pub use drift::{Drift, DriftReason, drift, to_commit};
pub use edits::{Objects, add_edits, is_compared};
pub use effect::Effect;
pub use effects::add_new;
pub use gates::in_both_lists;
pub use live::{comparable, mark_noise};
pub use live_check::{ExpectedState, Incomparable, LiveCheck};
pub use note::{KeptLine, ValueChange};
pub use semantic::Task;
pub use side::{ExistingObjects, Side, States};
pub use steps::{order_notes, step_notes};
pub use upgrade::{PatchChange, notes, patch_change};

/// The kind of an object's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The object is new.
    Add,
    /// Its content changes.
    Change,
    /// It is removed.
    Remove,
}

hcoplan_kubernetes::names!(Kind { Add = "add", Change = "change", Remove = "remove" });

impl Kind {
    /// `+`, `~` or `-`.
    pub const fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Change => '~',
            Self::Remove => '-',
        }
    }
}

/// An inventory of an OpenShift cluster for tests: `nodes` are lines of its spec.
#[cfg(test)]
fn declared(nodes: &str) -> hcoplan_repository::inventory::LoadedInventory {
    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_repository::inventory::{Source, SourceKind, load};
    let text =
        format!("apiVersion: hcoplan.dev/v1alpha1\nkind: ClusterInventory\nspec:\n  platform: OpenShift\n  {nodes}");
    let file = SourceFile::new("inventory.yaml", text);
    let document = hcoplan_yaml::parse(&file).documents.remove(0).into();
    let kind = SourceKind::Declared;
    let (inventory, problems) = load(&[Source { kind, document }]);
    assert!(problems.is_empty(), "{}", file.text());
    inventory
}
