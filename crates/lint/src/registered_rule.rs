//! A rule with its check, and when it runs.

use hcoplan_diagnostics::finding::Rule;

use super::context::Context;
use super::sink::Sink;

/// When a rule runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPhase {
    /// With all others, in the order of their names.
    Always,
    /// After them: it explains in general what one of them may explain better.
    Late,
    /// After all: it reports what none of them explained.
    Last,
    /// While files are read: never by the engine.
    Elsewhere,
}

/// A rule with its check.
#[derive(Debug, Clone, Copy)]
pub struct RegisteredRule {
    /// Metadata and page.
    pub rule: &'static Rule,
    /// When it runs.
    pub when: RunPhase,
    /// Examines one cluster.
    pub check: fn(&Context<'_>, &mut Sink),
}

/// A rule that runs with all others.
pub(super) const fn always(rule: &'static Rule, check: fn(&Context<'_>, &mut Sink)) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Always, check }
}

/// A rule that runs after all others.
pub(super) const fn last(rule: &'static Rule, check: fn(&Context<'_>, &mut Sink)) -> RegisteredRule {
    RegisteredRule { rule, when: RunPhase::Last, check }
}
