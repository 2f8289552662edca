//! A jsonpatch annotation that is JSON but not a list.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let Some(failure) = patch.malformed() else {
            continue;
        };
        if failure.kind != FailureKind::NotAPatch || failure.operation.is_some() {
            continue;
        }
        let name = patch.target.name;
        let finding = cx.finding(format!("the annotation {name} isn't a list")).at(cx.patch_place(name, &failure));
        let finding = match bracketed(patch) {
            Some(fix) => finding.label("one operation instead of a list").help("put it in brackets").fix(fix),
            None => finding
                .label("must be a list of operations")
                .help("write a list with one operation for each change: op, path, value"),
        };
        explain_patch(cx, out, patch, finding);
    }
}

/// Adds brackets, if that gives valid operations.
fn bracketed(patch: &PatchAnnotation<'_>) -> Option<Fix> {
    let text = patch.text;
    jsonpatch::decode(&format!("[{text}]")).ok()?;
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    let edits = vec![patch.annotation.edit_part(start..start, "[")?, patch.annotation.edit_part(end..end, "]")?];
    Some(safe("put the operation in [ and ]", edits))
}
