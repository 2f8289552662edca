//! Server-side apply: who wrote which field, and what the API server makes of a manifest that is applied by it.
//!
//! An applier owns the fields of the manifest that it applied last. What the next manifest doesn't have of them is
//! removed, unless another writer owns it, too; HCO owns what its own updates have changed. Whoever changes a field takes it
//! from the others: a GitOps controller forces its values. Source: `sigs.k8s.io/structured-merge-diff` (`merge`),
//! apimachinery `managedfields`.

use std::collections::BTreeSet;

use hcoplan_kubernetes::schema::{FieldSet, Mistyped, Schema, Unmergeable};
use serde_json::{Value, json};

use crate::hyperconverged::{self, version_of};
use crate::release::Release;

/// Who owns which fields of the HyperConverged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Managed {
    /// Of the manifest that was applied last, in the version that it was written in.
    applied: Option<Owned>,
    /// What others wrote, a set for each version.
    updated: Vec<Owned>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    version: String,
    fields: FieldSet,
}

impl Managed {
    /// What the `managedFields` of a live object say. The first applier is the one that applies now.
    pub(super) fn read(live: &Value) -> Self {
        let mut managed = Self::default();
        for entry in live["metadata"]["managedFields"].as_array().into_iter().flatten() {
            if entry["subresource"].as_str().is_some_and(|of| !of.is_empty()) {
                continue;
            }
            let owned = Owned { version: version_of(entry).to_owned(), fields: FieldSet::read(&entry["fieldsV1"]) };
            if entry["operation"] == "Apply" && managed.applied.is_none() {
                managed.applied = Some(owned);
            } else {
                managed.updated.push(owned);
            }
        }
        managed
    }

    /// The object with a manifest applied to it, and who owns what then. `stored` is what is in etcd, if anything.
    ///
    /// # Errors
    /// The API server's own, where a manifest has a field that the schema doesn't know, or a value of another kind.
    pub(super) fn apply(
        &self,
        release: &Release,
        stored: Option<&Value>,
        manifest: &Value,
    ) -> Result<(Value, Self), Unmergeable> {
        let version = version_of(manifest);
        let Some(schema) = schema_of(release, version) else {
            // Admission says that no such version is served.
            return Ok((manifest.clone(), self.clone()));
        };
        let live = match stored {
            Some(stored) => hyperconverged::read_in(release, stored, version),
            None => json!({"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}),
        };
        // What is stored already may hold an element twice.
        let stored = schema.unmergeable(&live).filter(|odd| odd.mistake == Mistyped::WrongType);
        if let Some(mistake) = schema.unmergeable(manifest).or(stored) {
            return Err(mistake);
        }
        let applied = Owned { version: version.to_owned(), fields: schema.fields_of(manifest) };
        let merged = schema.merged(&live, manifest);
        let pruned = self.pruned(release, merged, &applied);
        let mut updated = self.updated.clone();
        for owned in &mut updated {
            owned.lose(release, &live, &pruned);
        }
        updated.retain(|owned| !owned.fields.is_empty());
        Ok((pruned, Self { applied: Some(applied.without_identity()), updated }))
    }

    /// The merged object without what was applied last and isn't now, unless another writer owns it.
    fn pruned(&self, release: &Release, merged: Value, now: &Owned) -> Value {
        let Some(last) = self.applied.as_ref().filter(|last| !last.fields.is_empty()) else {
            return merged;
        };
        let Some(schema) = schema_of(release, &last.version) else {
            return merged;
        };
        let original = in_version(release, &merged, &last.version);
        let last_fields = schema.with_parents(&last.fields);
        let mut pruned = schema.without(&original, &last_fields);
        let owners = || self.updated.iter().chain([now]);
        // The version of what was applied last comes first: what it has lost is back before it is converted.
        let others = owners().map(|owned| owned.version.as_str()).filter(|version| *version != last.version);
        let others: BTreeSet<&str> = others.collect();
        for version in std::iter::once(last.version.as_str()).chain(others) {
            let Some(schema) = schema_of(release, version) else { continue };
            let all = in_version(release, &original, version);
            let owned = owners().filter(|owned| owned.version == version);
            let owned = owned.fold(FieldSet::default(), |all, owned| all.union(&owned.fields));
            let kept = schema.fields_of(&in_version(release, &pruned, version));
            let kept = schema.with_parents(&kept).union(&schema.with_parents(&owned));
            let lost = schema.with_parents(&schema.fields_of(&all)).without(&kept);
            pruned = schema.without(&all, &lost);
        }
        let pruned = in_version(release, &pruned, &last.version);
        // What nobody owns was not applied last, either: it stays.
        let kept = schema.with_parents(&schema.fields_of(&pruned));
        let lost = schema.with_parents(&schema.fields_of(&original)).without(&kept).and(&last_fields);
        in_version(release, &schema.without(&original, &lost), &now.version)
    }

    /// HCO updated the object: what it changes is its own.
    pub(super) fn update(&mut self, release: &Release, before: &Value, after: &Value) {
        let version = version_of(after);
        if self.applied.is_none() && self.updated.is_empty() {
            return;
        }
        let Some(schema) = schema_of(release, version) else { return };
        let before = hyperconverged::read_in(release, before, version);
        let after = hyperconverged::read_in(release, after, version);
        for owned in self.applied.iter_mut().chain(&mut self.updated) {
            owned.lose(release, &before, &after);
        }
        self.applied.take_if(|owned| owned.fields.is_empty());
        let written = Owned { version: version.to_owned(), fields: schema.changes(&before, &after).written };
        match self.updated.iter_mut().find(|owned| owned.version == version) {
            Some(owned) => owned.fields = std::mem::take(&mut owned.fields).union(&written.fields),
            None => self.updated.push(written.without_identity()),
        }
        self.updated.retain(|owned| !owned.fields.is_empty());
    }
}

impl Owned {
    /// Another writer changes the object: what it writes or removes isn't owned any more.
    fn lose(&mut self, release: &Release, before: &Value, after: &Value) {
        if let Some(schema) = schema_of(release, &self.version) {
            let changes =
                schema.changes(&in_version(release, before, &self.version), &in_version(release, after, &self.version));
            self.fields = self.fields.without(&changes.written).without(&changes.removed);
        }
    }

    /// Nobody owns what says which object it is, nor a status.
    fn without_identity(mut self) -> Self {
        let identity = json!({"f:apiVersion": {}, "f:kind": {}, "f:status": {}, "f:metadata": {
            ".": {}, "f:name": {}, "f:namespace": {}, "f:uid": {}, "f:resourceVersion": {}, "f:generation": {},
            "f:creationTimestamp": {}}});
        self.fields = self.fields.without(&FieldSet::read(&identity));
        self
    }
}

pub(super) fn schema_of<'r>(release: &'r Release, version: &str) -> Option<&'r Schema> {
    release.schema(&format!("hyperconverged.{version}"))
}

/// An object of a request in another version, as the API server converts it: without defaults.
fn in_version(release: &Release, object: &Value, version: &str) -> Value {
    if version_of(object) == version {
        return object.clone();
    }
    let mut read = hyperconverged::in_version(release, object, version);
    if let Some(schema) = schema_of(release, version) {
        schema.prepare_converted(&mut read);
    }
    read
}
