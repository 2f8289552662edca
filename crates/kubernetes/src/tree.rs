//! Reading and writing JSON trees by dotted path.

use crate::prelude::*;
use std::slice::Iter;

/// An object of these entries. Takes the values as they are, where `json!` would copy them.
pub fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let mut object = Map::new();
    for (key, value) in entries {
        object.insert(key.to_owned(), value);
    }
    Value::Object(object)
}

/// The value without the entries of objects that are null, at any depth.
pub fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, v)| !v.is_null());
            kept.map(|(k, v)| (k, without_nulls(v))).collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// The elements of a list; none of anything else.
pub fn elements<'v>(list: impl Into<Option<&'v Value>>) -> Iter<'v, Value> {
    list.into().and_then(Value::as_array).map_or(&[][..], Vec::as_slice).iter()
}

/// The members of an object; none of anything else.
pub fn members<'v>(object: impl Into<Option<&'v Value>>) -> impl Iterator<Item = (&'v String, &'v Value)> + Clone {
    object.into().and_then(Value::as_object).into_iter().flatten()
}

/// The text of a value; empty for anything else.
pub fn text<'v>(value: impl Into<Option<&'v Value>>) -> &'v str {
    value.into().and_then(Value::as_str).unwrap_or_default()
}

/// The texts among the elements of a list.
pub fn texts<'v>(list: impl Into<Option<&'v Value>>) -> impl Iterator<Item = &'v str> + Clone {
    elements(list).filter_map(Value::as_str)
}

/// The keys of a dotted path.
pub fn steps(path: &str) -> impl Iterator<Item = &str> + Clone {
    split(path, b'.')
}

/// As [`str::split`], which takes three times as long for keys of this length.
fn split(path: &str, separator: u8) -> impl Iterator<Item = &str> + Clone {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let path = rest?;
        let end = memchr::memchr(separator, path.as_bytes());
        rest = end.map(|end| &path[end + 1..]);
        Some(end.map_or(path, |end| &path[..end]))
    })
}

/// The value at a dotted path, `None` when absent or null.
pub fn get<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    steps(path).try_fold(value, |v, key| v.get(key)).filter(|v| !v.is_null())
}

/// The value that a JSON pointer names. (The one of serde_json copies each key twice, to be
/// unescaped.)
pub fn pointed<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    if pointer.contains('~') {
        return value.pointer(pointer);
    }
    let mut keys = split(pointer, b'/');
    if keys.next() != Some("") {
        return None;
    }
    keys.try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(index(key)?),
        other => other.get(key),
    })
}

/// A list's index, written as a JSON pointer has it.
fn index(key: &str) -> Option<usize> {
    let plain = key == "0" || !key.starts_with(['0', '+']);
    key.parse().ok().filter(|_| plain)
}

/// Sets the value at a dotted path; a value on the way that isn't an object is replaced.
pub fn set(target: &mut Value, path: &str, value: Value) {
    let (key, below) = match memchr::memchr(b'.', path.as_bytes()) {
        Some(end) => (&path[..end], Some(&path[end + 1..])),
        None => (path, None),
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(map) = target else { return };
    match (map.get_mut(key), below) {
        (Some(at), Some(below)) => set(at, below, value),
        (Some(at), None) => *at = value,
        (None, below) => {
            let value = match below {
                Some(path) => nested(path, value),
                None => value,
            };
            map.insert(key.to_owned(), value);
        }
    }
}

/// Objects down a dotted path, with the value in the innermost.
fn nested(path: &str, value: Value) -> Value {
    let keys = path.rsplit('.');
    keys.fold(value, |value, key| object([(key, value)]))
}

/// Copies a value to a dotted path where there is one.
pub fn copy(target: &mut Value, path: &str, value: Option<&Value>) {
    if let Some(value) = value {
        set(target, path, value.clone());
    }
}

/// Takes the value at a dotted path away; gives it back where there was one.
pub fn remove(target: &mut Value, path: &str) -> Option<Value> {
    let map = target.as_object_mut()?;
    match memchr::memchr(b'.', path.as_bytes()) {
        Some(end) => remove(map.get_mut(&path[..end])?, &path[end + 1..]),
        None => map.remove(path),
    }
}

/// Takes the value at a dotted path, where it exists, and leaves null there: for a tree whose rest is not needed.
pub fn take(target: &mut Value, path: &str) -> Option<Value> {
    let place = steps(path).try_fold(target, |value, key| value.get_mut(key))?;
    Some(place.take()).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn creates_parents_and_removes_values() {
        let mut tree = json!({"a": 1});
        set(&mut tree, "a.b.c", json!(2));
        assert_eq!(tree, json!({"a": {"b": {"c": 2}}}));
        assert_eq!(get(&tree, "a.b.c"), Some(&json!(2)));
        assert_eq!(remove(&mut tree, "a.b.c"), Some(json!(2)));
        assert_eq!(remove(&mut tree, "x.y"), None);
        assert_eq!(remove(&mut tree, "x"), None);
        assert_eq!(tree, json!({"a": {"b": {}}}));
        assert_eq!(remove(&mut tree, "a"), Some(json!({"b": {}})));
        let mut tree = json!({"a": {"b": 1}, "c": null});
        assert_eq!(take(&mut tree, "a.b"), Some(json!(1)));
        assert_eq!(take(&mut tree, "a.b"), None);
        assert_eq!(take(&mut tree, "a.b.c"), None);
        assert_eq!(take(&mut tree, "c"), None);
        assert_eq!(take(&mut tree, "d.e"), None);
        assert_eq!(tree, json!({"a": {"b": null}, "c": null}));
    }

    #[test]
    fn pointers_lead_where_those_of_serde_json_do() {
        let tree = json!({"a": [{"b": 1}, 2], "x/y": {"~": 3}, "": {"": 4}});
        for pointer in [
            "", "/", "//", "a", "/a", "/a/0", "/a/0/b", "/a/1", "/a/2", "/a/00", "/a/+1", "/a/-", "/a/01", "/a/b",
            "/x~1y", "/x~1y/~0", "/a/0/b/c", "/nothing",
        ] {
            assert_eq!(pointed(&tree, pointer), tree.pointer(pointer), "{pointer}");
        }
    }
}
