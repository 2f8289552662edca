//! Values in words.

use crate::prelude::*;

/// The word for a value that isn't there.
pub(super) const UNSET: &str = "unset";

/// A value in a sentence: a text as written, a duration in hours, a list joined.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => UNSET.to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => time(text).unwrap_or_else(|| text.clone()),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) if items.iter().all(|i| !i.is_object() && !i.is_array()) => {
            joined(items.iter().map(shown), ", ")
        }
        Value::Array(items) if items.iter().all(|i| i["name"].is_string()) => {
            joined(items.iter().map(|i| shown(&i["name"])), ", ")
        }
        Value::Array(items) => joined(items.iter().map(summary), "; "),
        Value::Object(_) => summary(value),
        other => other.to_string(),
    }
}

/// Whether two shown values are the same number or text.
pub(super) fn same_value(a: &str, b: &str) -> bool {
    a == b || a.parse::<f64>().is_ok_and(|a| b.parse::<f64>().is_ok_and(|b| a.total_cmp(&b).is_eq()))
}

/// `96h0m0s` as `96 h`, `30m0s` as `30 min`; `None` for another text.
fn time(text: &str) -> Option<String> {
    let hours = text.strip_suffix("h0m0s").or_else(|| text.strip_suffix("h0m")).or_else(|| text.strip_suffix('h'));
    // `500m` is half a CPU.
    let minutes = || text.strip_suffix("m0s");
    let is_number = |n: &&str| !n.is_empty() && is_digits(n);
    let hours = hours.filter(is_number).map(|n| format!("{n} h"));
    hours.or_else(|| minutes().filter(is_number).map(|n| format!("{n} min")))
}

/// A section without the fields that another has, too.
pub(super) fn without_fields_of(other: &Value, mut own: Value) -> Value {
    if let Some(fields) = own.as_object_mut() {
        fields.retain(|key, value| other.get(key) != Some(value));
    }
    own
}

/// A section in a few words: `field=value` of each field.
pub(super) fn summary(value: &Value) -> String {
    fn walk(value: &Value, path: &str, out: &mut Vec<String>) {
        match value {
            Value::Object(map) if map.is_empty() && !path.is_empty() => out.push(path.to_owned()),
            Value::Object(map) => map.iter().for_each(|(key, value)| walk(value, &join(path, key), out)),
            Value::Null => {}
            value if path.is_empty() => out.push(shown(value)),
            value => out.push(format!("{path}={}", shown(value))),
        }
    }
    let mut out = Vec::new();
    walk(value, "", &mut out);
    if out.is_empty() { "none".to_owned() } else { out.join(", ") }
}

/// What a selector of labels, or a list of its requirements, asks for: `zone=a`, `disk in ssd, nvme`, `gpu`.
pub(super) fn selector(value: &Value) -> Vec<String> {
    let requirement = |one: &Value| {
        let (key, values) = (shown(&one["key"]), shown(&one["values"]));
        match one["operator"].as_str() {
            Some("Exists") => key,
            Some("DoesNotExist") => format!("no {key}"),
            Some("NotIn") => format!("{key} not in {values}"),
            Some("Gt") => format!("{key} above {values}"),
            Some("Lt") => format!("{key} below {values}"),
            _ => format!("{key} in {values}"),
        }
    };
    match value {
        Value::Array(items) => items.iter().map(requirement).collect(),
        Value::Object(map) if ["matchLabels", "matchExpressions"].iter().any(|key| map.contains_key(*key)) => {
            [selector(&value["matchLabels"]), selector(&value["matchExpressions"])].concat()
        }
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key}={}", shown(value))).collect(),
        _ => Vec::new(),
    }
}

/// What a selector takes, in words such as `on {} node`.
pub(super) fn selected(of: &str, value: &Value) -> String {
    match selector(value).as_slice() {
        [] => of.replace("{}", "every"),
        some => format!("{}s with {}", of.replace("{} ", ""), some.join(", ")),
    }
}

/// The first names of a list.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [a, b, c, _, ..] => format!("{a}, {b}, {c} and {} more", names.len() - 3),
        few => few.join(", "),
    }
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The entries of two lists or maps that differ, by name, with both values; a map's `false` and `null` are absent.
pub(super) fn names_changed(was: &Value, is: &Value) -> Vec<(String, Value, Value)> {
    let (was, is) = (entries(was), entries(is));
    let names = was.iter().chain(&is).map(|(name, _)| name);
    let mut out: Vec<(String, Value, Value)> = Vec::new();
    for name in names {
        // Several of one name are compared together.
        let of = |all: &[(String, Value)]| {
            let mut own: Vec<Value> = all.iter().filter(|(n, _)| n == name).map(|(_, v)| v.clone()).collect();
            own.dedup();
            if own.len() > 1 { Value::Array(own) } else { own.pop().unwrap_or_default() }
        };
        let (was, is) = (of(&was), of(&is));
        if was != is && !out.iter().any(|(known, ..)| known == name) {
            out.push((name.clone(), was, is));
        }
    }
    out
}

/// The named entries: a list's texts and objects, the lists of a section, or the keys of a map.
pub(super) fn entries(value: &Value) -> Vec<(String, Value)> {
    const NAMES: [&str; 2] = ["resourceName", "name"];
    const CRON: &str = "-image-cron";
    match value {
        Value::Array(items) => {
            let name = |item: &Value| match item {
                Value::String(text) => Some(text.clone()),
                other => {
                    let own = NAMES.iter().find_map(|key| other[*key].as_str());
                    let name = own.or_else(|| other["metadata"]["name"].as_str())?;
                    Some(name.strip_suffix(CRON).unwrap_or(name).to_owned())
                }
            };
            items.iter().filter_map(|item| Some((name(item)?, item.clone()))).collect()
        }
        Value::Object(map) if !map.is_empty() && map.values().all(Value::is_array) => {
            map.values().flat_map(entries).collect()
        }
        Value::Object(map) => {
            let on = map.iter().filter(|(_, value)| !value.is_null() && **value != Value::Bool(false));
            on.map(|(name, value)| (name.clone(), value.clone())).collect()
        }
        _ => Vec::new(),
    }
}
