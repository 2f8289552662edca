//! A patched operand that its operator's webhook rejects.

use hcoplan_planner::admission::kubevirt_rejections;
use hcoplan_planner::boot_images::ssp_stage::{self, SspReason};

use super::prelude::*;

/// Reasons reported by other rules.
const ELSEWHERE: [&str; 2] = ["customize-components", "gates-in-both-lists"];

const WEBHOOK: [&str; 2] =
    ["the webhook rejects the patched object", "write a value that the webhook accepts, or remove the operation"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (patch, before, after) in cx.patched_operands() {
        match patch.target.kind {
            "KubeVirt" => {
                let facts = cx.kubevirt();
                let rejections = kubevirt_rejections(facts, before, after);
                let known = kubevirt_rejections(facts, before, before);
                for rejection in rejections {
                    if ELSEWHERE.contains(&rejection.check) || known.contains(&rejection) {
                        continue;
                    }
                    let message = format!("KubeVirt's webhook will reject the KubeVirt: {}", rejection.message);
                    out.report(finding(cx, patch, message, &rejection.pointer, WEBHOOK));
                }
            }
            "SSP" if !out.is_explained(Incident::SspRejection) => {
                let Some(why) = cx.ssp_rejection() else {
                    continue;
                };
                let without = ssp_stage::render(before, cx.release().ssp(), &ssp_stage::Existing::default());
                if without.admission.accepted {
                    let message = format!("SSP's webhook rejects the SSP: {why}");
                    let pointer = match cx.ssp_reason() {
                        Some(SspReason::NamelessTemplate) => "/spec/commonTemplates",
                        _ => "/spec/cluster",
                    };
                    out.explain(Incident::SspRejection, finding(cx, patch, message, pointer, WEBHOOK));
                }
            }
            _ => {}
        }
    }
}

/// A finding at the operation that caused it.
pub(super) fn finding(
    cx: &Context<'_>,
    patch: &PatchAnnotation<'_>,
    message: String,
    pointer: &str,
    [label, help]: [&'static str; 2],
) -> Finding {
    let applied = cx.changed_by(patch, pointer).or_else(|| cx.changed_by(patch, "/spec"));
    let place = match &applied {
        Some(applied) if applied.changed(pointer).is_some() => applied.written_location(pointer),
        Some(applied) => applied.path_place(),
        None => patch.annotation.value_place(),
    };
    let fix = applied.and_then(|applied| cx.drop_operation(&applied));
    cx.finding(message).at(place).label(label).remedy(help, fix)
}
