//! The operator's reconcile ends with an error, and no other rule says why.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "reconcile-fails",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError("the error that the operator logs"),
    summary: "the HyperConverged is accepted, but the operator's reconcile ends with an error",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if out.is_explained(Incident::ReconcileError) {
        return;
    }
    if let Some(error) = &cx.plan().reconcile_error {
        let patch = error.patch.as_ref();
        let place = patch.map_or_else(|| cx.whole_location(), |p| cx.patch_place(p.0, &p.1));
        let message = format!("the operator can't render {}: {error}", error.operand);
        let finding = Finding::new(&RULE, message)
            .at(place)
            .label(format!("{} and the operands after it are not updated", error.operand));
        out.explain(Incident::ReconcileError, finding);
    }
}
