//! The operator panics on a HyperConverged that it was handed.

use super::prelude::*;
use super::tls_profile_invalid::{with_type, without_type};

pub(super) static RULE: Rule = Rule {
    name: "operator-panics",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError(
        "panic: runtime error: invalid memory address or nil pointer dereference [recovered]",
    ),
    fix: FixKind::Safe,
    summary: "the HyperConverged is accepted, and the operator panics on it in every reconcile",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let error = cx.plan().reconcile_error.as_ref();
    // A template without a source has a finding of its own.
    if !error.is_some_and(|error| error.is_panic() && error.operand != "SSP") {
        return;
    }
    let whose =
        if cx.field("tlsSecurityProfile").is_set() { "`tlsSecurityProfile`" } else { "the cluster's TLS profile" };
    let message = format!(
        "HCO's operator panics on {whose} in every reconcile: nothing is deployed, and no condition \
         says so"
    );
    let finding = without_type(cx, Finding::new(&RULE, message));
    let fix = with_type(cx, Applicability::Safe);
    out.explain(Incident::ReconcileError, finding.fixes(fix));
}
