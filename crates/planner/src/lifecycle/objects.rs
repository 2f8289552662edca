//! Tracks a cluster's objects between steps: created, changed, recreated, removed, or no longer managed.

use crate::plan::Plan;
use crate::prelude::*;
use hcoplan_kubernetes::ObjectId;
use hcoplan_kubernetes::tree::get;

/// The objects that exist.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    by_id: BTreeMap<ObjectId, Object>,
    /// Kinds of which an object exists, with unknown content.
    unseen: BTreeSet<String>,
}

/// The outcome of a step for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectOutcome {
    /// The object is new.
    Created,
    /// Its content changed.
    Changed,
    /// An immutable field changes: the operator deletes and creates the object again.
    Recreated,
    /// The object is deleted.
    Removed,
    /// The operator no longer renders the object and leaves it in the cluster.
    LeftBehind,
}

/// Immutable fields by kind; HCO and SSP delete and create the object again to change them. Source: HCO
/// `controllers/handlers`, the hooks of Deployments, DaemonSets, RoleBindings; Kubernetes' validation of updates; SSP
/// `reconcileDataImportCron`.
const IMMUTABLE: [(&str, &str); 5] = [
    ("Deployment", "spec.selector"),
    ("DaemonSet", "spec.selector"),
    ("RoleBinding", "roleRef"),
    ("ClusterRoleBinding", "roleRef"),
    (CRON, "spec"),
];

/// The kinds of which SSP deletes its own objects that it no longer renders. Source: SSP
/// `internal/operands/data-sources/reconcile.go` (`reconcileDataSources`, `reconcileDataImportCrons`).
const CRON: &str = "DataImportCron";
const SOURCE: &str = "DataSource";

/// Whether HCO deletes objects that a plan no longer renders: not those of another release, in an upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphans {
    /// The release creates them conditionally, and deletes them when the condition ends.
    Deleted,
    /// Another release created them, and this one doesn't know them.
    Kept,
}

impl Objects {
    /// The objects of a plan.
    pub fn of(plan: &Plan) -> Self {
        plan.objects().cloned().collect()
    }

    /// The objects, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.by_id.values()
    }

    /// The plan's objects in the operator's order of work, then the others.
    pub fn in_order_of(&self, plan: &Plan) -> Vec<Object> {
        let order: BTreeMap<&ObjectId, usize> = plan.objects().map(|object| &*object.id).zip(0..).collect();
        let mut all: Vec<Object> = self.iter().cloned().collect();
        all.sort_by_cached_key(|object| order.get(&*object.id).copied().unwrap_or(usize::MAX));
        all
    }

    /// The object with an id.
    pub fn get(&self, id: &ObjectId) -> Option<&Object> {
        self.by_id.get(id)
    }

    /// Whether an object of a kind exists.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.unseen.contains(kind) || self.of_kind(kind).is_some()
    }

    /// Records that an object of this kind exists, with unknown content.
    pub fn add_unseen(&mut self, kind: &str) {
        self.unseen.insert(kind.to_owned());
    }

    /// The first object of a kind.
    pub fn of_kind(&self, kind: &str) -> Option<&Value> {
        let found = self.by_id.values().find(|o| o.id.kind == kind);
        found.map(|o| &*o.body)
    }

    /// The objects' bodies.
    pub fn bodies(&self) -> Vec<&Value> {
        self.by_id.values().map(|object| &*object.body).collect()
    }

    /// Removes unwanted objects.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&ObjectId) -> bool) {
        self.by_id.retain(|id, _| is_wanted(id));
    }

    /// The objects after the operator started with a plan and stopped: it creates missing ones.
    pub(super) fn started(&self, plan: &Plan) -> Self {
        let mut after = self.clone();
        for object in plan.objects() {
            after.by_id.entry(ObjectId::clone(&object.id)).or_insert_with(|| object.clone());
        }
        after
    }

    /// The objects after a plan is carried out; existing ones keep their owners.
    #[must_use]
    pub(super) fn after_plan(&self, plan: &Plan, orphans: Orphans) -> Self {
        let mut after = self.clone();
        for object in plan.objects() {
            let rendered = match self.by_id.get(&*object.id) {
                Some(before) => updated(before, object, orphans),
                None => object.clone(),
            };
            after.by_id.insert(ObjectId::clone(&rendered.id), rendered);
        }
        let rendered = Self::of(plan);
        // An aborted reconcile deletes nothing.
        if orphans == Orphans::Deleted && plan.reconcile_error.is_none() {
            let is_orphan = |object: &Object| {
                managed_by(object) == Some("hco-operator") && !rendered.by_id.contains_key(&*object.id)
            };
            after.by_id.retain(|_, object| !is_orphan(object));
        }
        if plan.ssp.as_ref().is_some_and(|ssp| ssp.admission.accepted) {
            let is_gone = |id: &ObjectId| !rendered.by_id.contains_key(id);
            let is_deleted = |object: &Object| [CRON, SOURCE].contains(&&*object.id.kind) && is_owned_by_ssp(object);
            after.by_id.retain(|id, object| !(is_gone(id) && is_deleted(object)));
        }
        after
    }

    /// The outcome per object between two states; `plan` is the later one's.
    pub fn changes(&self, after: &Self, plan: &Plan) -> Vec<(ObjectId, ObjectOutcome)> {
        let rendered = Self::of(plan);
        // An aborted operator hasn't handled the other objects: they may not be left behind.
        let hco_stops = !plan.admission.accepted || plan.reconcile_error.is_some();
        let ssp_rejects = plan.ssp.as_ref().is_some_and(|s| !s.admission.accepted);
        let is_awaited = |object: &Object| hco_stops || ssp_rejects && managed_by(object) != Some("hco-operator");
        let mut out = Vec::new();
        for (id, object) in &after.by_id {
            let outcome = match self.by_id.get(id) {
                None => ObjectOutcome::Created,
                Some(_) if !rendered.by_id.contains_key(id) && is_awaited(object) => continue,
                Some(_) if !rendered.by_id.contains_key(id) => ObjectOutcome::LeftBehind,
                Some(before) if before.body == object.body => continue,
                Some(before) if is_recreated(before, object) => ObjectOutcome::Recreated,
                Some(_) => ObjectOutcome::Changed,
            };
            out.push((id.clone(), outcome));
        }
        out.extend(self.removals(after));
        out.sort();
        out
    }

    /// The objects that `after` lacks.
    pub fn removals(&self, after: &Self) -> Vec<(ObjectId, ObjectOutcome)> {
        let removed = self.by_id.keys();
        let removed = removed.filter(|id| !after.by_id.contains_key(*id));
        removed.map(|id| (id.clone(), ObjectOutcome::Removed)).collect()
    }
}

impl FromIterator<Object> for Objects {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        let with_id = |object: Object| (ObjectId::clone(&object.id), object);
        Self { by_id: objects.into_iter().map(with_id).collect(), unseen: BTreeSet::new() }
    }
}

/// An object updated with its new rendering. The operator compares specs and labels: owners stay as the creating
/// release wrote them, unless the object is recreated. An upgrade leaves the spec of the NetworkAddonsConfig unchanged
/// (HCO `controllers/handlers/networkAddons.go`).
fn updated(before: &Object, now: &Object, orphans: Orphans) -> Object {
    const OWNERS: &str = "ownerReferences";
    if orphans == Orphans::Kept && now.id.kind == "NetworkAddonsConfig" && before.body["spec"] != now.body["spec"] {
        let mut body = now.body.as_ref().clone();
        body["spec"] = before.body["spec"].clone();
        return Object::new(body);
    }
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

/// The operator that manages an object, from its label.
fn managed_by(object: &Object) -> Option<&str> {
    let labels = get(&object.body, "metadata.labels")?;
    labels.get("app.kubernetes.io/managed-by")?.as_str()
}

/// Whether SSP created an object.
fn is_owned_by_ssp(object: &Object) -> bool {
    let annotations = get(&object.body, "metadata.annotations");
    annotations.is_some_and(|all| all.get("operator-sdk/primary-resource").is_some())
}

fn is_recreated(before: &Object, after: &Object) -> bool {
    let mut fields = IMMUTABLE.iter();
    fields.any(|(kind, field)| *kind == after.id.kind && get(&before.body, field) != get(&after.body, field))
}
