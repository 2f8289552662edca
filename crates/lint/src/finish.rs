//! The one place where raw findings become the ones that are reported.

use std::cmp::Reverse;

use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::secret::mask_finding;
use hcoplan_yaml::Document;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::{Baseline, Date, FileUsers, Run, Settings, apply_suppressions, grouped};

/// Up to so many findings a second thread costs more than it gives.
const FEW: usize = 64;

/// What findings are finished with.
#[derive(Debug, Clone, Copy)]
pub struct Finishing<'a> {
    /// Which rules run, and what the configuration suppresses.
    pub settings: &'a Settings,
    /// Which clusters are built of which file.
    pub users: &'a FileUsers,
    /// The day, for suppressions and entries of the baseline that end.
    pub today: Date,
}

/// The findings that are reported, the worst first.
#[derive(Debug, Default)]
pub struct Finished {
    /// They say nothing that must not be shown.
    pub findings: Vec<Finding>,
    /// How many a suppression hides.
    pub suppressed: usize,
    /// How many the baseline hides.
    pub baselined: usize,
    /// The day on which the oldest of those was recorded.
    pub oldest: Option<Date>,
    /// Entries of the baseline that match no finding any more, in words.
    pub stale: Vec<String>,
}

/// Suppresses, masks, applies the baseline, groups over clusters and sorts: in this order, once. `baseline` gets the
/// findings that remain after suppression, for a baseline that is written.
///
/// # Errors
/// Those of `baseline`.
pub fn finish<'d, E>(
    raw: Run,
    documents: impl Iterator<Item = &'d Document> + Clone,
    with: Finishing<'_>,
    baseline: impl FnOnce(&[Finding]) -> Result<Option<Baseline>, E>,
) -> Result<Finished, E> {
    let result = apply_suppressions(raw, documents, with.settings, with.today);
    let mut out = Finished { findings: result.findings, suppressed: result.suppressed.len(), ..Finished::default() };
    if out.findings.len() > FEW {
        out.findings.par_iter_mut().for_each(mask_finding);
    } else {
        out.findings.iter_mut().for_each(mask_finding);
    }
    if let Some(baseline) = baseline(&out.findings)? {
        let left = baseline.leave_out(out.findings);
        (out.findings, out.baselined, out.oldest, out.stale) = (left.findings, left.hidden, left.oldest, left.stale);
    }
    out.findings = grouped(out.findings, with.users);
    // Stable: the order of places stays within each severity.
    out.findings.sort_by_key(|f| Reverse(f.severity));
    Ok(out)
}
