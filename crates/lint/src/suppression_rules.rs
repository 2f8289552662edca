//! The rules about suppressions, reported while suppressions are applied.

use hcoplan_diagnostics::finding::{FixKind, Group, Needs, Rule};

/// A suppression that hides nothing or has expired.
pub(crate) static SUPPRESSION_UNUSED: Rule =
    Rule::warning("suppression-unused", Group::Hygiene, "a suppression matches no finding, or has expired")
        .silent("it will hide the next finding of that rule, which nobody has looked at")
        .needs(Needs::Document)
        .fix(FixKind::Safe);

/// An invalid suppression.
pub(crate) static SUPPRESSION_INVALID: Rule =
    Rule::warning("suppression-invalid", Group::Hygiene, "a suppression is invalid, or not allowed")
        .silent("the finding that was meant is still reported")
        .needs(Needs::Document);
