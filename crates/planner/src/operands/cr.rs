//! Turns an operand CR into an object.

use super::{Context, Error, Stage};
use crate::jsonpatch::{self, Failure, Patch, Patched, PatchedOperandPart};
use crate::prelude::*;
use hcoplan_kubernetes::go::{GoType, GoTypes, without_facts_of_a_cluster};
use hcoplan_kubernetes::tree;
use serde_json::Map;

/// An operand CR before metadata, encoding and patch.
#[derive(Debug)]
pub(super) struct Cr {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    /// Whether it is in the operator's namespace.
    pub(super) namespaced: bool,
    /// The label `app.kubernetes.io/component`.
    pub(super) component: &'static str,
    /// Whether the HyperConverged is its controller.
    pub(super) owned: bool,
    pub(super) annotations: &'static [&'static str],
    pub(super) spec: Value,
}

impl Context<'_> {
    /// Creates the object of an operand CR: labels, owner, Go's encoding, then the jsonpatch annotation of its kind.
    ///
    /// # Errors
    /// The patch can't be applied.
    pub(super) fn finish(&self, cr: Cr) -> Result<Object, Error> {
        let kind = cr.kind;
        let types = self.release.go_types();
        let Some(ty) = types.of_kind(cr.api_version, kind) else {
            panic!("{}: go-types.json lacks {kind}", self.release.name());
        };
        let annotation = jsonpatch::annotation_of(kind);
        let patch = annotation.and_then(|a| Some((a, self.hc.annotations.get(a)?)));
        let unpatched = self.unpatched(cr, types, ty);
        let Some((name, text)) = patch else {
            return Ok(unpatched);
        };
        let failed = |failure: Failure| {
            let error = Error::new(kind, failure.message.clone());
            Error { patch: Some(Box::new((name, failure))), ..error }
        };
        let patch = Patch::read(name, text).map_err(failed)?;
        let part = patch.part(types, ty, &unpatched.body);
        let part = patch.apply(types, ty, part).map_err(failed)?;
        let after = part.after.clone();
        self.reached.borrow_mut().push(PatchedOperandPart { kind, part });
        if self.stage == Stage::Webhook {
            // The webhook only needs errors and changes to the HyperConverged.
            return Ok(unpatched);
        }
        let mut body = patch.put_back(types, ty, &unpatched.body, after);
        without_facts_of_a_cluster(&mut body);
        let patched = Object { id: unpatched.id, body: body.into() };
        self.patched.borrow_mut().push(Patched { kind, before: unpatched.body, after: patched.body.clone() });
        Ok(patched)
    }

    /// The object before it is patched.
    fn unpatched(&self, cr: Cr, types: &GoTypes, ty: &GoType) -> Object {
        let metadata = Value::Object(self.metadata(&cr));
        let mut body = tree::object([
            ("apiVersion", cr.api_version.into()),
            ("kind", cr.kind.into()),
            ("metadata", metadata),
            ("spec", cr.spec),
        ]);
        types.normalise_operand(&mut body, ty);
        Object::new(body)
    }

    fn metadata(&self, cr: &Cr) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert("name".into(), cr.name.into());
        let labels = json!({
            "app": "kubevirt-hyperconverged",
            "app.kubernetes.io/component": cr.component,
            "app.kubernetes.io/managed-by": "hco-operator",
            "app.kubernetes.io/part-of": "hyperconverged-cluster",
            "app.kubernetes.io/version": self.version.unwrap_or_default(),
        });
        metadata.insert("labels".into(), labels);
        if cr.namespaced {
            let namespace = self.inventory.namespace.as_str();
            metadata.insert("namespace".into(), namespace.into());
        }
        if cr.owned {
            metadata.insert("ownerReferences".into(), json!([self.owner_reference()]));
        }
        if !cr.annotations.is_empty() {
            let annotations = cr.annotations.iter().map(|a| ((*a).to_owned(), json!("")));
            metadata.insert("annotations".into(), Value::Object(annotations.collect()));
        }
        metadata
    }

    fn owner_reference(&self) -> Value {
        let version = self.release.storage_version();
        json!({
            "apiVersion": format!("hco.kubevirt.io/{version}"),
            "kind": "HyperConverged",
            "name": "kubevirt-hyperconverged",
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }
}
