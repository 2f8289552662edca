//! Compares two sets of objects.

use super::delta::{Step, delta};
use super::lists::Lists;
use crate::diff::Kind;
use crate::prelude::*;

/// A changed field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// The change.
    pub step: Step,
    /// Its causes, as indexes into the comparison's causes; empty if unknown.
    pub causes: Vec<usize>,
}

/// A changed object.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectChange {
    /// The kind of change.
    pub kind: Kind,
    /// The object.
    pub id: Arc<ObjectId>,
    /// The similar removed object that it replaces. (Kubernetes deletes one object and creates the other.)
    pub instead_of: Option<Arc<ObjectId>>,
    /// The object before, or the replaced one; `None` if it is new.
    pub before: Option<Arc<Value>>,
    /// The object after; `None` if it is removed.
    pub after: Option<Arc<Value>>,
    /// The changed fields; empty if the object is added or removed.
    pub fields: Vec<FieldChange>,
    /// The causes of the whole change, as indexes into the comparison's causes.
    pub causes: Vec<usize>,
}

impl ObjectChange {
    /// Whether all its differences are without effect.
    pub fn is_noise(&self) -> bool {
        self.kind == Kind::Change && self.fields.iter().all(|f| f.step.noise.is_some())
    }

    /// The number of differences without effect.
    pub fn noise_count(&self) -> usize {
        let fields = self.fields.iter();
        fields.filter(|f| f.step.noise.is_some()).count()
    }
}

/// Minimum similarity of a replaced object: the share of equal leaves, in percent.
const MIN_SIMILARITY: usize = 70;

/// Maximum number of pairs of removed and added objects that are checked for a replacement; with more, all are reported
/// as removed and added. A hundred thousand take a quarter of a second.
const MAX_PAIRS: usize = 100_000;

/// Compares two sets of objects: those of `after` in their order, then removed ones. Schemas are those of `release`.
pub fn objects(release: &Release, before: &[Object], after: &[Object]) -> Vec<ObjectChange> {
    let mut old: BTreeMap<&ObjectId, &Object> = before.iter().map(|o| (&*o.id, o)).collect();
    let mut changes = Vec::new();
    for object in after {
        match old.remove(&*object.id) {
            Some(was) if was.body == object.body => {}
            Some(was) => changes.push(changed(release, was, object, Kind::Change)),
            None => changes.push(change(Kind::Add, &object.id, None, Some(object))),
        }
    }
    let mut removed: Vec<&Object> = before.iter().filter(|object| old.contains_key(&*object.id)).collect();
    match_replaced(release, &mut changes, &mut removed);
    changes.extend(removed.into_iter().map(|object| change(Kind::Remove, &object.id, Some(object), None)));
    changes
}

fn changed(release: &Release, was: &Object, is: &Object, kind: Kind) -> ObjectChange {
    let lists = Lists::new(release.schema_of(&is.id.api_version, &is.id.kind));
    let steps = delta(&was.body, &is.body, &lists);
    let fields = steps.into_iter().map(|step| FieldChange { step, causes: Vec::new() });
    ObjectChange { fields: fields.collect(), ..change(kind, &is.id, Some(was), Some(is)) }
}

/// A change without its fields.
fn change(kind: Kind, id: &Arc<ObjectId>, before: Option<&Object>, after: Option<&Object>) -> ObjectChange {
    let body = |object: &Object| Arc::clone(&object.body);
    ObjectChange {
        kind,
        id: Arc::clone(id),
        instead_of: None,
        before: before.map(body),
        after: after.map(body),
        fields: Vec::new(),
        causes: Vec::new(),
    }
}

/// Finds added objects that replace removed ones: the same kind and namespace, and most leaves equal. The most similar
/// pairs come first.
fn match_replaced(release: &Release, changes: &mut [ObjectChange], removed: &mut Vec<&Object>) {
    let added = changes.iter().filter(|c| c.kind == Kind::Add).count();
    if added.saturating_mul(removed.len()) > MAX_PAIRS {
        return;
    }
    let mut pairs = Vec::new();
    for (i, change) in changes.iter().enumerate().filter(|(_, c)| c.kind == Kind::Add) {
        let Some(after) = &change.after else { continue };
        for (j, object) in removed.iter().enumerate() {
            let same = |id: &ObjectId| (id.api_version.clone(), id.kind.clone(), id.namespace.clone());
            if same(&object.id) == same(&change.id) {
                let similarity = similarity(&object.body, after);
                pairs.extend((similarity >= MIN_SIMILARITY).then_some((std::cmp::Reverse(similarity), i, j)));
            }
        }
    }
    pairs.sort_unstable();
    let mut matched = Vec::new();
    for (_, i, j) in pairs {
        let Some(change) = changes.get_mut(i).filter(|c| c.instead_of.is_none()) else {
            continue;
        };
        if matched.contains(&j) {
            continue;
        }
        matched.push(j);
        if let (Some(was), Some(body)) = (removed.get(j), change.after.clone()) {
            let is = Object { id: change.id.clone(), body };
            *change = ObjectChange { instead_of: Some(was.id.clone()), ..changed(release, was, &is, Kind::Add) };
        }
    }
    let mut index = 0;
    removed.retain(|_| {
        index += 1;
        !matched.contains(&(index - 1))
    });
}

/// The share of leaves that two values have in common, in percent.
fn similarity(a: &Value, b: &Value) -> usize {
    fn leaves(value: &Value) -> usize {
        match value {
            Value::Object(map) => map.values().map(leaves).sum(),
            Value::Array(items) => items.iter().map(leaves).sum(),
            _ => 1,
        }
    }
    fn common(a: &Value, b: &Value) -> usize {
        match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                let both = a.iter().filter_map(|(k, v)| Some(common(v, b.get(k)?)));
                both.sum()
            }
            (Value::Array(a), Value::Array(b)) => a.iter().zip(b).map(|(a, b)| common(a, b)).sum(),
            (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => 0,
            (a, b) => usize::from(a == b),
        }
    }
    let most = leaves(a).max(leaves(b));
    (common(a, b) * 100).checked_div(most).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, body: Value) -> Object {
        let mut whole = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "n", "labels": {"a": "1", "b": "2"}}});
        whole["data"] = body;
        Object::new(whole)
    }

    #[test]
    fn treats_nearly_equal_clusters_as_renamed() {
        let release = Release::known("1.18").expect("known");
        let before = [object("old", json!({"x": "1", "y": "2", "z": "3"})), object("gone", json!({"other": "text"}))];
        let after = [object("new", json!({"x": "1", "y": "2", "z": "4"}))];
        let found = objects(&release, &before, &after);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].kind, Kind::Add);
        assert_eq!(found[0].instead_of.as_ref().map(|id| &*id.name), Some("old"));
        let labels: Vec<_> = found[0].fields.iter().map(|f| &*f.step.label).collect();
        assert_eq!(labels, ["data.z", "metadata.name"]);
        assert_eq!((found[1].kind, &*found[1].id.name), (Kind::Remove, "gone"));
    }

    #[test]
    fn leaves_out_equal_values() {
        let release = Release::known("1.18").expect("known");
        let all = [object("a", json!({"x": "1"}))];
        assert!(objects(&release, &all, &all).is_empty());
    }
}
