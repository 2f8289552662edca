//! The API server or a webhook refuses the HyperConverged, and no other rule says why.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "admission-refused",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::Refusal("the message that the API server or the webhook answers with"),
    needs: Needs::Document,
    summary: "the API server or HCO's webhook would refuse the HyperConverged",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if !out.is_explained(Incident::Refusal)
        && let Some(finding) = cx.refused(&RULE, |_| true)
    {
        out.explain(Incident::Refusal, finding);
    }
}
