//! The rules about inventories; they report while an inventory is read.

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, Prediction, Rule, Severity};

/// A ClusterInventory that its schema rejects.
pub static INVENTORY_INVALID: Rule = Rule {
    name: "inventory-invalid",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("nothing is rendered for the cluster"),
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "an inventory has an unknown field or an invalid value",
    ..Rule::BASE
};

/// An inventory that contradicts itself or another one.
pub static INVENTORY_INCONSISTENT: Rule = Rule {
    name: "inventory-inconsistent",
    group: Group::Hygiene,
    severity: Severity::Error,
    predicts: Prediction::Silent("the plan doesn't match the cluster"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "an inventory contradicts itself, or the node dump next to it",
    ..Rule::BASE
};
