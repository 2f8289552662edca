//! A patch of a field that the operand has in another release.

use hcoplan_planner::jsonpatch::Loss;
use hcoplan_planner::release::Release;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-path-not-in-release",
    group: Group::Upgrade,
    severity: Severity::Error,
    predicts: Prediction::Silent("the field is dropped, and UnsupportedHCOModification fires"),
    claims: Claim::HasEffect,
    summary: "a jsonpatch operation writes a field that the operand has in another release only",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let unknown = |l: &&Loss| l.reason == Reason::Unknown;
        for loss in applied.effect.lost.iter().filter(unknown) {
            let Some(other) = cx.release_with(applied.patch, &loss.path) else {
                continue;
            };
            let (kind, release) = (applied.kind(), cx.release().label());
            let message = format!("{kind} has no field {} in {release}: it has it in {}", loss.path, other.label());
            let help = if Release::place(other.name()) > Release::place(cx.release().name()) {
                format!("keep it for clusters that run {} or later", other.label())
            } else {
                "remove it, or use the HyperConverged's own field".to_owned()
            };
            let finding = Finding::new(&RULE, message)
                .at(applied.named_location(&loss.path))
                .label("the operator drops it")
                .help(help);
            out.report(finding);
        }
    }
}
