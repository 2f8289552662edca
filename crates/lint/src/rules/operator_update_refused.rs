//! HCO's own update of the HyperConverged is refused.

use hcoplan_planner::hyperconverged::version_of;

use super::prelude::*;
use super::tls_profile_invalid::{with_type, without_type};

pub(super) static RULE: Rule = Rule {
    name: "operator-update-refused",
    group: Group::Admission,
    severity: Severity::Error,
    predicts: Prediction::ReconcileError("the webhook's words, in the operator's log"),
    fix: FixKind::Unsafe,
    summary: "the HyperConverged is accepted, and HCO's own update of it is refused for good",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(update) = &cx.plan().refused_update else {
        return;
    };
    let finding = Finding::new(
        &RULE,
        format!("HCO's own update of the HyperConverged is refused in every reconcile: {}", update.message),
    );
    let label = "neither finalizer nor `evictionStrategy` is ever stored";
    let stored = update.stored.as_ref().or(update.forced.as_ref());
    let same_version = stored.is_none_or(|s| version_of(s) == cx.version());
    let profile = cx.field("tlsSecurityProfile");
    let lacks_type = profile.is_set() && !cx.field("tlsSecurityProfile.type").is_set();
    let finding = match (&update.patch, update.causes.first()) {
        (None, _) if lacks_type => without_type(cx, finding).fixes(with_type(cx, Applicability::Unsafe)),
        (Some(patch), _) => finding.at(cx.patch_place(patch.0, &patch.1)).label(label),
        (None, Some(cause)) if same_version => finding.at(cx.locate(&cause.path)).label(label),
        _ => finding.at(cx.whole_location()).label(label),
    };
    let hole = cx.admission().holes.first();
    out.report(match hole {
        Some(hole) if !lacks_type => {
            finding.related(cx.locate(&hole.path), "the warning about this hid it from the webhook")
        }
        _ => finding,
    });
}
