//! A cluster's result: verdict, findings, differences.

use std::sync::Arc;

use super::drift::ClusterDrift;
use super::exit::Exit;
use super::field_question::FieldAnswer;
use super::notices::Notices;
use crate::matrix::ClusterMatrix;
use camino::Utf8PathBuf;
use hcoplan_explain::diff::ClusterDiff;
use hcoplan_explain::why::Problem;
use hcoplan_lint as lint;
use hcoplan_planner::release::Release;
use hcoplan_planner::verdict::{NotPlannedKind, Verdict};
use hcoplan_repository::emit;
use hcoplan_yaml::Document;

/// A cluster's result. It holds no plans, and no objects other than those that change.
#[derive(Debug)]
pub struct ClusterResult {
    /// Its name.
    pub cluster: String,
    /// Whether its HyperConverged is accepted.
    pub verdict: Verdict,
    /// Whether all its input is the same before the change.
    pub is_unchanged: bool,
    /// Whether its objects are rendered: it is stored, or rendered with `--force`.
    pub is_rendered: bool,
    /// What hcoplan did about a rejection with `--force`.
    pub forced: Option<&'static str>,
    /// Warnings of the API server and the operators; empty where rules report them.
    pub warnings: Vec<String>,
    /// What was found while reading it and by the rules, before suppression.
    pub found: lint::Run,
    /// Its documents that may say which findings to leave out.
    pub documents: Vec<Arc<Document>>,
    /// What differs from the side before; only where that was asked.
    pub diff: Option<ClusterDiff>,
    /// The steps of its upgrade; only where that was asked.
    pub steps: Vec<Upgraded>,
    /// Files of trees on disk that are not as they would be written; only where that was asked.
    pub stale: Vec<Utf8PathBuf>,
    /// How many objects were rendered.
    pub objects: usize,
    /// Its golden images; only where that was asked.
    pub matrix: Option<ClusterMatrix>,
    /// The alerts that HCO's gauges would raise; only where the matrix was asked for.
    pub alerts: Vec<&'static str>,
    /// HCO's feature gates that are on and that aren't finished, with how far they are; as the alerts.
    pub unfinished: Vec<(String, String)>,
    /// Its fields that differ on every sync; only where that was asked, and it is accepted.
    pub drift: Option<ClusterDrift>,
    /// What makes a field of it what it is; only where that was asked, and it is planned.
    pub answer: Option<Result<FieldAnswer, Problem>>,
    /// What is printed of it: its JSON document or its objects as YAML; empty where nothing was
    /// asked.
    pub printed: String,
    /// The output tree could not be read or written.
    pub failed: Option<emit::Error>,
}

impl ClusterResult {
    pub(super) fn new(cluster: &str, verdict: Verdict) -> Self {
        Self {
            cluster: cluster.to_owned(),
            verdict,
            is_unchanged: false,
            is_rendered: false,
            forced: None,
            warnings: Vec::new(),
            found: lint::Run::default(),
            documents: Vec::new(),
            diff: None,
            steps: Vec::new(),
            stale: Vec::new(),
            objects: 0,
            matrix: None,
            alerts: Vec::new(),
            unfinished: Vec::new(),
            drift: None,
            answer: None,
            printed: String::new(),
            failed: None,
        }
    }

    /// Notes that it isn't planned.
    pub(super) fn not_planned(&mut self, why: hcoplan_planner::verdict::NotPlanned) {
        self.verdict = Verdict::NotPlanned(Box::new(why));
    }
}

/// One step of a cluster's upgrade.
#[derive(Debug)]
pub struct Upgraded {
    /// The release that it leads to, as the cluster's distribution calls it.
    pub release: String,
    /// The HCO release that this is.
    pub of: String,
    /// What it does.
    pub diff: ClusterDiff,
    /// There is no step: the cluster runs that release already, or a later one.
    pub is_there: bool,
}

impl Upgraded {
    /// No step of a cluster to a release, but what `diff` says.
    pub(super) fn none(to: &Release, diff: ClusterDiff, is_there: bool) -> Self {
        Self { release: to.label().to_owned(), of: to.name().to_owned(), diff, is_there }
    }
}

/// Reports a cluster's result, unless it is accepted or findings report it, and records it in the verdict. Without
/// `existing_counts`, only results of the change fail the run.
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
    // Where the rules ran, a finding reports it with its location.
    let is_said = outcome.found.findings.iter().any(|f| f.rejection);
    match &outcome.verdict {
        Verdict::Rejected(reasons) if !is_said => {
            let help = outcome.forced.map(|h| format!("\n  help: {h}"));
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            notices.error(format_args!("{cluster}: {}{}", reasons.join("; "), help.unwrap_or_default()));
        }
        Verdict::Rejected(_) => {
            if let Some(help) = outcome.forced {
                notices.note(format_args!("{cluster}: {help}"));
            }
        }
        Verdict::NotPlanned(why) => match why.kind {
            NotPlannedKind::Unreadable => verdict.unreadable = true,
            NotPlannedKind::Unusable if outcome.found.findings.is_empty() => {
                let help = why.help.as_ref().map(|h| format!("\n  help: {h}"));
                notices.error(format_args!("{cluster}: {why}{}", help.unwrap_or_default()));
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
