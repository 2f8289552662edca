//! A HyperConverged outside of the operator's namespace.

use hcoplan_planner::admission::Reason;
use hcoplan_yaml::Path;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "hco-namespace-mismatch",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::Refusal("HyperConverged CR can only be created in the '<namespace>' namespace."),
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "the HyperConverged isn't in the operator's namespace",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(mut finding) = cx.refused(&RULE, |reason| reason == Reason::Namespace) else {
        return;
    };
    let path = Path::dotted("metadata.namespace");
    let namespace = &cx.inventory().namespace;
    finding = finding
        .label(format!("the operator runs in {namespace}"))
        .help(format!("move it to {namespace}, or say in the inventory where the operator runs"));
    let moved = [Change::Set(path, namespace.as_str().into())];
    let title = format!("move it to {namespace}");
    let fix = cx.fix(title, Applicability::Suggestion, &moved);
    finding.fixes.extend(fix);
    out.explain(Incident::Refusal, finding);
}
