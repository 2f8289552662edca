//! The objects of a cluster from one step to the next: created, changed, recreated, removed, or no longer managed.

use std::collections::{BTreeMap, BTreeSet};

use hcoplan_kubernetes::tree::get;
use hcoplan_kubernetes::{Object, ObjectId};
use serde_json::Value;

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
pub enum ObjectOutcome {
    /// It is new.
    Created,
    /// It is another one than before.
    Changed,
    /// An immutable field changes: the operator deletes the object and creates it again.
    Recreated,
    /// It is deleted.
    Removed,
    /// The operator doesn't make it any more, and leaves it where it is.
    LeftBehind,
}

/// Immutable fields by kind. HCO deletes the object and creates it again. Source: HCO `controllers/handlers`, the hooks
/// of Deployments, DaemonSets, RoleBindings; Kubernetes' validation of updates.
const IMMUTABLE: [(&str, &str); 4] = [
    ("Deployment", "spec.selector"),
    ("DaemonSet", "spec.selector"),
    ("RoleBinding", "roleRef"),
    ("ClusterRoleBinding", "roleRef"),
];

/// What SSP makes of a golden image.
const CRON: &str = "DataImportCron";

/// Whether HCO deletes what a plan doesn't make any more: not what another release made, in an upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphans {
    /// The release made it under a condition, and deletes it when that doesn't hold any more.
    /// Source: HCO `controllers/operands/conditionalHandler.go`.
    Deleted,
    /// Another release made it, and this one doesn't know it.
    Kept,
}

impl Objects {
    /// The objects of a plan.
    pub fn of(plan: &Plan) -> Self {
        plan.objects().cloned().collect()
    }

    /// Sorted by their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.by_id.values()
    }

    /// Those that a plan makes, in the operator's order of work, then the others.
    pub fn in_order_of(&self, plan: &Plan) -> Vec<Object> {
        let places: BTreeMap<&ObjectId, usize> = plan.objects().map(|object| &*object.id).zip(0..).collect();
        let mut all: Vec<Object> = self.iter().cloned().collect();
        all.sort_by_cached_key(|object| places.get(&*object.id).copied().unwrap_or(usize::MAX));
        all
    }

    /// The object with an id.
    pub fn get(&self, id: &ObjectId) -> Option<&Object> {
        self.by_id.get(id)
    }

    /// Whether there is one of a kind.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.unseen.contains(kind) || self.of_kind(kind).is_some()
    }

    /// Notes that an object of this kind exists, with unknown content.
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

    /// What exists once the operator has started with a plan and come no further: it makes what isn't there.
    pub(super) fn started(&self, plan: &Plan) -> Self {
        let mut after = self.clone();
        for object in plan.objects() {
            after.by_id.entry(ObjectId::clone(&object.id)).or_insert_with(|| object.clone());
        }
        after
    }

    /// What exists once a plan has been carried out on these: objects keep their owners as they are
    /// written.
    #[must_use]
    pub(super) fn after_plan(&self, plan: &Plan, orphans: Orphans) -> Self {
        let mut after = self.clone();
        for object in plan.objects() {
            let made = match self.by_id.get(&*object.id) {
                Some(before) => over(before, object, orphans),
                None => object.clone(),
            };
            after.by_id.insert(ObjectId::clone(&made.id), made);
        }
        let made = Self::of(plan);
        // A reconcile that stops doesn't get to what it would delete.
        if orphans == Orphans::Deleted && plan.reconcile_error.is_none() {
            let is_gone =
                |object: &Object| managed_by(object) == Some("hco-operator") && !made.by_id.contains_key(&*object.id);
            after.by_id.retain(|_, object| !is_gone(object));
        }
        // SSP deletes the crons that it created and that its object no longer lists. The cron's retention policy
        // decides whether CDI deletes its imports, too.
        if plan.ssp.as_ref().is_some_and(|ssp| ssp.admission.accepted) {
            let gone = self.by_id.values().filter(|o| o.id.kind == CRON);
            for cron in gone.filter(|o| !made.by_id.contains_key(&*o.id)) {
                after.by_id.remove(&*cron.id);
                let source = get(&cron.body, "spec.managedDataSource").and_then(Value::as_str);
                let retains = get(&cron.body, "spec.retentionPolicy").and_then(Value::as_str);
                let goes = |id: &ObjectId| {
                    retains == Some("None")
                        && id.kind == "DataSource"
                        && Some(id.name.as_str()) == source
                        && id.namespace == cron.id.namespace
                        && !made.by_id.contains_key(id)
                };
                after.by_id.retain(|id, _| !goes(id));
            }
        }
        after
    }

    /// What became of each object between two moments, where `plan` is what the operators make at
    /// the second one.
    pub fn changes(&self, after: &Self, plan: &Plan) -> Vec<(ObjectId, ObjectOutcome)> {
        let made = Self::of(plan);
        // CDI makes the DataSources that crons name.
        let is_filled = |id: &ObjectId| {
            let mut crons = made.by_id.values().filter(|o| o.id.kind == CRON);
            id.kind == "DataSource"
                && crons.any(|cron| {
                    cron.id.namespace == id.namespace
                        && get(&cron.body, "spec.managedDataSource") == Some(&id.name.as_str().into())
                })
        };
        // An operator that stopped has not come to the rest: nothing is known to be left behind.
        let hco_stops = !plan.admission.accepted || plan.reconcile_error.is_some();
        let ssp_rejects = plan.ssp.as_ref().is_some_and(|s| !s.admission.accepted);
        let is_awaited = |object: &Object| hco_stops || ssp_rejects && managed_by(object) != Some("hco-operator");
        let mut out = Vec::new();
        for (id, object) in &after.by_id {
            let became = match self.by_id.get(id) {
                None => ObjectOutcome::Created,
                Some(_) if !made.by_id.contains_key(id) && is_awaited(object) => continue,
                Some(_) if !made.by_id.contains_key(id) && is_filled(id) => continue,
                Some(_) if !made.by_id.contains_key(id) => ObjectOutcome::LeftBehind,
                Some(before) if before.body == object.body => continue,
                Some(before) if is_recreated(before, object) => ObjectOutcome::Recreated,
                Some(_) => ObjectOutcome::Changed,
            };
            out.push((id.clone(), became));
        }
        out.extend(self.removals(after));
        out.sort();
        out
    }

    /// The objects that aren't there any more.
    pub fn removals(&self, after: &Self) -> Vec<(ObjectId, ObjectOutcome)> {
        let gone = self.by_id.keys();
        let gone = gone.filter(|id| !after.by_id.contains_key(*id));
        gone.map(|id| (id.clone(), ObjectOutcome::Removed)).collect()
    }
}

impl FromIterator<Object> for Objects {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        let named = |object: Object| (ObjectId::clone(&object.id), object);
        Self { by_id: objects.into_iter().map(named).collect(), unseen: BTreeSet::new() }
    }
}

/// An object updated with its new render. The operator compares specs and labels: owners stay as the release wrote them
/// that created the object, unless it is recreated. An upgrade leaves the spec of the NetworkAddonsConfig as it is (HCO
/// `controllers/handlers/networkAddons.go`).
fn over(before: &Object, now: &Object, orphans: Orphans) -> Object {
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

/// The operator that says that it manages an object.
fn managed_by(object: &Object) -> Option<&str> {
    let labels = get(&object.body, "metadata.labels")?;
    labels.get("app.kubernetes.io/managed-by")?.as_str()
}

fn is_recreated(before: &Object, after: &Object) -> bool {
    let mut fields = IMMUTABLE.iter();
    fields.any(|(kind, field)| *kind == after.id.kind && get(&before.body, field) != get(&after.body, field))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::inventory::Inventory;
    use crate::lifecycle::State;
    use crate::release::Release;

    /// Source: CDI deletes what a cron imported, its DataSource too, if the retention policy is `None`.
    #[test]
    fn a_removed_golden_image_takes_its_data_source_along_only_by_its_retention_policy() {
        let manifest = |templates| {
            json!({"apiVersion": "hco.kubevirt.io/v1beta1", "kind": "HyperConverged",
                "metadata": {"name": "kubevirt-hyperconverged", "namespace": "kubevirt-hyperconverged"},
                "spec": {"dataImportCronTemplates": templates}})
        };
        for (retention, stays) in [("None", false), ("All", true)] {
            let source = json!({"registry": {"url": "docker://example.com/a:1"}});
            let storage = json!({"resources": {"requests": {"storage": "1Gi"}}});
            let image = json!({"metadata": {"name": "a"}, "spec": {"managedDataSource": "a",
                "retentionPolicy": retention, "schedule": "0 0 * * *",
                "template": {"spec": {"source": source, "storage": storage}}}});
            let state = State::new(Release::known("1.18").expect("known"), Arc::new(Inventory::default()));
            let mut before = state.create(&manifest(json!([image]))).after;
            let source = Object::new(json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataSource",
                "metadata": {"name": "a", "namespace": "kubevirt-os-images"}}));
            before.objects.by_id.insert(ObjectId::clone(&source.id), source);
            let after = before.update(&manifest(json!([]))).after;
            let has = |state: &State, kind| state.objects.iter().any(|o| o.id.kind == kind && o.id.name == "a");
            assert!(has(&before, "DataImportCron"), "{retention}");
            assert!(!has(&after, "DataImportCron"), "{retention}");
            assert_eq!(has(&after, "DataSource"), stays, "{retention}");
        }
    }
}
