//! A jsonpatch annotation with operations.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-present",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    summary: "a jsonpatch annotation changes an operand behind the API's back",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    // An operator that panics before it counts them reports none.
    if !cx.plan().metrics.contains_key("kubevirt_hco_unsafe_modifications") {
        return;
    }
    for patch in cx.patch_annotations() {
        let count = jsonpatch::count(patch.text);
        if count == 0 {
            continue;
        }
        let operations = if count == 1 { "1 operation" } else { &format!("{count} operations") };
        let kind = patch.target.kind;
        out.report(
            Finding::new(&RULE, format!("a jsonpatch annotation changes {kind} with {operations}"))
                .at(patch.annotation.key_place())
                .label("not supported; the operator reports it")
                .help("use the HyperConverged's own field where there is one"),
        );
    }
}
