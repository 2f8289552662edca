//! Runs the selected rules on a cluster.

use hcoplan_diagnostics::finding::Needs;
use hcoplan_planner::plan::PREDICTED_ALERTS;
use hcoplan_yaml::edit::apply_and_read;

use super::context::Context;
use super::failing_fixes::{demote_those_that_break, drop_those_that_fail};
use super::registered_rule::{RegisteredRule, RunPhase};
use super::registry::rules;
use super::settings::Settings;
use super::sink::Sink;
use super::words::or;
use crate::prelude::*;
use hcoplan_rule_pages::rules::{
    GOLDEN_IMAGE_NAMESPACE_MISSING, INFRA_PLACEMENT_MATCHES_NO_NODE, NODE_REFERENCE_UNMATCHED, OPERAND_VIOLATES_CRD,
    VALUE_REJECTED_LATER, VALUE_WITHOUT_EFFECT, WORKLOAD_PLACEMENT_MATCHES_NO_NODE,
};

/// The results of rules before suppression.
#[derive(Debug, Default)]
pub struct Run {
    /// The findings, sorted by location and rule.
    pub findings: Vec<Finding>,
    /// Selected rules that could not run on some cluster, because it is rejected or its nodes aren't declared.
    pub skipped: BTreeSet<&'static str>,
    /// Additional documents that may contain suppressions.
    pub documents: Vec<Arc<Document>>,
}

impl Run {
    /// Adds another cluster's results.
    pub fn add(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.skipped.extend(other.skipped);
        self.documents.extend(other.documents);
    }
}

/// The selected rules, for all clusters.
#[derive(Debug, Clone)]
pub struct Selection<'s> {
    settings: &'s Settings,
    /// All rules in execution order, each with whether it is selected and its configured severity.
    rules: Vec<(&'static RegisteredRule, bool, Option<Severity>)>,
    /// Whether fixes are requested: trying each takes two fifths of a lint's time.
    pub fixes: bool,
}

impl<'s> Selection<'s> {
    /// The selection of the settings.
    pub fn of(settings: &'s Settings) -> Self {
        let severity = |r: &RegisteredRule| settings.severity(r.rule).flatten();
        let turns = [RunPhase::Always, RunPhase::Late, RunPhase::Last].into_iter();
        let in_turn = turns.flat_map(|when| rules().iter().filter(move |r| r.when == when));
        let rules = in_turn.map(|r| (r, settings.is_enabled(r.rule), severity(r))).collect();
        Self { settings, rules, fixes: true }
    }

    /// The same without fixes, for output that doesn't show them.
    pub fn without_fixes(self) -> Self {
        Self { fixes: false, ..self }
    }

    /// The settings.
    pub fn settings(&self) -> &'s Settings {
        self.settings
    }
}

/// The findings of the selected rules on a cluster, before suppression, because one comment may affect several
/// clusters.
pub fn run(cx: &Context<'_>, selection: &Selection<'_>) -> Run {
    let mut sink = Sink::of(cx);
    for (registered, is_selected, severity) in &selection.rules {
        if !registered.rule.applies_to(cx.release().name()) {
        } else if *is_selected {
            run_one(cx, registered, *severity, &mut sink);
        } else if !cx.admission().accepted && registered.rule.needs == Needs::Document {
            // A disabled rule still explains a rejection.
            let before = sink.findings.len();
            cx.run(registered.rule, registered.check, &mut sink);
            sink.keep_rejection_from(before);
        }
    }
    let mut findings = sink.findings;
    drop_what_follows(cx, &mut findings);
    let problems = cx.other_objects().problems.iter();
    findings.extend(problems.filter(|f| selection.settings.is_enabled(f.rule)).cloned());
    if selection.fixes {
        drop_those_that_fail(cx, &mut findings);
        keep_comments(cx, &mut findings);
        findings.iter_mut().for_each(say_fixes);
        demote_those_that_break(cx, &mut findings, |after| errors(after, selection));
    } else {
        findings.iter_mut().for_each(say_fixes);
        findings.iter_mut().for_each(|f| {
            f.offers = f.best_fix().map(|fix| Box::new(Fix { edits: Vec::new(), ..fix.clone() }));
            f.fixes.clear();
            f.not_fixed = None;
        });
    }
    let further = further_rejections(cx, selection);
    if !further.is_empty() {
        let same = |a: &Finding, b: &Finding| a.rule.name == b.rule.name && a.place() == b.place();
        // A rule may already report a further rejection.
        findings.retain(|f| f.rejection || !further.iter().any(|other| same(other, f)));
        let new: Vec<Finding> = further.into_iter().filter(|f| !findings.iter().any(|other| same(other, f))).collect();
        findings.extend(new);
    }
    let object: Arc<str> = ObjectId::of(cx.object()).to_string().into();
    let distribution = cx.release().distribution();
    let fire = cx.plan().alerts();
    for finding in &mut findings {
        if let Some((alert, _)) = finding.alert() {
            finding.is_silent = PREDICTED_ALERTS.contains(&alert) && !fire.contains(&alert);
            if !distribution.is_upstream() {
                finding.runbook = distribution.runbook(alert).map(Into::into);
            }
        }
        finding.cluster = Some(cx.cluster().clone());
        finding.object.get_or_insert_with(|| Arc::clone(&object));
        let own = finding.location.as_ref().filter(|place| place.file.path() == cx.document().file.path());
        finding.path = own.and_then(|place| cx.root().path_around(place.span));
    }
    sort(&mut findings);
    Run { findings, skipped: sink.skipped, documents: cx.documents_with_suppressions() }
}

/// Removes what follows from a value that its reader can't take, which has a finding of its own.
fn drop_what_follows(cx: &Context<'_>, findings: &mut Vec<Finding>) {
    const FOLLOWS: [&str; 4] = [
        GOLDEN_IMAGE_NAMESPACE_MISSING.name,
        INFRA_PLACEMENT_MATCHES_NO_NODE.name,
        NODE_REFERENCE_UNMATCHED.name,
        WORKLOAD_PLACEMENT_MATCHES_NO_NODE.name,
    ];
    const CAUSES: [&str; 3] = [OPERAND_VIOLATES_CRD.name, VALUE_REJECTED_LATER.name, VALUE_WITHOUT_EFFECT.name];
    let path = |f: &Finding| cx.root().path_around(f.location.as_ref()?.span);
    let is_wrong = |f: &&Finding| CAUSES.contains(&f.rule.name);
    let wrong: Vec<Path> = findings.iter().filter(is_wrong).filter_map(path).collect();
    let follows = |f: &Finding| path(f).is_some_and(|above| wrong.iter().any(|at| at.starts_with(&above)));
    findings.retain(|f| !(FOLLOWS.contains(&f.rule.name) && follows(f)));
}

/// The errors of rules about the HyperConverged, its plan and the nodes.
fn errors(cx: &Context<'_>, selection: &Selection<'_>) -> Vec<Finding> {
    let mut sink = Sink::of(cx);
    let rules = selection.rules.iter().filter(|(r, is_selected, severity)| {
        let severity = severity.unwrap_or(r.rule.severity);
        *is_selected && severity == Severity::Error && r.rule.applies_to(cx.release().name())
    });
    rules.for_each(|(registered, _, severity)| run_one(cx, registered, *severity, &mut sink));
    sink.findings.retain(Finding::is_error);
    sink.findings
}

/// Findings for the further reasons of a rejection, each from the rule that explains it. They have no fixes: a fix
/// can't be tried while the first reason rejects everything.
fn further_rejections(cx: &Context<'_>, selection: &Selection<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for reason in &cx.admission().further {
        let admission = cx.admission().with_reason(reason);
        let plan = Plan::rejected(cx.release(), cx.inventory(), admission);
        let other = cx.as_if_rejected(&plan);
        let mut sink = Sink::of(&other);
        for (registered, ..) in &selection.rules {
            let rule = registered.rule;
            if rule.applies_to(cx.release().name()) && rule.needs == Needs::Document {
                other.run(rule, registered.check, &mut sink);
            }
        }
        sink.keep_rejection_from(0);
        out.extend(sink.findings);
    }
    out
}

fn run_one(cx: &Context<'_>, registered: &RegisteredRule, severity: Option<Severity>, sink: &mut Sink) {
    let rule = registered.rule;
    // With a wrong inventory nothing is rendered: what would follow from the rest of it isn't known.
    let rendered = cx.hyperconverged().is_some() && cx.has_valid_inventory();
    let given = match rule.needs {
        Needs::Document => true,
        Needs::Plan => rendered,
        Needs::Nodes => rendered && cx.has_nodes(),
    };
    if !given {
        sink.skipped.insert(rule.name);
        return;
    }
    let before = sink.findings.len();
    sink.untried.set(false);
    cx.run(rule, registered.check, sink);
    let found = sink.findings.iter_mut().skip(before);
    if let Some(severity) = severity {
        for finding in found.filter(|f| !f.rejection) {
            finding.severity = severity;
        }
    }
}

/// The fixes' titles are the help; the rule's own words are for a finding without a fix.
fn say_fixes(finding: &mut Finding) {
    if !finding.fixes.is_empty() {
        finding.help = Some(or(finding.fixes.iter().map(|fix| &fix.title)).into());
    }
}

/// A fix that removes a comment of the HyperConverged's file is unsafe, and its title reports it.
fn keep_comments(cx: &Context<'_>, findings: &mut [Finding]) {
    let path = cx.document().file.path();
    for fix in findings.iter_mut().flat_map(|f| &mut f.fixes) {
        let is_ours = fix.edits.iter().all(|e| e.file.path() == path);
        if is_ours && cx.editable_file().loses_comment(&fix.edits) {
            fix.mark_comment_removal();
            // Only a removed entry may remove its comment.
            if apply_and_read(cx.editable_file(), &fix.edits).is_err() {
                fix.applicability = Applicability::Suggestion;
            }
        }
    }
}

/// Sorts by file, location, rule and cluster; findings without a location come first.
pub(super) fn sort(findings: &mut [Finding]) {
    fn key(f: &Finding) -> impl Ord + '_ {
        (f.place(), f.rule.name, &f.cluster, &f.message)
    }
    // Findings with equal keys are equal; a stable sort would need half as much memory again.
    findings.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::finding::Rule;

    use super::*;
    use crate::registered_rule::always;
    use crate::tests::load::Case;

    static RULE: Rule =
        Rule { name: "a-test", since: Some("1.17"), until: Some("1.18"), needs: Needs::Document, ..Rule::BASE };
    static REGISTERED: RegisteredRule = always(&RULE, |_, out| out.report(Finding::new(&RULE, "found")));

    #[test]
    fn a_rule_runs_on_its_releases_only() {
        let settings = Settings::default();
        let selection = Selection { settings: &settings, rules: vec![(&REGISTERED, true, None)], fixes: false };
        let manifest = "apiVersion: hco.kubevirt.io/v1beta1\nkind: HyperConverged\nmetadata: {name: a}\n";
        let count = |release| {
            let case = Case::with(manifest, "", release);
            run(&case.surroundings(&settings), &selection).findings.len()
        };
        assert_eq!(["1.16", "1.17", "1.18", "1.19"].map(count), [0, 1, 1, 0]);
    }
}
