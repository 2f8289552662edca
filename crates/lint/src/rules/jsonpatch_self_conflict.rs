//! Two operations of a patch that write the same path.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::warning(
    "jsonpatch-self-conflict",
    Group::Jsonpatch,
    "two operations of one jsonpatch annotation write the same place",
)
.silent("the result depends on the order of the operations")
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let Some(earlier) = applied.conflict() else {
            continue;
        };
        let patch = applied.patch;
        let first = &patch.operations()[earlier];
        let path = &applied.operation.path;
        let kind = applied.kind();
        let message = if first.path == *path {
            format!("{path} of {kind} is written twice")
        } else if path.starts_with(&first.path) {
            format!("{path} of {kind} is written after {}, which gave it a value", first.path)
        } else {
            format!("{path} of {kind} is written after {}, which is inside it", first.path)
        };
        out.report(
            Finding::new(&RULE, message)
                .at(applied.path_place())
                .label("written again")
                .related(patch.path_place(first), "written here before")
                .help("keep one operation for each path")
                .fixes(without(cx, &applied, earlier)),
        );
    }
}

/// Removes the earlier operation, if the operand stays the same.
fn without(cx: &Context<'_>, applied: &Applied<'_, '_>, earlier: usize) -> Option<Fix> {
    let patch = applied.patch;
    let range = jsonpatch::removal_range(patch.text, earlier)?;
    let (text, edits) = patch.edited(&[(range, String::new())])?;
    (cx.result_of(patch, &text).as_ref() == patch.result()).then(|| Fix {
        title: format!("remove operation {}, `{}`", earlier + 1, applied.operation.path),
        applicability: Applicability::Suggestion,
        edits,
    })
}
