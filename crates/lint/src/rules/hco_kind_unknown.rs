//! An object of HCO's API group that isn't a HyperConverged.

use hcoplan_planner::admission::{GROUP, Reason as Refused};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "hco-kind-unknown",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::Refusal("no matches for kind \"Hyperconverged\" in version \"hco.kubevirt.io/v1beta1\""),
    needs: Needs::Document,
    fix: FixKind::Suggested,
    summary: "an object of HCO's API group is of a kind that doesn't exist",
    ..Rule::BASE
};

/// The only kind of the group.
const KIND: &str = "HyperConverged";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(finding) = cx.refused(&RULE, |reason| reason == Refused::UnknownKind) else {
        return;
    };
    let written = cx.document().root.get("kind");
    let kind = written.and_then(hcoplan_yaml::Node::as_str).unwrap_or_default();
    let group = cx.api_version().split('/').next();
    if kind == KIND || group != Some(GROUP) {
        return;
    }
    let finding = match kind {
        "HyperConvergedList" => finding
            .label("a list of HyperConvergeds, and it has no `items`")
            .help("write `kind: HyperConverged`, or put the HyperConverged into `items`"),
        "" => finding.label("of no kind").help("write `kind: HyperConverged`"),
        _ => finding.label(format!("the only kind of {GROUP} is {KIND}")).help("write `kind: HyperConverged`"),
    };
    let place = match written {
        Some(node) => cx.document().location(node.span),
        None => cx.document().locate(&Path::dotted("apiVersion")),
    };
    let finding = finding.at(place.clone());
    let finding = match written.and_then(hcoplan_yaml::Node::as_str) {
        Some(_) => {
            let title = "write HyperConverged";
            finding.fix(Fix::edit(title, Applicability::Suggestion, place, KIND))
        }
        None => finding,
    };
    out.explain(Incident::Refusal, finding);
}
