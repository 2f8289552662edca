//! A patch that reads outside the operand's spec.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-from-outside-spec",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Silent("the value is copied; a move takes nothing away"),
    needs: Needs::Document,
    claims: Claim::HasEffect,
    summary: "a jsonpatch operation reads outside the operand's spec",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        for operation in patch.operations() {
            let (Some(from), Some(span)) = (&operation.from, operation.spans.from) else {
                continue;
            };
            if from.starts_with("/spec/") {
                continue;
            }
            let op = operation.op.as_str();
            let message = format!("{op} reads {from} of {}, outside its spec", patch.target.kind);
            let label = match operation.op {
                Op::Move => "read, and not taken away",
                _ => "read before the operand is created",
            };
            out.report(
                Finding::new(&RULE, message)
                    .at(patch.place(span))
                    .label(label)
                    .help("write the value that is meant with add"),
            );
        }
    }
}
