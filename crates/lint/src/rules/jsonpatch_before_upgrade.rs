//! A patch that is still there when the release changes.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-before-upgrade",
    group: Group::Upgrade,
    severity: Severity::Warning,
    predicts: Prediction::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    needs: Needs::Plan,
    pedantic: true,
    summary: "a jsonpatch annotation would go through the upgrade to the next release",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(next) = cx.next_release() else {
        return;
    };
    for patch in cx.patch_annotations() {
        let count = patch.operations().len();
        if count == 0 {
            continue;
        }
        let operations = if count == 1 { "operation" } else { "operations" };
        let (kind, next) = (patch.target.kind, next.label());
        let message = format!("{count} {operations} on {kind} would go through the upgrade to {next}");
        out.report(
            Finding::new(&RULE, message)
                .at(patch.annotation.key_place())
                .label("written against this release's operand")
                .help(format!("try it: hcoplan plan DIR --upgrade-to {next}; remove it for the upgrade")),
        );
    }
}
