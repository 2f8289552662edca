//! Two operations of a patch that write the same path.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, applied: &Applied<'_, '_>) -> Option<Finding> {
    let earlier = applied.conflict()?;
    let patch = applied.patch;
    let first = &patch.operations()[earlier];
    let path = &applied.operation.path;
    let kind = applied.kind();
    let [mut old, new] = [first, applied.operation].map(|operation| operation.value().unwrap_or_default());
    // An appended element is a list of one.
    let list = first.path.strip_suffix("/-");
    if list.is_some() {
        old = json!([old]);
    }
    let written = list.unwrap_or(&first.path);
    let inner = path.strip_prefix(written).unwrap_or_default();
    let outer = written.strip_prefix(&**path).unwrap_or_default();
    // What the second operation replaces.
    let lost = old.pointer(inner).filter(|old| new.pointer(outer) != Some(old));
    let order = match (first.path == *path, inner) {
        (true, _) => format!("{path} of {kind} is written twice"),
        (_, "") => format!("{path} of {kind} is written after {}, which is inside it", first.path),
        _ => format!("{path} of {kind} is written after {}, which gave it a value", first.path),
    };
    let (lost_value, label) = match lost {
        Some(_) => (": the second operation replaces the first one's value", "this value is lost"),
        None => ("", "written here before"),
    };
    let finding = cx
        .finding(format!("{order}{lost_value}"))
        .at(applied.path_place())
        .label("written again")
        .related(patch.path_place(first), label);
    let keys = jsonpatch::segments(outer);
    let nested = |lost: &Json| keys.iter().rev().fold(lost.clone(), |value, key| json!({ key.as_str(): value }));
    Some(match (lost, new) {
        (Some(Json::Array(_)), Json::Array(added)) if outer.is_empty() => {
            let what = format!("append to the list with {path}/-, which keeps both");
            finding.remedy(what.clone(), cx.appended(applied, path, &added, what))
        }
        (_, new) => match lost.and_then(|lost| joined(&nested(lost), &new)) {
            Some(value) => {
                let what = format!("write `{value}` in operation {}, which keeps both", applied.index + 1);
                let text = format!(r#"{{"op": "add", "path": "{path}", "value": {value}}}"#);
                finding.remedy(what.clone(), cx.rewritten(applied, text, what))
            }
            None => finding.help("keep one operation for each path").fixes(without(cx, applied, earlier)),
        },
    })
}

/// A value with what another one has in addition; `None` if they contradict each other.
fn joined(lost: &Json, value: &Json) -> Option<Json> {
    Some(match (lost, value) {
        (Json::Array(first), Json::Array(second)) => [&first[..], second].concat().into(),
        (Json::Object(first), Json::Object(second)) => {
            let mut fields = first.clone();
            for (name, value) in second {
                let own = first.get(name).map_or(Some(value.clone()), |lost| joined(lost, value))?;
                fields.insert(name.clone(), own);
            }
            fields.into()
        }
        _ => (lost == value).then(|| lost.clone())?,
    })
}

/// Removes the earlier operation, if the operand stays the same.
fn without(cx: &Context<'_>, applied: &Applied<'_, '_>, earlier: usize) -> Option<Fix> {
    let patch = applied.patch;
    let (text, edits) = patch.without(&[earlier])?;
    let title = format!("remove operation {}, `{}`", earlier + 1, patch.operations()[earlier].path);
    cx.keeps_result(patch, &text).then(|| suggestion(title, edits))
}
