//! A command that changes the HyperConverged beside what is declared.

use super::prelude::*;
pub(super) use hcoplan_repository::repo::HCO_CHANGED_BY_COMMAND as RULE;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let findings = cx.command_findings().iter();
    for finding in findings.filter(|f| f.rule.name == RULE.name) {
        out.report(finding.clone());
    }
}
