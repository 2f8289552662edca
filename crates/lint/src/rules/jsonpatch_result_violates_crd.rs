//! A patched operand that the API server rejects.

use super::jsonpatch_result_rejected_by_webhook::finding;
use super::prelude::*;

const SCHEMA: [&str; 2] =
    ["violates its CustomResourceDefinition", "write a value that the schema allows, or remove the operation"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (patch, before, after) in cx.patched_operands() {
        let Some(schema) = cx.operand_schema(patch) else {
            continue;
        };
        let found = schema.rejections(after);
        let before = schema.rejections(before);
        let known: BTreeSet<&str> = before.iter().map(|v| v.message.as_str()).collect();
        let new = found.iter().filter(|v| !known.contains(v.message.as_str()));
        out.report_all(new.map(|violation| {
            let message = format!("the API server will reject the {}: {}", patch.target.kind, violation.message);
            finding(cx, patch, message, &violation.path.to_pointer(), SCHEMA)
        }));
    }
}
