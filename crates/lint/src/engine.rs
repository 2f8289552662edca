//! Runs the selected rules over one cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use hcoplan_diagnostics::finding::{Finding, Needs, Severity};
use hcoplan_kubernetes::ObjectId;
use hcoplan_planner::plan::PREDICTED_ALERTS;
use hcoplan_yaml::Document;

use super::context::Context;
use super::failing_fixes::drop_those_that_fail;
use super::registered_rule::{RegisteredRule, RunPhase};
use super::registry::rules;
use super::settings::Settings;
use super::sink::Sink;

/// What rules found, before suppression.
#[derive(Debug, Default)]
pub struct Run {
    /// The findings, sorted by place and rule.
    pub findings: Vec<Finding>,
    /// Selected rules that could not run on some cluster: it is refused, or its nodes aren't
    /// declared.
    pub skipped: BTreeSet<&'static str>,
    /// Documents beside the HyperConverged and its inventory that may say which findings to leave
    /// out.
    pub documents: Vec<Arc<Document>>,
}

impl Run {
    /// Takes up what was found in another cluster.
    pub fn add(&mut self, other: Self) {
        if self.findings.is_empty() {
            self.findings = other.findings;
        } else {
            self.findings.extend(other.findings);
        }
        self.skipped.extend(other.skipped);
        self.documents.extend(other.documents);
    }
}

/// The rule that reports a refusal where no other one does: a refusal is always told.
const NEVER_OFF: &str = "admission-refused";

/// Which rules run, said once for all clusters.
#[derive(Debug, Clone)]
pub struct Selection<'s> {
    settings: &'s Settings,
    /// In the order in which they run, each with its configured severity.
    rules: Vec<(&'static RegisteredRule, Option<Severity>)>,
    /// Whether somebody asks for fixes: each one is tried out, which is two fifths of a lint.
    fixes: bool,
}

impl<'s> Selection<'s> {
    /// What the settings say of all rules.
    pub fn of(settings: &'s Settings) -> Self {
        let wanted = |r: &&RegisteredRule| settings.is_enabled(r.rule) || r.rule.name == NEVER_OFF;
        let severity = |r: &RegisteredRule| settings.severity(r.rule).flatten();
        let turns = [RunPhase::Always, RunPhase::Late, RunPhase::Last].into_iter();
        let in_turn = turns.flat_map(|when| rules().iter().filter(move |r| r.when == when));
        Self { settings, rules: in_turn.filter(wanted).map(|r| (r, severity(r))).collect(), fixes: true }
    }

    /// The same without fixes, for what doesn't show them.
    pub fn without_fixes(self) -> Self {
        Self { fixes: false, ..self }
    }

    /// What says so.
    pub fn settings(&self) -> &'s Settings {
        self.settings
    }
}

/// What the selected rules find in one cluster. Nothing is suppressed yet: a comment may be about
/// several clusters.
pub fn run(cx: &Context<'_>, selection: &Selection<'_>) -> Run {
    let mut sink = Sink::of(cx);
    for (registered, severity) in &selection.rules {
        if registered.rule.applies_to(cx.release().name()) {
            run_one(cx, registered, *severity, &mut sink);
        }
    }
    let mut findings = sink.findings;
    if selection.fixes {
        drop_those_that_fail(cx, &mut findings);
        keep_comments(cx, &mut findings);
    } else {
        findings.iter_mut().for_each(|f| {
            f.fixes.clear();
            f.not_fixed = None;
        });
    }
    let object: Arc<str> = ObjectId::of(cx.object()).to_string().into();
    let cluster: Arc<str> = cx.cluster().into();
    let distribution = cx.release().distribution();
    let fire = cx.plan().alerts();
    for finding in &mut findings {
        if let Some((alert, _)) = finding.alert() {
            finding.is_silent = PREDICTED_ALERTS.contains(&alert) && !fire.contains(&alert);
        }
        if let Some((alert, _)) = finding.alert().filter(|_| !distribution.is_upstream()) {
            finding.runbook = distribution.runbook(alert).map(Into::into);
        }
        finding.cluster = Some(Arc::clone(&cluster));
        finding.object.get_or_insert_with(|| Arc::clone(&object));
    }
    sort(&mut findings);
    Run { findings, skipped: sink.skipped, documents: cx.documents_with_suppressions() }
}

fn run_one(cx: &Context<'_>, registered: &RegisteredRule, severity: Option<Severity>, sink: &mut Sink) {
    let rule = registered.rule;
    let rendered = cx.hyperconverged().is_some();
    let given = match rule.needs {
        Needs::Document => true,
        Needs::Plan => rendered,
        Needs::Nodes => rendered && cx.has_nodes(),
    };
    if !given {
        sink.skipped.insert(rule.name);
        if rendered {
            sink.without_nodes.push(rule.name);
        }
        return;
    }
    let before = sink.findings.len();
    sink.untried.set(false);
    (registered.check)(cx, sink);
    let found = sink.findings.iter_mut().skip(before);
    if let Some(severity) = severity {
        for finding in found.filter(|f| !f.refusal) {
            finding.severity = severity;
        }
    }
}

/// A fix that takes a comment of the HyperConverged's file away says so, and isn't safe.
fn keep_comments(cx: &Context<'_>, findings: &mut [Finding]) {
    let path = cx.document().file.path();
    for fix in findings.iter_mut().flat_map(|f| &mut f.fixes) {
        let is_ours = fix.edits.iter().all(|e| e.file.path() == path);
        if is_ours && cx.editable_file().loses_comment(&fix.edits) {
            fix.takes_a_comment();
        }
    }
}

/// Sorts by file, place, rule and cluster; what has no place comes first.
pub(super) fn sort(findings: &mut [Finding]) {
    fn key(f: &Finding) -> impl Ord + '_ {
        let place = f.location.as_ref();
        let place = place.map(|place| (place.file.path(), place.span));
        (place, f.rule.name, &f.cluster, &f.message)
    }
    // Those that are alike in all of it say the same; a stable sort would need half as much memory again.
    findings.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
}
