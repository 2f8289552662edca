//! A patched operand that the API server rejects.

use hcoplan_kubernetes::schema::Violation;

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (patch, before, after) in cx.patched_operands() {
        let Some(schema) = cx.operand_schema(patch) else {
            continue;
        };
        let found = schema.rejections(after);
        let before = schema.rejections(before);
        let known: BTreeSet<&str> = before.iter().map(|v| v.message.as_str()).collect();
        let new = found.iter().filter(|v| !known.contains(v.message.as_str()));
        out.report_all(new.map(|violation| finding(cx, patch, violation)));
    }
}

fn finding(cx: &Context<'_>, patch: &PatchAnnotation<'_>, violation: &Violation) -> Finding {
    let kind = patch.target.kind;
    let message = format!("the API server will reject the {kind}: {}", violation.message);
    let pointer = violation.path.to_pointer();
    let applied = cx.changed_by(patch, &pointer);
    let place = match &applied {
        Some(applied) => applied.written_location(&pointer),
        None => patch.annotation.value_place(),
    };
    cx.finding(message).at(place).label("violates its CustomResourceDefinition").remedy(
        "write a value that the schema allows, or remove the operation",
        applied.and_then(|a| cx.drop_operation(&a)),
    )
}
