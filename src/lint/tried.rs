//! Fixes are tried out before they are offered.

use super::context::Context;
use crate::finding::Finding;
use crate::plan::{Plan, plan};

/// Takes fixes of the HyperConverged away that would lead to a refusal, or stop the operator's
/// reconcile, where neither is so now.
pub(super) fn drop_those_that_fail(cx: &Context<'_>, findings: &mut [Finding]) {
    if !works(cx.plan()) || findings.iter().all(|finding| finding.fixes.is_empty()) {
        return;
    }
    // What is let in as an update may be refused as a new object, with or without the fix.
    if cx.before().is_some() && !works(&plan(cx.release(), cx.inventory(), cx.object())) {
        return;
    }
    for finding in findings {
        let leads_on = |fix: &_| cx.planned_with(fix).is_none_or(|plan| works(&plan));
        finding.fixes.retain(leads_on);
    }
}

fn works(plan: &Plan) -> bool {
    plan.admission.accepted && plan.reconcile_error.is_none()
}
