//! The rules about suppressions; they report while findings are settled.

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, Prediction, Rule, Severity};

/// A suppression that leaves nothing out, or doesn't count any more.
pub(crate) static SUPPRESSION_UNUSED: Rule = Rule {
    name: "suppression-unused",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("it will hide the next finding of that rule, which nobody has looked at"),
    needs: Needs::Document,
    fix: FixKind::Safe,
    summary: "a suppression matches no finding, or has expired",
    ..Rule::BASE
};

/// A suppression that can't count.
pub(crate) static SUPPRESSION_INVALID: Rule = Rule {
    name: "suppression-invalid",
    group: Group::Hygiene,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the finding that was meant is still reported"),
    needs: Needs::Document,
    summary: "a suppression isn't understood, or must not do what it asks for",
    ..Rule::BASE
};
