//! Sentences of values that are enums with data, from rows by the name of the variant.
use crate::prelude::*;
/// The name of a value's variant, and what it is about: `disk` and `amd64 or arm64`.
pub fn variant(value: &impl Serialize) -> (String, String) {
    let words = |value: &Value| match value {
        Value::Array(_) => joined(texts(value), " or "),
        value => text(value).to_owned(),
    };
    match serde_json::to_value(value).unwrap_or_default() {
        Value::Object(fields) => fields.iter().next().map(|(name, about)| (name.clone(), words(about))),
        name => Some((words(&name), String::new())),
    }
    .unwrap_or_default()
}

/// The sentence of a value: the row of its variant, or of what it is about, with that in place of `{}`.
pub fn sentence(rows: &Value, value: &impl Serialize) -> String {
    let (name, about) = variant(value);
    let row = &rows[&name];
    let row = row.as_str().or_else(|| row.get(&about).or_else(|| row.get("*"))?.as_str());
    row.unwrap_or_default().replace("{}", &about)
}
