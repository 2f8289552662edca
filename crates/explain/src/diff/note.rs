//! A value of the HyperConverged that an upgrade changes.

use crate::prelude::*;
use std::fmt::{self};

/// A line of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLine {
    /// The field and its value.
    pub text: String,
    /// Whether the manifest's API version lacks the field.
    pub is_only_in_v1: bool,
}

impl Display for KeptLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, if self.is_only_in_v1 { " # only v1 has it" } else { "" })
    }
}

/// A value of the HyperConverged that an upgrade changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueChange {
    /// The field's path below `spec`, in v1's shape.
    pub field: String,
    /// Today.
    pub before: String,
    /// After the upgrade.
    pub after: String,
    /// The line that keeps today's value, if one does.
    pub keep: Option<KeptLine>,
    /// Whether the line is valid only from the new release on.
    pub is_later: bool,
}
