//! A patch that changes nothing.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let empty = patch.malformed().is_none() && patch.operations().is_empty();
        if empty {
            let message = format!("the annotation {} has no operations", patch.target.name);
            out.report(
                cx.finding(message)
                    .at(patch.annotation.value_place())
                    .label("changes nothing")
                    .help("remove the annotation")
                    .fixes(cx.without_annotation(patch, Applicability::Safe)),
            );
        }
    }
    for applied in cx.applied() {
        if !applied.writes() || applied.conflict().is_some() || !does_nothing(cx, &applied) {
            continue;
        }
        let (op, path) = (applied.operation.op.as_str(), &applied.operation.path);
        let message = format!("the operation {op} leaves {path} of {} as HCO renders it", applied.kind());
        out.report(
            cx.finding(message)
                .at(applied.path_place())
                .label("changes nothing, and counts for the alert")
                .help("remove the operation")
                .fixes(cx.without_operation(applied.patch, applied.index, Applicability::Safe)),
        );
    }
}

/// Whether the operand is equal without the operation.
fn does_nothing(cx: &Context<'_>, applied: &Applied<'_, '_>) -> bool {
    let effect = applied.effect;
    if !effect.changed.is_empty() || !effect.lost.is_empty() {
        return false;
    }
    let patch = applied.patch;
    let without = match jsonpatch::removal_range(patch.text, applied.index) {
        None => return true,
        Some(range) => patch.text[..range.start].to_owned() + &patch.text[range.end..],
    };
    cx.keeps_result(patch, &without)
}
