//! Two operations of a patch that write the same path.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let Some(earlier) = applied.conflict() else {
            continue;
        };
        let patch = applied.patch;
        let first = &patch.operations()[earlier];
        let path = &applied.operation.path;
        let kind = applied.kind();
        let [old, new] = [first, applied.operation].map(|operation| operation.value().unwrap_or_default());
        let is_lost = first.path == *path && old != new;
        let message = if first.path == *path {
            let lost = if is_lost { ": the second operation replaces the first one's value" } else { "" };
            format!("{path} of {kind} is written twice{lost}")
        } else if path.starts_with(&first.path) {
            format!("{path} of {kind} is written after {}, which gave it a value", first.path)
        } else {
            format!("{path} of {kind} is written after {}, which is inside it", first.path)
        };
        let finding = Finding::new(&JSONPATCH_SELF_CONFLICT, message)
            .at(applied.path_place())
            .label("written again")
            .related(patch.path_place(first), if is_lost { "this value is lost" } else { "written here before" });
        out.report(match new.as_array().filter(|_| is_lost && old.is_array()) {
            Some(added) => {
                let what = format!("append to the list with {path}/-, which keeps both");
                finding.remedy(what.clone(), cx.appended(&applied, path, added, what))
            }
            None => finding.help("keep one operation for each path").fixes(without(cx, &applied, earlier)),
        });
    }
}

/// Removes the earlier operation, if the operand stays the same.
fn without(cx: &Context<'_>, applied: &Applied<'_, '_>, earlier: usize) -> Option<Fix> {
    let patch = applied.patch;
    let (text, edits) = patch.without(&[earlier])?;
    cx.keeps_result(patch, &text)
        .then(|| suggestion(format!("remove operation {}, `{}`", earlier + 1, applied.operation.path), edits))
}
