//! Converts a recorded object to a template: names become placeholders, and a renderer's values are removed.

use std::collections::BTreeSet;

use serde_json::Value;

/// An nginx configuration without comments, indented by braces, so that layouts compare equal.
pub(super) fn plain_nginx(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0usize;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('}') {
            depth = depth.saturating_sub(1);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        out.push_str(&"  ".repeat(depth));
        out.push_str(&words.join(" "));
        out.push('\n');
        if line.ends_with('{') {
            depth += 1;
        }
    }
    out
}

pub(super) fn replace_whole(value: &mut Value, whole: &str, by: &str) {
    match value {
        Value::String(text) if text == whole => by.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|v| replace_whole(v, whole, by)),
        Value::Object(map) => map.values_mut().for_each(|v| replace_whole(v, whole, by)),
        _ => {}
    }
}

pub(super) fn replace(value: &mut Value, names: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            for (name, placeholder) in names {
                if text.contains(name) {
                    *text = text.replace(name, placeholder);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|v| replace(v, names)),
        Value::Object(map) => map.values_mut().for_each(|v| replace(v, names)),
        _ => {}
    }
}

/// The template from which a renderer makes `recorded`, given that it makes `planned` from `template`. `None` if the
/// renderer's own values changed.
pub(super) fn transplant(template: &Value, planned: &Value, recorded: &Value) -> Option<Value> {
    if planned == recorded {
        return Some(template.clone());
    }
    if template == planned {
        return Some(recorded.clone());
    }
    match (template, planned, recorded) {
        (Value::Object(old), Value::Object(planned), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let mut out = serde_json::Map::new();
            for key in keys {
                let value = match (old.get(key), planned.get(key), new.get(key)) {
                    (Some(old), Some(planned), Some(new)) => Some(transplant(old, planned, new)?),
                    // The renderer adds it.
                    (None, Some(planned), new) if Some(planned) == new => None,
                    (None, Some(_), _) => return None,
                    // It is no longer there.
                    (Some(_), Some(_), None) => None,
                    // The renderer removes it.
                    (Some(old), None, None) => Some(old.clone()),
                    (None, None, new) => new.cloned(),
                    (Some(_), None, Some(_)) => return None,
                };
                out.extend(value.map(|value| (key.clone(), value)));
            }
            Some(Value::Object(out))
        }
        (Value::Array(old), Value::Array(planned), Value::Array(new)) => {
            let added = planned.strip_prefix(old.as_slice());
            if let Some(kept) = added.filter(|a| !a.is_empty()).and_then(|a| new.strip_suffix(a)) {
                return Some(Value::Array(kept.to_vec()));
            }
            let same = old.len() == planned.len() && old.len() == new.len();
            let entries = same.then(|| old.iter().zip(planned).zip(new))?;
            let entries = entries.map(|((old, planned), new)| transplant(old, planned, new));
            entries.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => None,
    }
}
