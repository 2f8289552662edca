//! A jsonpatch annotation with more operations than are examined.

use hcoplan_planner::jsonpatch::MOST_EXAMINED;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-many-operations",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent("the rest is applied, and nothing says what it does"),
    needs: Needs::Plan,
    claims: Claim::HasEffect,
    summary: "a jsonpatch annotation has more operations than hcoplan examines one by one",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let count = patch.operations().len();
        if let Some(next) = patch.operations().get(MOST_EXAMINED) {
            let message = format!(
                "{} has {count} operations, and rules look at the first {MOST_EXAMINED} only",
                patch.target.name
            );
            out.report(
                Finding::new(&RULE, message)
                    .at(patch.place(next.spans.whole))
                    .label("from here on, nothing is checked")
                    .help("write fewer operations"),
            );
        }
    }
}
