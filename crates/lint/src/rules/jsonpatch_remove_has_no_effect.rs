//! A `remove` that removes nothing.

use super::prelude::*;
use hcoplan_planner::jsonpatch::Loss;
use hcoplan_yaml::pointer::is_within;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let Applied { patch, operation, .. } = *applied;
    let source = operation.from.as_ref().filter(|_| operation.op == Op::Move);
    let path = match operation.op {
        Op::Remove => &operation.path,
        // `jsonpatch-from-outside-spec` reports sources outside of spec.
        Op::Move => source.filter(|s| s.starts_with("/spec/"))?,
        _ => return None,
    };
    // Of a section all fields stay.
    let stays = |l: &Loss| is_within(&l.path, path) && l.plain.is_none() && l.actual.is_some();
    let is_changed = applied.effect.changed.iter().any(|change| is_within(&change.path, path));
    if is_changed || !applied.effect.lost.iter().any(stays) {
        return None;
    }
    let kind = patch.target.kind;
    let span = match source {
        Some(_) => operation.spans.from.unwrap_or(operation.spans.whole),
        None => operation.spans.path,
    };
    let message = format!("the operation {} leaves {path} of {kind} as it is", operation.op.as_str());
    let finding = cx.finding(message).at(patch.place(span)).label("HCO keeps a field that a patch removes");
    Some(match clearing(cx, applied) {
        Some(fix) => finding.help("replace it by null, which clears it").fix(fix),
        None => finding.help(
            "no patch can clear this field: set the intended value, or remove the \
                 operation",
        ),
    })
}

/// Replaces a `remove` by writing null, if that clears the field.
fn clearing(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Fix> {
    let Applied { patch, index, operation, .. } = *applied;
    let path = &operation.path;
    if operation.op != Op::Remove {
        return None;
    }
    let op = operation.spans.op.range();
    let end = operation.spans.path.end.max(operation.spans.op.end) as usize;
    let (text, edits) = patch
        .edited(&[(op.start + 1..op.end - 1, "replace".to_owned()), (end..end, ", \"value\": null".to_owned())])?;
    let operations = jsonpatch::decode(&text).ok()?;
    let effects = cx.effects_of(patch, &operations)?;
    let changed = &effects.operations.get(index)?.changed;
    changed.iter().find(|c| c.path == *path && c.after.is_none())?;
    Some(Fix { title: format!("clear {path} with null"), applicability: Applicability::Unsafe, edits })
}
