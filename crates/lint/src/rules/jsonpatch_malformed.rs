//! Annotations that can't be decoded.

use hcoplan_planner::jsonpatch::{Failure, OperationPart};
use hcoplan_yaml::parse;

use super::prelude::*;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&JSONPATCH_INVALID_JSON, |cx, out| each(cx, out, invalid_json)),
    always(&JSONPATCH_INVALID_OPERATION, |cx, out| {
        duplicate_keys(cx, out);
        each(cx, out, invalid_operation);
    }),
    always(&JSONPATCH_NOT_AN_ARRAY, |cx, out| each(cx, out, not_an_array)),
];

fn each(cx: &Context<'_>, out: &mut Sink, find: fn(&Context<'_>, &PatchAnnotation<'_>, &Failure) -> Option<Finding>) {
    for patch in cx.patch_annotations() {
        let found = patch
            .malformed()
            .and_then(|failure| Some(find(cx, patch, &failure)?.at(cx.patch_place(patch.target.name, &failure))));
        found.into_iter().for_each(|finding| explain_patch(cx, out, patch, finding));
    }
}

fn invalid_json(cx: &Context<'_>, patch: &PatchAnnotation<'_>, failure: &Failure) -> Option<Finding> {
    let (what, label) = match failure.kind {
        FailureKind::NotJson if patch.text.trim().is_empty() => ("is empty", "no JSON at all; [] is an empty patch"),
        FailureKind::NotJson => ("isn't JSON", "reading JSON stops here"),
        _ => return None,
    };
    let finding = cx.finding(format!("the annotation {} {what}", patch.target.name)).label(label);
    Some(finding.remedy(HELP, as_json(cx, patch)))
}

const HELP: &str = "write a JSON list of operations: double quotes, no comma after the last element";

/// Converts a text that is valid YAML (single quotes, bare words, a trailing comma) to JSON.
fn as_json(cx: &Context<'_>, patch: &PatchAnnotation<'_>) -> Option<Fix> {
    let file = SourceFile::new(cx.document().file.path(), patch.text);
    let parsed = parse(&file);
    let text = match &parsed.documents[..] {
        [only] if !parsed.problems.iter().any(|p| p.kind.is_fatal()) => only.root.to_json(),
        _ => return None,
    }
    .to_string();
    jsonpatch::decode(&text).ok()?;
    let path = Path::annotation(patch.target.name);
    let title = format!("{HELP}: {text}");
    cx.suggest(title, &[Change::Set(path, text.into())])
}

fn not_an_array(cx: &Context<'_>, patch: &PatchAnnotation<'_>, failure: &Failure) -> Option<Finding> {
    if failure.kind != FailureKind::NotAPatch || failure.operation.is_some() {
        return None;
    }
    let finding = cx.finding(format!("the annotation {} isn't a list", patch.target.name));
    Some(match bracketed(patch) {
        Some(fix) => finding.label("one operation instead of a list").help("put it in brackets").fix(fix),
        None => finding
            .label("must be a list of operations")
            .help("write a list with one operation for each change: op, path, value"),
    })
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

/// All valid `op`s.
const OPS: [Op; 6] = [Op::Add, Op::Remove, Op::Replace, Op::Move, Op::Copy, Op::Test];

fn invalid_operation(cx: &Context<'_>, patch: &PatchAnnotation<'_>, failure: &Failure) -> Option<Finding> {
    const WHOLE: &str = "write an object with op and path: {\"op\": \"add\", \"path\": \"/spec/…\", \"value\": …}";
    let index = failure.operation?;
    let (label, help) = match failure.kind {
        FailureKind::NotAPatch => ("must be an object with op and path", WHOLE),
        FailureKind::Operation(part) => match part {
            OperationPart::Op => ("`op` is missing or not a string", WHOLE),
            OperationPart::Value => ("lacks `value` (null is allowed)", "add `value`"),
            OperationPart::From => ("lacks `from`, or it is not a string", "add `from`, the path to copy or move"),
            OperationPart::Path => ("lacks `path`, or it is not a string", WHOLE),
        },
        _ => return None,
    };
    let number = index + 1;
    let finding = cx.finding(match failure.kind {
        FailureKind::NotAPatch => format!("element {number} of the patch is not an operation"),
        _ => format!("operation {number} of the patch is rejected: {}", failure.message),
    });
    let written = failure.span.filter(|_| failure.kind == FailureKind::Operation(OperationPart::Op));
    let word = written.and_then(|span| serde_json::from_str::<String>(patch.text.get(span.range())?).ok());
    let Some(word) = word else {
        return Some(finding.label(label).help(help));
    };
    let has_value = || {
        let operations: Vec<Json> = serde_json::from_str(patch.text).unwrap_or_default();
        operations.get(index).is_some_and(|operation| operation.get("value").is_some())
    };
    let (op, help) = match nearest(&word, OPS.map(Op::as_str)) {
        Some(op) => (op, format!("did you mean {op}?")),
        None if has_value() => ("add", "write add: it sets a field whether it is there or not".to_owned()),
        None => ("remove", "write remove: without a value nothing else is possible".to_owned()),
    };
    Some(finding.label("no such op").remedy(help, failure.span.and_then(|span| patch.rewritten(span, op))))
}

fn duplicate_keys(cx: &Context<'_>, out: &mut Sink) {
    let all = cx.patch_annotations().iter();
    for (patch, repeated) in
        all.flat_map(|patch| jsonpatch::duplicate_keys(patch.text).into_iter().map(move |key| (patch, key)))
    {
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
