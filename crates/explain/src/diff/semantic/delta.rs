//! Computes the difference of two values.

use super::equivalent::is_equivalent;
use super::lists::{Keys, Lists};
use super::mix::label_of;
use crate::prelude::*;

/// Why a difference has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseKind {
    /// Only the order of an unordered list.
    Order,
    /// The same quantity or duration in another notation.
    Writing,
    /// Set by the API server or a default, not by a user.
    Server,
    /// Only names the release.
    Release,
    /// An assumed value of a vendor's bundle.
    Assumed,
    /// About an architecture that no node has.
    Architecture,
}

/// One difference, to be applied after the previous steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its path after the previous steps were applied.
    pub path: Path,
    /// The location for output, with keys of list entries instead of indexes:
    /// `spec.template.spec.containers[name=manager].image`.
    pub label: String,
    /// The value before; `None` if it is added.
    pub before: Option<Value>,
    /// The value after; `None` if it is removed.
    pub after: Option<Value>,
    /// Why it has no effect, if it has none.
    pub noise: Option<NoiseKind>,
}

/// The steps from `before` to `after`, in the order of application.
pub fn delta(before: &Value, after: &Value, lists: &Lists<'_>) -> Vec<Step> {
    let mut walk = Walk { lists, steps: Vec::new() };
    walk.value(before, after, &Location::default());
    walk.steps
}

/// A location with path and label.
#[derive(Debug, Default)]
struct Location {
    path: Path,
    label: String,
}

impl Location {
    fn key(&self, key: &str) -> Self {
        Self { path: self.path.key(key), label: label_of(&self.label, key) }
    }

    fn entry(&self, index: usize, name: &str) -> Self {
        Self { path: self.path.index(index), label: format!("{}[{name}]", self.label) }
    }
}

struct Walk<'l, 's> {
    lists: &'l Lists<'s>,
    steps: Vec<Step>,
}

impl Walk<'_, '_> {
    fn push(&mut self, at: &Location, before: Option<&Value>, after: Option<&Value>) {
        self.push_with_noise(at, before, after, None);
    }

    fn push_with_noise(
        &mut self,
        at: &Location,
        before: Option<&Value>,
        after: Option<&Value>,
        noise: Option<NoiseKind>,
    ) {
        self.steps.push(Step {
            path: at.path.clone(),
            label: at.label.clone(),
            before: before.cloned(),
            after: after.cloned(),
            noise,
        });
    }

    fn value(&mut self, before: &Value, after: &Value, at: &Location) {
        if before == after {
            return;
        }
        match (before, after) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    match new.get(key) {
                        Some(other) => self.value(value, other, &at.key(key)),
                        None => self.push(&at.key(key), Some(value), None),
                    }
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    self.push(&at.key(key), None, Some(value));
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                let listing = self.lists.of(&at.path);
                match Keys::of(&listing, old, new) {
                    Some(keys) => self.named_entries(old, new, &keys, at),
                    None => self.sequence(old, new, at),
                }
            }
            _ => {
                let noise = is_equivalent(&at.path, before, after).then_some(NoiseKind::Writing);
                self.push_with_noise(at, Some(before), Some(after), noise);
            }
        }
    }

    /// Compares entries with names.
    fn named_entries(&mut self, old: &[Value], new: &[Value], keys: &Keys, at: &Location) {
        let new_at: BTreeMap<&str, usize> = names(&keys.after);
        let old_at: BTreeMap<&str, usize> = names(&keys.before);
        for (i, name) in keys.before.iter().enumerate().rev() {
            if !new_at.contains_key(name.as_str()) {
                self.push(&at.entry(i, name), old.get(i), None);
            }
        }
        let common = |names: &[String], other: &BTreeMap<&str, usize>| -> Vec<usize> {
            let common = names.iter().filter(|n| other.contains_key(n.as_str()));
            common.filter_map(|n| old_at.get(n.as_str()).copied()).collect()
        };
        let (was, is) = (common(&keys.before, &new_at), common(&keys.after, &old_at));
        if was != is {
            let values = |order: &[usize]| -> Value { order.iter().filter_map(|i| old.get(*i).cloned()).collect() };
            let noise = keys.unordered.then_some(NoiseKind::Order);
            self.push_with_noise(at, Some(&values(&was)), Some(&values(&is)), noise);
        }
        for (i, name) in keys.after.iter().enumerate() {
            if !old_at.contains_key(name.as_str()) {
                self.push(&at.entry(i, name), None, new.get(i));
            }
        }
        for (i, name) in keys.after.iter().enumerate() {
            let before = old_at.get(name.as_str()).and_then(|i| old.get(*i));
            if let (Some(before), Some(after)) = (before, new.get(i)) {
                self.value(before, after, &at.entry(i, name));
            }
        }
    }

    /// Compares entries without names, like lines of a text.
    fn sequence(&mut self, old: &[Value], new: &[Value], at: &Location) {
        let lines = |items: &[Value]| -> Vec<String> { items.iter().map(Value::to_string).collect() };
        let (before, after) = (lines(old), lines(new));
        let ops = similar::capture_diff_slices(similar::Algorithm::Myers, &before, &after);
        let (mut removed, mut added, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for op in ops {
            let (_, olds, news) = op.as_tag_tuple();
            if matches!(op, similar::DiffOp::Equal { .. }) {
                continue;
            }
            let both = olds.len().min(news.len());
            changed.extend(olds.clone().zip(news.clone()));
            removed.extend(olds.skip(both));
            added.extend(news.skip(both));
        }
        for i in removed.into_iter().rev() {
            self.push(&at.entry(i, &i.to_string()), old.get(i), None);
        }
        for i in added {
            self.push(&at.entry(i, &i.to_string()), None, new.get(i));
        }
        for (i, j) in changed {
            if let (Some(before), Some(after)) = (old.get(i), new.get(j)) {
                self.value(before, after, &at.entry(j, &j.to_string()));
            }
        }
    }
}

fn names(names: &[String]) -> BTreeMap<&str, usize> {
    names.iter().map(String::as_str).zip(0..).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn steps_of(before: &Value, after: &Value) -> Vec<String> {
        let lists = Lists::default();
        let steps = delta(before, after, &lists);
        let text = |v: &Option<Value>| v.as_ref().map_or("-".to_owned(), Value::to_string);
        let line = |s: &Step| {
            let noise = s.noise.map_or(String::new(), |n| format!(" ({n:?})"));
            format!("{}: {} -> {}{noise}", s.label, text(&s.before), text(&s.after))
        };
        steps.iter().map(line).collect()
    }

    #[test]
    fn matches_entries_by_name() {
        let before = json!({"spec": {"containers": [
            {"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]}});
        let after = json!({"spec": {"containers": [
            {"name": "c", "image": "z:1"}, {"name": "b", "image": "y:2"}]}});
        assert_eq!(
            steps_of(&before, &after),
            [
                r#"spec.containers[name=a]: {"image":"x:1","name":"a"} -> -"#,
                r#"spec.containers[name=c]: - -> {"image":"z:1","name":"c"}"#,
                r#"spec.containers[name=b].image: "y:1" -> "y:2""#,
            ]
        );
    }

    #[test]
    fn irrelevant_order_is_noise() {
        let gates =
            |list: Value| json!({"spec": {"configuration": {"developerConfiguration": {"featureGates": list}}}});
        let found = steps_of(&gates(json!(["A", "B"])), &gates(json!(["B", "A"])));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("(Order)"), "{found:?}");
        let named = |state: &str| gates(json!(["A", {"name": "B", "state": state}]));
        let found = steps_of(&named("on"), &named("off"));
        assert!(found.len() == 1 && found[0].contains("[name=B].state: \"on\" -> \"off\""), "{found:?}");
        let found = steps_of(&json!({"args": ["-a", "-b"]}), &json!({"args": ["-b", "-a"]}));
        assert!(found.iter().all(|f| !f.contains("Order")), "{found:?}");
    }

    #[test]
    fn compares_durations_by_length() {
        let found = steps_of(&json!({"a": "24h0m0s"}), &json!({"a": "1440m"}));
        assert_eq!(found, [r#"a: "24h0m0s" -> "1440m" (Writing)"#]);
        let found = steps_of(&json!({"a": "24h0m0s"}), &json!({"a": "25h0m0s"}));
        assert_eq!(found, [r#"a: "24h0m0s" -> "25h0m0s""#]);
    }

    #[test]
    fn quotes_keys_with_dots() {
        let found = steps_of(
            &json!({"metadata": {"annotations": {"a.b/c": "1"}}}),
            &json!({"metadata": {"annotations": {"a.b/c": "2"}}}),
        );
        assert_eq!(found, [r#"metadata.annotations["a.b/c"]: "1" -> "2""#]);
    }

    fn apply(value: &mut Value, step: &Step) -> Option<()> {
        let Some((last, parents)) = step.path.0.split_last() else {
            *value = step.after.clone()?;
            return Some(());
        };
        let parent = parents.iter().try_fold(value, |v, segment| match segment {
            Segment::Key(key) => v.get_mut(key.as_str()),
            Segment::Index(index) => v.get_mut(*index),
        })?;
        match (parent, last, &step.after) {
            (Value::Object(map), Segment::Key(key), Some(after)) => {
                map.insert(key.clone(), after.clone());
            }
            (Value::Object(map), Segment::Key(key), None) => {
                map.remove(key.as_str())?;
            }
            (Value::Array(items), Segment::Index(index), Some(after)) if step.before.is_none() => {
                (*index <= items.len()).then(|| items.insert(*index, after.clone()))?;
            }
            (Value::Array(items), Segment::Index(index), Some(after)) => {
                *items.get_mut(*index)? = after.clone();
            }
            (Value::Array(items), Segment::Index(index), None) => {
                (*index < items.len()).then(|| items.remove(*index))?;
            }
            _ => return None,
        }
        Some(())
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..4).prop_map(Value::from),
            "[a-c]{1,2}".prop_map(Value::from),
            Just(json!("60m")),
            Just(json!("1h")),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let key = prop_oneof![Just("name".to_owned()), "[a-c]", Just("spec".to_owned())];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4).prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn applying_the_steps_gives_the_other_value(before in values(), after in values()) {
            let steps = delta(&before, &after, &Lists::default());
            let mut value = before.clone();
            for step in &steps {
                prop_assert_eq!(apply(&mut value, step), Some(()), "{}", step.label);
            }
            prop_assert_eq!(&value, &after);
            prop_assert_eq!(steps.is_empty(), before == after);

        }
    }
}
