//! A value of the wrong type for the operand's field.

use hcoplan_kubernetes::go::{GoType, GoTypes, Wants};

use super::jsonpatch_struct_list_merges::short;
use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        let failed = cx.patch_failure();
        let Some(failed) = failed.filter(|f| f.annotation == patch.target.name) else {
            continue;
        };
        if patch.malformed().is_some() {
            continue;
        }
        for (index, operation) in patch.operations().iter().enumerate() {
            let is_it = failed.failure.operation == Some(index);
            let fails = is_it && failed.failure.kind == FailureKind::WrongType;
            let Some(finding) = mismatch(cx, patch, operation) else {
                if fails {
                    let finding = cx
                        .finding(failed.failure.message.clone())
                        .at(cx.patch_place(patch.target.name, failed.failure))
                        .label("the operand has no place for what this makes");
                    out.explain(failed.incident, finding);
                }
                continue;
            };
            out.report_as(fails.then_some(failed.incident), finding);
        }
    }
}

/// The type error of an operation's value.
fn mismatch(cx: &Context<'_>, patch: &PatchAnnotation<'_>, operation: &Operation) -> Option<Finding> {
    if !matches!(operation.op, Op::Add | Op::Replace) {
        return None;
    }
    let (types, ty) = cx.types_of(patch)?;
    let value = operation.value()?;
    let (document, at) = placed(types, ty, operation, value)?;
    let error = types.decode_check(&document, ty).err()?;
    let found = Path::dotted(&error.path);
    let below = found.0.get(at.0.len()..).unwrap_or_default();
    let keys: Vec<String> = below.iter().map(step).collect();
    let part = operation.part(patch.text, &keys);
    let span = part.map_or(operation.spans.value?, |p| p.value);
    let mut keys = found.0.iter().rev().filter(|s| matches!(s, Segment::Key(_)));
    let field = keys.next().map(step).unwrap_or_default();
    let kind = patch.target.kind;
    let written = found.get(&document).unwrap_or(&Json::Null);
    let finding = cx
        .finding(format!("{field} of {kind} can't hold {}: {}", short(written), error.message))
        .at(patch.place(span))
        .label(label(&error.wants));
    let corrected = corrected(types, ty, &document, &found);
    Some(match corrected {
        None => finding.help("write a value of the field's type"),
        Some(value) => {
            let text = value.to_string();
            let edit = patch.annotation.edit_part(span.range(), &text);
            let title = format!("write {text}");
            let fix = edit.map(|edit| safe(title.clone(), vec![edit]));
            finding.remedy(title, fix)
        }
    })
}

/// The expected type.
fn label(wants: &Wants) -> String {
    let Wants::Type(ty) = wants else {
        return "is not what this field can hold".to_owned();
    };
    let what = match ty.trim_start_matches('*') {
        "bool" => "true or false",
        "string" => "a text in quotes",
        ty if ty.starts_with("int") || ty.starts_with("uint") => "a whole number",
        ty if ty.starts_with("float") => "a number",
        ty if ty.starts_with('[') => "a list",
        ty if ty.starts_with("map[") => "an object",
        ty => ty,
    };
    format!("{what} is expected here")
}

fn step(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => index.to_string(),
    }
}

/// A document with only the operation's value at its path, and that path, because a failing patch has no result. `None`
/// if the type has no such path.
fn placed<'t>(types: &'t GoTypes, mut ty: &'t GoType, operation: &Operation, value: Json) -> Option<(Json, Path)> {
    let mut path = Path::root();
    for segment in operation.segments() {
        match types.step(ty, &segment) {
            TypeStep::Field(name, inner) => (path, ty) = (path.key(name), inner),
            TypeStep::Inside(inner) => {
                // A list type is recognised by accepting an empty list.
                let list = types.decode_check(&Json::Array(Vec::new()), ty).is_ok();
                path = if list { path.index(0) } else { path.key(&segment) };
                ty = inner;
            }
            TypeStep::Free | TypeStep::Nowhere => return None,
        }
    }
    let mut document = Json::Null;
    Change::Set(path.clone(), value).apply(&mut document).ok()?;
    Some((document, path))
}

/// The value with quotes added or removed, if the type then accepts it.
fn corrected(types: &GoTypes, ty: &GoType, document: &Json, at: &Path) -> Option<Json> {
    let pointer = at.to_pointer();
    let candidate = match document.pointer(&pointer)? {
        Json::String(text) => {
            let bare: Json = serde_json::from_str(text.trim()).ok()?;
            (bare.is_number() || bare.is_boolean()).then_some(bare)?
        }
        value @ (Json::Number(_) | Json::Bool(_)) => Json::from(value.to_string()),
        _ => return None,
    };
    let mut tried = document.clone();
    *tried.pointer_mut(&pointer)? = candidate.clone();
    types.decode_check(&tried, ty).ok()?;
    Some(candidate)
}
