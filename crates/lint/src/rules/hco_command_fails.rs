//! A command on the HyperConverged that fails or has no effect, now or on a later release.

use super::prelude::*;
pub(super) use hcoplan_repository::repo::HCO_COMMAND_FAILS as RULE;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let findings = cx.command_findings().iter();
    for finding in findings.filter(|f| f.rule.name == RULE.name) {
        out.report(finding.clone());
    }
}
