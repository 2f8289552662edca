//! Names of rules and groups in arguments, configuration and comments.

use crate::prelude::*;
use hcoplan_diagnostics::finding::Group;

/// A rule or a group of rules, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// One rule.
    Rule(&'static str),
    /// All rules of a group.
    Group(Group),
}

impl Selector {
    /// The name of the rule or group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule(name) => name,
            Self::Group(group) => group.as_str(),
        }
    }

    /// Whether it selects a rule.
    pub fn matches(self, rule: &Rule) -> bool {
        match self {
            Self::Rule(name) => name == rule.name,
            Self::Group(group) => group == rule.group,
        }
    }
}
