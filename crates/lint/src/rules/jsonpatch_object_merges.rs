//! An object that is merged instead of replacing the existing one.

use hcoplan_planner::jsonpatch::Loss;

use super::prelude::*;

/// Maximum number of fields named in a message.
const MAX_NAMED: usize = 4;

/// Maximum number of fields cleared by a fix.
const MAX_CLEARED: usize = 5;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let path = applied.operation.path.as_str();
    let below = |l: &&Loss| {
        let rest = l.path.strip_prefix(path);
        l.reason == jsonpatch::LossReason::Kept && l.plain.is_none() && rest.is_some_and(|r| r.starts_with('/'))
    };
    let kept: Vec<&Loss> = applied.effect.lost.iter().filter(below).collect();
    if kept.is_empty() || applied.operation.op == Op::Remove || applied.is_contested(cx) {
        return None;
    }
    let names: Vec<&str> = kept.iter().map(|l| &l.path[path.len() + 1..]).collect();
    let shown = list(&names, MAX_NAMED);
    let op = applied.operation.op.as_str();
    let place = match applied.operation.spans.value {
        Some(span) => applied.patch.place(span),
        None => applied.path_place(),
    };
    let message =
        format!("the operation {op} merges into {path} of {} and doesn't replace it: it keeps {shown}", applied.kind());
    Some(cx.finding(message).at(place).label("HCO merges it into what it had rendered").remedy(
        "write the fields that change by their own paths; to clear the others, write \
             null for each",
        by_path(cx, applied).into_iter().chain(cleared(cx, applied, &names)),
    ))
}

/// Replaces the operation by one for each field, if the result is the same.
fn by_path(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Fix> {
    let (patch, operation) = (applied.patch, applied.operation);
    let mut leaves = Vec::new();
    let mut keys = Vec::new();
    collect(&operation.value()?, patch.rendered()?.pointer(&operation.path)?, &mut keys, &mut leaves);
    let mut operations = Vec::new();
    for keys in leaves {
        let span = operation.part(patch.text, &keys)?.value;
        let mut path = operation.path.clone();
        keys.iter().for_each(|key| pointer::push(&mut path, key));
        let (path, value) = (Json::from(path), patch.text.get(span.range())?);
        operations.push(format!(r#"{{"op": "add", "path": {path}, "value": {value}}}"#));
    }
    let change = (operation.spans.whole.range(), operations.join(", "));
    cx.patched(patch, format!("write {}", and(&operations)), &[change], |result| patch.result() == Some(result))
}

/// The paths of values inside an existing object.
fn collect(value: &Json, there: &Json, keys: &mut Vec<String>, leaves: &mut Vec<Vec<String>>) {
    match (value, there) {
        (Json::Object(entries), Json::Object(existing)) if !entries.is_empty() => {
            for (key, value) in entries {
                keys.push(key.clone());
                let there = existing.get(key).unwrap_or(&Json::Null);
                collect(value, there, keys, leaves);
                keys.pop();
            }
        }
        _ => leaves.push(keys.clone()),
    }
}

/// Sets the remaining fields to null, if that clears all of them.
fn cleared(cx: &Context<'_>, applied: &Applied<'_, '_>, names: &[&str]) -> Option<Fix> {
    let (patch, operation) = (applied.patch, applied.operation);
    let mut fields: Vec<&str> = names.iter().map(|n| first_part(n, '/')).collect();
    fields.dedup();
    let Some(Json::Object(value)) = operation.value() else {
        return None;
    };
    if fields.len() > MAX_CLEARED || fields.iter().any(|f| value.contains_key(*f)) {
        return None;
    }
    let nulls = joined(fields.iter().map(|f| format!("{}: null", Json::from(pointer::unescape(f)))), ", ");
    let end = operation.spans.value?.end as usize - 1;
    let inner = patch.text.get(..end)?.trim_end();
    let comma = if value.is_empty() { "" } else { ", " };
    let change = (inner.len()..inner.len(), format!("{comma}{nulls}"));
    cx.patched(patch, format!("clear {} with null", and(&fields)), &[change], |result| {
        fields.iter().all(|f| result.pointer(&format!("{}/{f}", operation.path)).is_none())
    })
}
