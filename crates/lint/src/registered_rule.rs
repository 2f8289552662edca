//! A rule with its check and phase.

use super::context::Context;
use super::sink::Sink;
use crate::prelude::*;

/// When a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// With most rules, sorted by name.
    Always,
    /// After those: a general rule, if none of them explained the problem better.
    Late,
    /// At the end: reports what no rule explained.
    Last,
    /// Reported while reading files, not by the engine.
    Elsewhere,
}

/// Checks one cluster.
pub(crate) type Check = fn(&Context<'_>, &mut Sink);

/// A rule with its check.
#[derive(Debug, Clone, Copy)]
pub struct RegisteredRule {
    /// Metadata and page.
    pub rule: &'static Rule,
    /// Its phase.
    pub when: RunPhase,
    /// Its check.
    pub check: Check,
}

/// A rule of the first phase.
pub(super) const fn always(rule: &'static Rule, check: Check) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Always, check }
}

/// A rule of the second phase.
pub(super) const fn late(rule: &'static Rule, check: Check) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Late, check }
}

/// A rule of the last phase.
pub(super) const fn last(rule: &'static Rule, check: Check) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Last, check }
}
