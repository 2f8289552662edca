//! A patch that overrides a field of the same HyperConverged.

use super::prelude::*;
use crate::OwnField;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let own = cx.own_fields(applied);
    let set: Vec<&OwnField> = own.fields.iter().filter(|f| f.is_set).collect();
    let first = set.first()?;
    let place = match (&set[..], &first.gate) {
        (_, Some(gate)) => applied.text_place(gate),
        ([only], None) => applied.written_location(&only.pointer),
        _ => applied.path_place(),
    };
    let mut finding = cx.finding(contradiction(cx, applied, first)).at(place).label("this value applies");
    finding = with_related(finding, set.into_iter().map(|field| cx.said_place(field)), "this has no effect");
    let remove = cx.without_operation(applied.patch, applied.index, Applicability::Unsafe);
    Some(match cx.move_to_fields(applied) {
        Some(fix) => finding.fix(fix.clone()).fixes(remove),
        None => finding.remedy("drop the operation, or the field", remove),
    })
}

/// The patch's effect, and the HyperConverged's value.
fn contradiction(cx: &Context<'_>, applied: &Applied<'_, '_>, field: &OwnField) -> String {
    let subject = field.subject(applied.kind());
    let now = applied.patch.result().and_then(|r| r.pointer(&field.pointer));
    let does = match (&field.gate, now.and_then(shown)) {
        (Some(_), _) => format!("switches on {subject}"),
        (None, Some(value)) => format!("sets {subject} to {value}"),
        (None, None) if now.is_none() && field.changes.is_none() => format!("clears {subject}"),
        (None, None) => format!("changes {subject}"),
    };
    let path = &field.path;
    let said = cx.root().at(path).map(Node::to_json);
    match (&field.gate, said.as_ref().and_then(shown)) {
        (Some(_), _) => format!("the patch {does}, and {path} switches it off"),
        (None, Some(value)) => format!("the patch {does}, and {path} says {value}"),
        (None, None) => format!("the patch {does}, but {path} has another value"),
    }
}

/// A value for a message, if it is short.
fn shown(value: &Json) -> Option<String> {
    match value {
        Json::Object(_) | Json::Array(_) | Json::Null => None,
        scalar => Some(scalar.to_string()),
    }
}
