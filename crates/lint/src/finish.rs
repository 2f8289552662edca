//! Finishes findings before they are reported.

use std::cmp::Reverse;

use hcoplan_diagnostics::secret::mask_finding;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use super::{Baseline, Date, FileUsers, Finished, Run, Settings, apply_suppressions, grouped};
use crate::prelude::*;

/// Up to this many findings, a second thread costs more than it saves.
const FEW: usize = 64;

/// The input for finishing findings.
#[derive(Debug, Clone, Copy)]
pub struct Finishing<'a> {
    /// The selected rules and the configured suppressions.
    pub settings: &'a Settings,
    /// The clusters built from each file.
    pub users: &'a FileUsers,
    /// The clusters that weren't judged, whose entries of the baseline stay as they are.
    pub unjudged: &'a BTreeSet<String>,
    /// Today, for suppressions and baseline entries that expire.
    pub today: Date,
}

/// Suppresses, masks, applies the baseline, groups over clusters and sorts findings, in this order. `baseline` gets the
/// findings after suppression, to write a baseline.
///
/// # Errors
/// An error of `baseline`.
pub fn finish<'d, E>(
    mut raw: Run,
    documents: impl Iterator<Item = &'d Document> + Clone,
    with: Finishing<'_>,
    baseline: impl FnOnce(&[Finding]) -> Result<Option<Baseline>, E>,
) -> Result<Finished, E> {
    // A rejection can't be switched off.
    raw.findings.retain(|finding| finding.rejection || !with.settings.is_off(finding.rule));
    let result = apply_suppressions(raw, documents, with.settings, with.today);
    let mut findings = result.findings;
    if findings.len() > FEW {
        findings.par_iter_mut().for_each(mask_finding);
    } else {
        findings.iter_mut().for_each(mask_finding);
    }
    let mut out = match baseline(&findings)? {
        Some(baseline) => baseline.leave_out(findings, with.unjudged),
        None => Finished { findings, ..Finished::default() },
    };
    out.suppressed = result.suppressed.len();
    out.findings = grouped(out.findings, with.users);
    // A stable sort keeps the order of locations.
    out.findings.sort_by_key(|f| Reverse(f.severity));
    Ok(out)
}
