//! The objects of a cluster from one step to the next: what is made, changed, made anew, removed,
//! and what nobody looks after any more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::kube::tree::get;
use crate::kube::{Object, ObjectId};
use crate::plan::Plan;

/// The objects that exist.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    by_id: BTreeMap<ObjectId, Object>,
    /// Kinds of which one is known to exist, but not what it looks like.
    unseen: BTreeSet<String>,
}

/// What became of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Became {
    /// It is new.
    Created,
    /// It is another one than before.
    Changed,
    /// A field that can't be changed changes: it is deleted and created anew.
    Recreated,
    /// It is deleted.
    Removed,
    /// The operator doesn't make it any more, and leaves it where it is.
    LeftBehind,
}

/// Fields that the API server doesn't let anybody change, by kind. HCO deletes the object and
/// creates it anew. Source: HCO `controllers/handlers`, the hooks of Deployments, DaemonSets,
/// RoleBindings; Kubernetes' validation of updates.
const IMMUTABLE: [(&str, &str); 4] = [
    ("Deployment", "spec.selector"),
    ("DaemonSet", "spec.selector"),
    ("RoleBinding", "roleRef"),
    ("ClusterRoleBinding", "roleRef"),
];

/// What SSP makes of a golden image.
const CRON: &str = "DataImportCron";

impl Objects {
    /// The objects of a plan.
    pub fn of(plan: &Plan) -> Self {
        plan.objects().cloned().collect()
    }

    /// Sorted by their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.by_id.values()
    }

    /// The object with an id.
    pub fn get(&self, id: &ObjectId) -> Option<&Object> {
        self.by_id.get(id)
    }

    /// Whether there is one of a kind.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.unseen.contains(kind) || self.of_kind(kind).is_some()
    }

    /// Notes that there is one of a kind, whatever it looks like.
    pub fn add_unseen(&mut self, kind: &str) {
        self.unseen.insert(kind.to_owned());
    }

    /// The first one of a kind.
    pub fn of_kind(&self, kind: &str) -> Option<&Value> {
        let found = self.by_id.values().find(|o| o.id.kind == kind);
        found.map(|o| &*o.body)
    }

    /// Takes those away that aren't wanted.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&ObjectId) -> bool) {
        self.by_id.retain(|id, _| is_wanted(id));
    }

    /// What exists once a plan has been carried out on these: objects keep their owners as they are
    /// written, and those that aren't in the plan stay.
    #[must_use]
    pub fn carried_out(&self, plan: &Plan) -> Self {
        let mut after = self.clone();
        for object in plan.objects() {
            let made = match self.by_id.get(&*object.id) {
                Some(before) => over(before, object),
                None => object.clone(),
            };
            after.by_id.insert(ObjectId::clone(&made.id), made);
        }
        // SSP deletes the crons that it made and that its object doesn't list any more; what CDI
        // imported goes with them or stays, by their retention policy. Its DataSources stay.
        if plan.ssp.as_ref().is_some_and(|ssp| ssp.admission.accepted) {
            let made = Self::of(plan);
            let is_gone = |id: &ObjectId| id.kind == CRON && !made.by_id.contains_key(id);
            after.by_id.retain(|id, _| !is_gone(id));
        }
        after
    }

    /// What became of each object between two moments, where `plan` is what the operators make at
    /// the second one.
    pub fn changes(&self, after: &Self, plan: &Plan) -> Vec<(ObjectId, Became)> {
        let made = Self::of(plan);
        let mut out = Vec::new();
        for (id, object) in &after.by_id {
            let became = match self.by_id.get(id) {
                None => Became::Created,
                Some(_) if !made.by_id.contains_key(id) => Became::LeftBehind,
                Some(before) if before.body == object.body => continue,
                Some(before) if is_recreated(before, object) => Became::Recreated,
                Some(_) => Became::Changed,
            };
            out.push((id.clone(), became));
        }
        out.extend(self.removals(after));
        out.sort();
        out
    }

    /// The objects that aren't there any more.
    pub fn removals(&self, after: &Self) -> Vec<(ObjectId, Became)> {
        let gone = self.by_id.keys();
        let gone = gone.filter(|id| !after.by_id.contains_key(*id));
        gone.map(|id| (id.clone(), Became::Removed)).collect()
    }
}

impl FromIterator<Object> for Objects {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        let named = |object: Object| (ObjectId::clone(&object.id), object);
        Self {
            by_id: objects.into_iter().map(named).collect(),
            unseen: BTreeSet::new(),
        }
    }
}

/// An object with what is made of it now. The operator compares specs and labels: owners stay as
/// the release wrote them that created the object, unless it is made anew.
fn over(before: &Object, now: &Object) -> Object {
    const OWNERS: &str = "ownerReferences";
    let owners = |object: &Object| get(&object.body, "metadata.ownerReferences").cloned();
    let (old, new) = (owners(before), owners(now));
    if old.is_none() || old == new || is_recreated(before, now) {
        return now.clone();
    }
    let mut body = now.body.as_ref().clone();
    if let (Some(owners), Some(metadata)) = (old, body["metadata"].as_object_mut()) {
        metadata.insert(OWNERS.to_owned(), owners);
    }
    Object::new(body)
}

fn is_recreated(before: &Object, after: &Object) -> bool {
    let mut fields = IMMUTABLE.iter();
    fields.any(|(kind, field)| {
        *kind == after.id.kind && get(&before.body, field) != get(&after.body, field)
    })
}
