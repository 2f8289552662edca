//! An element of a list that inherits fields of another one.

use hcoplan_planner::jsonpatch::Loss;

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let lost: Vec<&Loss> =
        applied.effect.lost.iter().filter(|l| l.reason == jsonpatch::LossReason::Inherited).collect();
    let first = lost.first()?;
    let (what, value) = (first.path.as_str(), first.actual.as_ref());
    let value = value.map_or_else(|| "nothing".to_owned(), short);
    let more = match lost.len() - 1 {
        0 => String::new(),
        1 => ", and one more field".to_owned(),
        n => format!(", and {n} more fields"),
    };
    let message =
        format!("{what} of {} keeps {value} of the element that HCO renders at this index{more}", applied.kind());
    Some(
        cx.finding(message)
            .at(applied.named_location(what))
            .label("HCO fills new elements into the old ones, index by index")
            .help("change the list in the HyperConverged, or write every field of every element")
            .fixes(emptied(cx, applied, &lost)),
    )
}

/// Adds operations that empty the inherited fields, if that works. `None` if an element's own value was merged with the
/// old one.
fn emptied(cx: &Context<'_>, applied: &Applied<'_, '_>, lost: &[&Loss]) -> Option<Fix> {
    let empty: Vec<(&str, Json)> = lost
        .iter()
        .map(|l| match (&l.plain, &l.actual) {
            (None, Some(taken_over)) => Some((l.path.as_str(), empty_like(taken_over))),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let operations: String =
        empty.iter().map(|(path, value)| format!(", {}", json!({"op": "add", "path": path, "value": value}))).collect();
    let end = applied.operation.spans.whole.range().end;
    let title = match &empty[..] {
        [(path, value)] => format!("write {value} to {path}"),
        _ => format!("empty the {} fields that were taken over", empty.len()),
    };
    cx.patched(applied.patch, title, &[(end..end, operations)], |after| {
        empty.iter().all(|(path, value)| after.pointer(path).is_none_or(|v| v == value))
    })
}

/// The empty value of the same type for Go's decoder; `null` would keep a scalar.
fn empty_like(value: &Json) -> Json {
    match value {
        Json::Bool(_) => false.into(),
        Json::Number(_) => 0.into(),
        Json::String(_) => "".into(),
        Json::Null | Json::Array(_) | Json::Object(_) => Json::Null,
    }
}

/// A value for a message.
pub(super) fn short(value: &Json) -> String {
    match value {
        Json::Object(_) => "an object".to_owned(),
        Json::Array(_) => "a list".to_owned(),
        other => other.to_string(),
    }
}
