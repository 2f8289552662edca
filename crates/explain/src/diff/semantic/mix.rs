//! Applies some of the differences between two values.

use super::lists::{Keys, Lists};
use crate::prelude::*;
use serde_json::Map;

/// A location where two values differ: a leaf, an entry of a list, or a list without names.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The location for output, as in [`super::Step::label`]; the same in both values.
    pub label: String,
    /// Its path in the first value; for one that is only in the second, where it would be.
    pub before: Path,
    /// Its path in the second value; for one that is only in the first, where it would be.
    pub after: Path,
    /// Whether the first value has it.
    pub in_before: bool,
    /// Whether the second value has it.
    pub in_after: bool,
}

/// The locations where two values differ, in the order of the first, then of the second.
pub fn differences(before: &Value, after: &Value, lists: &Lists<'_>) -> Vec<Difference> {
    let mut all = Vec::new();
    mix(before, after, lists, &mut |location| {
        all.push(location.clone());
        false
    });
    all
}

/// The first value with the selected differences to the second.
pub fn mix(before: &Value, after: &Value, lists: &Lists<'_>, select: &mut dyn FnMut(&Difference) -> bool) -> Value {
    let root =
        Difference { label: String::new(), before: Path::root(), after: Path::root(), in_before: true, in_after: true };
    let mut merge = SelectiveMerge { lists, select };
    merge.one(Some(before), Some(after), &root).unwrap_or(Value::Null)
}

/// A field's label, path and value; of nested fields with one entry each those of the innermost.
pub fn innermost<'v>(label: &str, path: &Path, value: &'v Value) -> (String, Path, &'v Value) {
    match value.as_object().filter(|entries| entries.len() == 1).and_then(|entries| entries.iter().next()) {
        Some((key, inner)) => innermost(&label_of(label, key), &path.key(key), inner),
        None => (label.to_owned(), path.clone(), value),
    }
}

/// The label of a key below a label.
pub(super) fn label_of(above: &str, key: &str) -> String {
    let key = Path::root().key(key).to_string();
    let dot = if above.is_empty() || key.starts_with('[') { "" } else { "." };
    format!("{above}{dot}{key}")
}

struct SelectiveMerge<'m, 's> {
    lists: &'m Lists<'s>,
    select: &'m mut dyn FnMut(&Difference) -> bool,
}

impl SelectiveMerge<'_, '_> {
    fn one(&mut self, before: Option<&Value>, after: Option<&Value>, at: &Difference) -> Option<Value> {
        match (before, after) {
            (Some(a), Some(b)) if a == b => Some(a.clone()),
            (Some(Value::Object(old)), Some(Value::Object(new))) => Some(Value::Object(self.object(old, new, at))),
            (Some(Value::Array(old)), Some(Value::Array(new))) => {
                match Keys::of(&self.lists.of(&at.before), old, new) {
                    Some(keys) => Some(Value::Array(self.list(old, new, &keys, at))),
                    None => self.whole(before, after, at),
                }
            }
            _ => self.whole(before, after, at),
        }
    }

    fn whole(&mut self, before: Option<&Value>, after: Option<&Value>, at: &Difference) -> Option<Value> {
        let at = Difference { in_before: before.is_some(), in_after: after.is_some(), ..at.clone() };
        if (self.select)(&at) { after.cloned() } else { before.cloned() }
    }

    fn object(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, at: &Difference) -> Map<String, Value> {
        let mut out = Map::new();
        let only_new = new.keys().filter(|k| !old.contains_key(*k));
        for key in old.keys().chain(only_new) {
            let location = Difference {
                label: label_of(&at.label, key),
                before: at.before.key(key),
                after: at.after.key(key),
                ..at.clone()
            };
            // A new map is split into its leaves, so that each of its lines can be a cause.
            let empty = Value::Object(Map::new());
            let (a, b) = match (old.get(key), new.get(key)) {
                (None, Some(b @ Value::Object(map))) if !map.is_empty() => {
                    let mixed = self.one(Some(&empty), Some(b), &location);
                    out.extend(mixed.filter(|m| *m != empty).map(|m| (key.clone(), m)));
                    continue;
                }
                both => both,
            };
            out.extend(self.one(a, b, &location).map(|value| (key.clone(), value)));
        }
        out
    }

    fn list(&mut self, old: &[Value], new: &[Value], keys: &Keys, at: &Difference) -> Vec<Value> {
        let entry = |name: &str, i: usize, j: usize| Difference {
            label: format!("{}[{name}]", at.label),
            before: at.before.index(i),
            after: at.after.index(j),
            ..at.clone()
        };
        let mut out = Vec::new();
        for (i, (name, value)) in keys.before.iter().zip(old).enumerate() {
            let position = keys.after.iter().position(|n| n == name);
            let other = position.and_then(|j| new.get(j));
            out.extend(self.one(Some(value), other, &entry(name, i, position.unwrap_or(i))));
        }
        for (j, (name, value)) in keys.after.iter().zip(new).enumerate() {
            if !keys.before.contains(name) {
                out.extend(self.one(None, Some(value), &entry(name, old.len(), j)));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merges_each_difference_alone() {
        let before = json!({"spec": {"a": 1, "list": [{"name": "x", "v": 1}, {"name": "y"}]}});
        let after = json!({"spec": {"a": 2, "list": [{"name": "x", "v": 2}, {"name": "z"}],
            "new": {"p": 1, "q": 2}}});
        let lists = Lists::default();
        let found = differences(&before, &after, &lists);
        let labels: Vec<_> = found.iter().map(|d| d.label.as_str()).collect();
        assert_eq!(
            labels,
            ["spec.a", "spec.list[name=x].v", "spec.list[name=y]", "spec.list[name=z]", "spec.new.p", "spec.new.q",]
        );
        let with = |label: &str| mix(&before, &after, &lists, &mut |d| d.label == label);
        assert_eq!(with("spec.a")["spec"]["a"], 2);
        assert_eq!(with("spec.a")["spec"]["list"], before["spec"]["list"]);
        assert_eq!(with("spec.list[name=y]")["spec"]["list"], json!([{"name": "x", "v": 1}]));
        assert_eq!(with("spec.new.q")["spec"]["new"], json!({"q": 2}));
        assert_eq!(mix(&before, &after, &lists, &mut |_| true), after);
        assert_eq!(mix(&before, &after, &lists, &mut |_| false), before);
    }
}
