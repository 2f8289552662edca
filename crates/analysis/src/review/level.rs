//! The level of an effect, a finding or a verdict.

use crate::prelude::*;

/// Severity levels, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It breaks something.
    Bad,
    /// It may break something, or needs attention.
    Warn,
    /// A change without harm.
    Calm,
    /// No change, or an improvement.
    Good,
}

hcoplan_kubernetes::names!(Level { Bad = "bad", Warn = "warn", Calm = "calm", Good = "good" });

impl Level {
    /// The least `--fail-on` severity that this level fails.
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Self::Bad => Some(Severity::Error),
            Self::Warn => Some(Severity::Warning),
            Self::Calm | Self::Good => None,
        }
    }
}

impl From<Severity> for Level {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Bad,
            Severity::Warning => Self::Warn,
            Severity::Info => Self::Calm,
        }
    }
}
