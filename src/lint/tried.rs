//! Fixes are tried out before they are offered.

use std::collections::BTreeMap;

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
    let mut of_rule: BTreeMap<&str, Tried> = BTreeMap::new();
    for finding in findings {
        let tried = of_rule.entry(finding.rule.name).or_default();
        finding.fixes.retain(|fix| {
            if tried.count == MOST_OF_A_RULE {
                return !tried.failed;
            }
            tried.count += 1;
            let leads_on = cx.planned_with(fix).is_none_or(|plan| works(&plan));
            tried.failed |= !leads_on;
            leads_on
        });
    }
}

/// So many fixes of a rule are tried in a document. Those behind them are alike, and a plan for each would
/// take the square of their number; where one of the first failed, none of the rest is offered.
const MOST_OF_A_RULE: usize = 4;

/// What came of a rule's fixes.
#[derive(Default)]
struct Tried {
    count: usize,
    failed: bool,
}

fn works(plan: &Plan) -> bool {
    plan.admission.accepted && plan.reconcile_error.is_none()
}
