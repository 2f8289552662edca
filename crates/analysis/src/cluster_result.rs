//! The result of a cluster: verdict, findings, differences.

use super::field_question::FieldAnswer;
use super::root::with_help;
use crate::exit::Exit;
use crate::matrix::ClusterMatrix;
use crate::notices::Notices;
use crate::prelude::*;
use hcoplan_explain::diff::Drift;
use hcoplan_explain::why::Problem;

/// The result of a cluster. To save memory it has no plans, and only the objects that change.
#[derive(Debug, Default)]
pub struct ClusterResult {
    /// Its name.
    pub cluster: ClusterName,
    /// Whether its HyperConverged is accepted.
    pub verdict: Verdict,
    /// Whether it was rejected before the change.
    pub was_rejected: bool,
    /// Whether all input is equal before and after the change.
    pub is_unchanged: bool,
    /// Whether its objects are rendered: the HyperConverged is accepted, or `--force` is given.
    pub is_rendered: bool,
    /// The effect of `--force` on a rejection.
    pub forced: Option<&'static str>,
    /// Warnings of the API server and the operators; empty if rules report them.
    pub warnings: Vec<String>,
    /// Findings of reading it and of the rules, before suppression.
    pub found: lint::Run,
    /// Its documents that may contain suppressions.
    pub documents: Vec<Arc<Document>>,
    /// The differences to the side before, if requested.
    pub diff: Option<ClusterDiff>,
    /// The steps of its upgrade, if requested.
    pub steps: Vec<Upgraded>,
    /// Files of trees on disk that would be written differently, if requested.
    pub stale: Vec<Utf8PathBuf>,
    /// Number of rendered objects.
    pub objects: usize,
    /// Its golden images, if requested.
    pub matrix: Option<ClusterMatrix>,
    /// The alerts that HCO's metrics would raise, if the matrix is requested.
    pub alerts: Vec<&'static str>,
    /// HCO's enabled feature gates that aren't GA, with their phase, if the matrix is requested.
    pub unfinished: Vec<(String, String)>,
    /// Its fields that differ on every sync, if requested and it is accepted.
    pub drift: Option<ClusterDrift>,
    /// The answer about a field, if requested and it is planned.
    pub answer: Option<Result<FieldAnswer, Problem>>,
    /// The output for this cluster: a JSON document or YAML objects, if requested.
    pub printed: String,
    /// An error of reading or writing the output tree.
    pub failed: Option<emit::Error>,
}

impl ClusterResult {
    /// Records why it isn't planned.
    pub(super) fn not_planned(&mut self, why: NotPlanned) {
        self.verdict = Verdict::NotPlanned(Box::new(why));
    }
}

/// A step of a cluster's upgrade.
#[derive(Debug)]
pub struct Upgraded {
    /// The target release, as the cluster's distribution names it.
    pub release: String,
    /// The HCO release of that.
    pub of: String,
    /// The effect of the step.
    pub diff: ClusterDiff,
    /// The cluster already runs that release or a later one.
    pub is_there: bool,
}

impl Upgraded {
    /// An upgrade, with `diff` as its effect.
    pub(super) fn new(to: &Release, diff: ClusterDiff, is_there: bool) -> Self {
        Self { release: to.label().to_owned(), of: to.name().to_owned(), diff, is_there }
    }
}

/// Reports a cluster's failure unless a finding does, and records it in the verdict. Without `existing_counts`, only
/// failures caused by the change fail the run.
pub fn report_outcome(outcome: &ClusterResult, existing_counts: bool, verdict: &mut Exit, notices: &dyn Notices) {
    let cluster = &outcome.cluster;
    for warning in &outcome.warnings {
        notices.warning(format_args!("{cluster}: {warning}"));
    }
    if let Some(error) = &outcome.failed {
        verdict.unusable = true;
        notices.error(format_args!("{cluster}: {error}"));
    }
    if outcome.verdict.fails() && (existing_counts || !outcome.is_unchanged) {
        verdict.failed = true;
    }
    // A finding of the rules reports it with its location.
    let is_said = outcome.found.findings.iter().any(|f| f.rejection);
    match &outcome.verdict {
        Verdict::Rejected(reasons) if !is_said => {
            let reasons = joined(reasons.iter().map(ToString::to_string), "; ");
            notices.error(with_help(format!("{cluster}: {reasons}"), outcome.forced));
        }
        Verdict::Rejected(_) => {
            if let Some(help) = outcome.forced {
                notices.note(format_args!("{cluster}: {help}"));
            }
        }
        Verdict::NotPlanned(why) => match why.kind {
            NotPlannedKind::Unreadable => verdict.unreadable = true,
            NotPlannedKind::Unusable if outcome.found.findings.is_empty() => {
                notices.error(with_help(format!("{cluster}: {why}"), why.help.as_ref()));
            }
            NotPlannedKind::Unusable => {}
            NotPlannedKind::Bug => {
                verdict.bug = true;
                notices.error(format_args!(
                    "{cluster}: hcoplan has a bug: {why}\n  \
                     help: the other clusters are not affected; please report it with this \
                     cluster's files"
                ));
            }
        },
        _ => {}
    }
}

/// A cluster's differences.
#[derive(Debug)]
pub struct ClusterDrift {
    /// Its name.
    pub cluster: String,
    /// The release as the distribution names it.
    pub release: String,
    /// What that rests on.
    pub basis: ReleaseBasis,
    /// The HyperConverged.
    pub document: Arc<Document>,
    /// The fields that differ, in document order.
    pub fields: Vec<Drift>,
}
