//! Sets of fields, as `metadata.managedFields` records which manager wrote which fields.

use crate::prelude::*;
use crate::tree::members;

/// Fields of an object: each step as `managedFields` spells it (`f:spec`, `k:{"name":"a"}`, `v:"b"`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSet(pub(super) BTreeMap<String, Entry>);

/// A step of a set: whether it belongs to the set itself, and what belongs to it below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) is_member: bool,
    pub(super) below: FieldSet,
}

impl FieldSet {
    /// Reads `fieldsV1`. Anything but an object is an empty set.
    pub fn read(fields: &Value) -> Self {
        let fields = members(fields).filter(|(step, _)| *step != ".");
        Self(
            fields
                .map(|(step, below)| {
                    let is_leaf = below.as_object().is_none_or(Map::is_empty);
                    let is_member = is_leaf || below.get(".").is_some();
                    (spelt(step), Entry { is_member, below: Self::read(below) })
                })
                .collect(),
        )
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.values().all(|entry| !entry.is_member && entry.below.is_empty())
    }

    /// The fields of both.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        for (step, theirs) in &other.0 {
            let entry = self.0.entry(step.clone()).or_default();
            entry.is_member |= theirs.is_member;
            entry.below = std::mem::take(&mut entry.below).union(&theirs.below);
        }
        self
    }

    /// The fields that aren't in the other one. A field doesn't include those below it.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine && !theirs)
    }

    /// The fields that are in the other one, too.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine && theirs)
    }

    fn combine(&self, other: &Self, keep: fn(bool, bool) -> bool) -> Self {
        let nothing = Entry::default();
        let entries = self.0.iter().filter_map(|(step, mine)| {
            let theirs = other.0.get(step).unwrap_or(&nothing);
            let is_member = keep(mine.is_member, theirs.is_member);
            let below = mine.below.combine(&theirs.below, keep);
            (is_member || !below.is_empty()).then(|| (step.clone(), Entry { is_member, below }))
        });
        Self(entries.collect())
    }

    pub(super) fn below(&mut self, step: String) -> &mut Entry {
        self.0.entry(step).or_default()
    }
}

/// A step in one spelling: the keys of an element sorted, nothing around them.
fn spelt(step: &str) -> String {
    match step.split_once(':') {
        Some((kind @ ("k" | "v"), json)) => match serde_json::from_str::<Value>(json) {
            Ok(value) => format!("{kind}:{value}"),
            Err(_) => step.to_owned(),
        },
        _ => step.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_the_api_server_writes() {
        let set = FieldSet::read(&json!({"f:spec": {".": {}, "f:a": {}, "f:l": {"k:{\"name\": \"x\"}": {"f:b": {}}}}}));
        let spec = &set.0["f:spec"];
        assert!(spec.is_member && spec.below.0["f:a"].is_member && !spec.below.0["f:l"].is_member);
        assert!(spec.below.0["f:l"].below.0.contains_key("k:{\"name\":\"x\"}"));
    }

    #[test]
    fn subtracts_and_intersects_sets_field_by_field() {
        let all = FieldSet::read(&json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        let parent = FieldSet::read(&json!({"f:a": {}}));
        let child = FieldSet::read(&json!({"f:a": {"f:b": {}}}));
        assert_eq!(all.without(&parent), FieldSet::read(&json!({"f:a": {"f:b": {}}, "f:c": {}})));
        assert_eq!(all.and(&child), child);
        assert_eq!(parent.clone().union(&child), all.without(&FieldSet::read(&json!({"f:c": {}}))));
        assert!(child.without(&child).is_empty());
    }
}
