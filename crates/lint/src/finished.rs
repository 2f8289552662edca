//! What a run reports.

use super::Date;
use crate::prelude::*;

/// The findings to report, the most severe first.
#[derive(Debug, Default)]
pub struct Finished {
    /// The findings, with secrets masked.
    pub findings: Vec<Finding>,
    /// Number of suppressed findings.
    pub suppressed: usize,
    /// Number of findings hidden by the baseline.
    pub baselined: usize,
    /// The earliest date of a hidden finding.
    pub oldest: Option<Date>,
    /// Descriptions of baseline entries that match no finding.
    pub stale: Vec<String>,
}
