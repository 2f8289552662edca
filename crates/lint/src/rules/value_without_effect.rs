//! A value that HCO or CDI passes on and that matches nothing or is ignored by its reader: rows of `values::table`.

use super::prelude::*;
use crate::values;

pub(super) static RULE: Rule = Rule {
    name: "value-without-effect",
    group: Group::Operands,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the value does nothing, or something else than it says"),
    fix: FixKind::Unsafe,
    summary: "a value that HCO or CDI passes on matches nothing, or is ignored by the component that reads it",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    values::report(cx, &RULE, out, |outcome| !outcome.is_rejection());
}
