//! The rules about suppressions, reported while suppressions are applied.

pub(crate) use hcoplan_rule_pages::rules::{SUPPRESSION_INVALID, SUPPRESSION_UNUSED};
