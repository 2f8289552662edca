//! A value that HCO or CDI passes on and its reader rejects: rows of `values::table`.

use super::prelude::*;
use crate::values;

pub(super) static RULE: Rule = Rule {
    name: "value-rejected-later",
    group: Group::Operands,
    severity: Severity::Error,
    predicts: Prediction::Silent("what is made with the value is rejected, and its operator can't finish"),
    fix: FixKind::Unsafe,
    summary: "a value that HCO or CDI passes on is rejected by the component that reads it",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    values::report(cx, &RULE, out, values::Outcome::is_rejection);
}
