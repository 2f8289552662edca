//! A patch that works on this release but not on the next.

use hcoplan_explain::diff::{PatchChange, patch_change};
use hcoplan_planner::plan::{AdmissionMode, plan_with};

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(next) = cx.next_release() else {
        return;
    };
    if cx.patch_annotations().is_empty() || cx.patch_failure().is_some() {
        return;
    }
    let nodes = cx.inventory();
    let plan = plan_with(&next, nodes, cx.object(), AdmissionMode::Unchecked);
    for patch in cx.patch_annotations() {
        let (name, kind) = (patch.target.name, patch.target.kind);
        let (before, after) = ((cx.release(), cx.plan_as_new()), (&*next, &plan));
        for change in patch_change(before, after, name, kind, patch.text) {
            let place = |index: usize| match patch.operations().get(index) {
                Some(operation) => patch.place(operation.spans.whole),
                None => patch.annotation.value_place(),
            };
            let described = |index: usize| match patch.operations().get(index) {
                Some(operation) => format!("the operation {} of {} on {kind}", operation.op.as_str(), operation.path),
                None => format!("the patch of {kind}"),
            };
            let next = next.label();
            out.report(match change {
                PatchChange::Fails(index, message) => cx
                    .finding(format!("{next} can't apply {}: {message}", described(index)))
                    .at(place(index))
                    .label("the reconcile stops here after the upgrade")
                    .help("remove it before the upgrade"),
                PatchChange::Noop(index) => {
                    let message = format!("{} is no longer needed: it has no effect on {next}", described(index));
                    // The reconcile doesn't fail.
                    cx.finding(message)
                        .info()
                        .silent()
                        .at(place(index))
                        .label("changes nothing after the upgrade, and still counts for the alert")
                        .help("remove it with the upgrade")
                }
                PatchChange::Elsewhere(index, was, is) => cx
                    .finding(format!("on {next}, {} changes {is} instead of {was}", described(index)))
                    .at(place(index))
                    .label("this index names another entry there")
                    .help("remove it before the upgrade, and find the new index"),
                PatchChange::Collides(gate) => {
                    let writes = |o: &&Operation| o.value().is_some_and(|v| v == gate.as_str());
                    let index = patch.operations().iter().position(|o| writes(&o));
                    let message = format!(
                        "{next} lists {gate} in disabledFeatureGates, and KubeVirt rejects a gate \
                         in both lists"
                    );
                    cx.finding(message)
                        .at(place(index.unwrap_or_default()))
                        .label("KubeVirt's webhook rejects the object after the upgrade")
                        .help("remove it before the upgrade")
                }
            });
        }
    }
}
