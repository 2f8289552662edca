//! An invalid operation of a patch.

use hcoplan_planner::jsonpatch::OperationPart;

use super::prelude::*;

/// All valid `op`s.
const OPS: [Op; 6] = [Op::Add, Op::Remove, Op::Replace, Op::Move, Op::Copy, Op::Test];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        duplicate_keys(cx, patch, out);
        let Some(failure) = patch.malformed() else {
            continue;
        };
        let element = failure.kind == FailureKind::NotAPatch && failure.operation.is_some();
        if !matches!(failure.kind, FailureKind::Operation(_)) && !element {
            continue;
        }
        let name = patch.target.name;
        let place = cx.patch_place(name, &failure);
        let written = failure.span.and_then(|s| patch.text.get(s.range()));
        let word = written.and_then(|w| serde_json::from_str::<String>(w).ok());
        let unsupported = failure.kind == FailureKind::Operation(OperationPart::Op);
        let mut finding = cx.finding(message(&failure, element)).at(place);
        finding = match word.filter(|_| unsupported) {
            None => finding.label(label(&failure, element)).help(match failure.kind {
                FailureKind::Operation(OperationPart::Value) => "add `value`",
                FailureKind::Operation(OperationPart::From) => "add `from`, the path to copy or move",
                _ => "write an object with op and path: {\"op\": \"add\", \"path\": \"/spec/…\", \"value\": …}",
            }),
            Some(word) => {
                let finding = finding.label("no such op");
                let has_value = || {
                    let operations: Vec<Json> = serde_json::from_str(patch.text).unwrap_or_default();
                    let operation = failure.operation.and_then(|index| operations.get(index));
                    operation.is_some_and(|operation| operation.get("value").is_some())
                };
                let (op, help) = match nearest(&word, OPS.map(Op::as_str)) {
                    Some(op) => (op, format!("did you mean {op}?")),
                    None if has_value() => ("add", "write add: it sets a field whether it is there or not".to_owned()),
                    None => ("remove", "write remove: without a value nothing else is possible".to_owned()),
                };
                let fix = failure.span.and_then(|span| patch.rewritten(span, op)).map(|(_, fix)| fix);
                finding.remedy(help, fix)
            }
        };
        explain_patch(cx, out, patch, finding);
    }
}

fn message(failure: &jsonpatch::Failure, element: bool) -> String {
    let number = failure.operation.map_or(0, |i| i + 1);
    if element {
        format!("element {number} of the patch is not an operation")
    } else {
        format!("operation {number} of the patch is rejected: {}", failure.message)
    }
}

/// The label for the location.
fn label(failure: &jsonpatch::Failure, element: bool) -> &'static str {
    match failure.kind {
        _ if element => "must be an object with op and path",
        FailureKind::Operation(OperationPart::Op) => "`op` is missing or not a string",
        FailureKind::Operation(OperationPart::Value) => "lacks `value` (null is allowed)",
        FailureKind::Operation(OperationPart::From) => "lacks `from`, or it is not a string",
        _ => "lacks `path`, or it is not a string",
    }
}

fn duplicate_keys(cx: &Context<'_>, patch: &PatchAnnotation<'_>, out: &mut Sink) {
    for repeated in jsonpatch::duplicate_keys(patch.text) {
        let key = &repeated.key;
        let message = format!("operation {} has {key} more than once; HCO uses the last value", repeated.operation + 1);
        out.report(
            cx.finding(message)
                .warning()
                .at(patch.place(repeated.first))
                .label("has no effect")
                .related(patch.place(repeated.last), "HCO uses this value")
                .help("write each key once"),
        );
    }
}
