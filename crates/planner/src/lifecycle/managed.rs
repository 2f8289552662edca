//! Server-side apply: the owners of fields, and the result of applying a manifest.
//!
//! An applier owns the fields of its last applied manifest. Those that the next manifest lacks are removed, unless
//! another writer owns them, too; HCO owns the fields that its own updates changed. A writer that changes a field takes
//! it from the others: a GitOps controller forces its values. Source: `sigs.k8s.io/structured-merge-diff` (`merge`),
//! apimachinery `managedfields`.

use crate::hyperconverged;
use crate::hyperconverged::version_of;
use crate::prelude::*;
use crate::release::Release;
use hcoplan_kubernetes::schema::{FieldSet, Mistyped, Unmergeable};

/// The owners of the HyperConverged's fields.
#[derive(Debug, Clone, Default)]
pub struct Managed {
    /// The fields of the last applied manifest, in its version.
    applied: Option<Owned>,
    /// The fields that others wrote, one set per version.
    updated: Vec<Owned>,
}

#[derive(Debug, Clone)]
struct Owned {
    version: String,
    fields: FieldSet,
}

impl Managed {
    /// Reads the `managedFields` of a live object. The first applier is taken for the current one.
    pub(super) fn read(live: &Value) -> Self {
        let mut managed = Self::default();
        for entry in elements(&live["metadata"]["managedFields"]) {
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

    /// The object with a manifest applied, and the owners then. `stored` is the object in etcd, if any.
    ///
    /// The API server's error, if the manifest has a field that the schema doesn't know, or a value of another kind.
    pub(super) fn apply(
        &self,
        release: &Release,
        stored: Option<&Value>,
        manifest: &Value,
    ) -> Result<(Value, Self), Unmergeable> {
        let version = version_of(manifest);
        let Some(schema) = release.hyperconverged_schema(version) else {
            // Admission rejects a version that isn't served.
            return Ok((manifest.clone(), self.clone()));
        };
        let live = match stored {
            Some(stored) => hyperconverged::read_in(release, stored, version),
            None => json!({"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}),
        };
        // The stored object may have duplicate elements.
        let stored = schema.unmergeable(&live).filter(|mistake| mistake.mistake == Mistyped::WrongType);
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

    /// Another version than this one in which fields are owned.
    pub(super) fn other_version(&self, version: &str) -> Option<&str> {
        let mut versions = self.applied.iter().chain(&self.updated).map(|owned| owned.version.as_str());
        versions.find(|other| *other != version)
    }

    /// The merged object without fields that were applied last and aren't now, unless another writer owns them.
    fn pruned(&self, release: &Release, merged: Value, now: &Owned) -> Value {
        let Some(last) = self.applied.as_ref().filter(|last| !last.fields.is_empty()) else {
            return merged;
        };
        let Some(schema) = release.hyperconverged_schema(&last.version) else {
            return merged;
        };
        let original = in_version(release, &merged, &last.version);
        let last_fields = schema.with_parents(&last.fields);
        let mut pruned = schema.without(&original, &last_fields);
        let owners = || self.updated.iter().chain([now]);
        // The version of the last applied manifest comes first: fields that it lost are restored before converting.
        let others = owners().map(|owned| owned.version.as_str()).filter(|version| *version != last.version);
        let others: BTreeSet<&str> = others.collect();
        for version in std::iter::once(last.version.as_str()).chain(others) {
            let Some(schema) = release.hyperconverged_schema(version) else { continue };
            let all = in_version(release, &original, version);
            let owned = owners().filter(|owned| owned.version == version);
            let owned = owned.fold(FieldSet::default(), |all, owned| all.union(&owned.fields));
            let kept = schema.fields_of(&in_version(release, &pruned, version));
            let kept = schema.with_parents(&kept).union(&schema.with_parents(&owned));
            let lost = schema.with_parents(&schema.fields_of(&all)).without(&kept);
            pruned = schema.without(&all, &lost);
        }
        let pruned = in_version(release, &pruned, &last.version);
        // A field that nobody owns wasn't applied last, either: it stays.
        let kept = schema.with_parents(&schema.fields_of(&pruned));
        let lost = schema.with_parents(&schema.fields_of(&original)).without(&kept).and(&last_fields);
        in_version(release, &schema.without(&original, &lost), &now.version)
    }

    /// HCO updated the object: it owns what it changed.
    pub(super) fn update(&mut self, release: &Release, before: &Value, after: &Value) {
        let version = version_of(after);
        if self.applied.is_none() && self.updated.is_empty() {
            return;
        }
        let Some(schema) = release.hyperconverged_schema(version) else { return };
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
    /// Another writer changes the object: fields that it writes or removes are no longer owned.
    fn lose(&mut self, release: &Release, before: &Value, after: &Value) {
        if let Some(schema) = release.hyperconverged_schema(&self.version) {
            let changes =
                schema.changes(&in_version(release, before, &self.version), &in_version(release, after, &self.version));
            self.fields = self.fields.without(&changes.written).without(&changes.removed);
        }
    }

    /// Nobody owns the fields that identify an object, nor the status.
    fn without_identity(mut self) -> Self {
        let identity = json!({"f:apiVersion": {}, "f:kind": {}, "f:status": {}, "f:metadata": {
            ".": {}, "f:name": {}, "f:namespace": {}, "f:uid": {}, "f:resourceVersion": {}, "f:generation": {},
            "f:creationTimestamp": {}}});
        self.fields = self.fields.without(&FieldSet::read(&identity));
        self
    }
}

/// Converts a request's object to another version like the API server: without defaults.
fn in_version(release: &Release, object: &Value, version: &str) -> Value {
    if version_of(object) == version {
        return object.clone();
    }
    let mut read = hyperconverged::in_version(release, object, version);
    if let Some(schema) = release.hyperconverged_schema(version) {
        schema.prepare_converted(&mut read);
    }
    read
}
