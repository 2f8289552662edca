//! Reading and writing JSON trees by dotted path.

use serde_json::{Map, Value};

/// An object of these entries. Takes the values as they are, where `json!` would copy them.
pub fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter().map(|(k, v)| (k.to_owned(), v));
    Value::Object(entries.collect())
}

/// The value at a dotted path, `None` when absent or null.
pub fn get<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(value, |v, key| v.get(key))
        .filter(|v| !v.is_null())
}

/// Sets the value at a dotted path; what stands in the way and is no object is replaced.
pub fn set(target: &mut Value, path: &str, value: Value) {
    let mut at = target;
    for key in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else { return };
        if !map.contains_key(key) {
            map.insert(key.to_owned(), Value::Null);
        }
        let Some(next) = map.get_mut(key) else { return };
        at = next;
    }
    *at = value;
}

/// Copies a value to a dotted path where there is one.
pub fn copy(target: &mut Value, path: &str, value: Option<&Value>) {
    if let Some(value) = value {
        set(target, path, value.clone());
    }
}

/// Takes the value at a dotted path away; gives it back where there was one.
pub fn remove(target: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
    let mut steps = parent.split('.').filter(|s| !s.is_empty());
    let object = steps.try_fold(target, |v, k| v.get_mut(k))?;
    object.as_object_mut()?.remove(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn makes_parents_and_takes_away() {
        let mut tree = json!({"a": 1});
        set(&mut tree, "a.b.c", json!(2));
        assert_eq!(tree, json!({"a": {"b": {"c": 2}}}));
        assert_eq!(get(&tree, "a.b.c"), Some(&json!(2)));
        assert_eq!(remove(&mut tree, "a.b.c"), Some(json!(2)));
        assert_eq!(remove(&mut tree, "x.y"), None);
        assert_eq!(tree, json!({"a": {"b": {}}}));
    }
}
