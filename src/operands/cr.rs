//! How an operand CR becomes an object.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::made::{Made, Unpatched, copy};
use super::spec::Spec;
use super::{Context, Error, Stage};
use crate::jsonpatch::{self, Failure, Patched, Reached};
use crate::kube::go::{GoType, GoTypes, without_facts_of_a_cluster};
use crate::kube::{Object, tree};

/// An operand CR on its way to an object.
#[derive(Debug)]
pub(super) struct Cr<'a> {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    /// Whether it lies in the operator's namespace.
    pub(super) namespaced: bool,
    /// `app.kubernetes.io/component`
    pub(super) component: &'static str,
    /// Whether the HyperConverged is its controller.
    pub(super) owned: bool,
    pub(super) annotations: &'static [&'static str],
    pub(super) spec: Spec<'a>,
}

impl Context<'_> {
    /// Makes the object of an operand CR: labels, owner, Go's encoding, then the jsonpatch
    /// annotation of its kind.
    pub(super) fn finish(&self, cr: Cr<'_>) -> Result<Object, Error> {
        let (kind, made) = (cr.kind, self.release.kept::<Made>());
        let types = self.release.go_types();
        let Some(ty) = types.of_kind(cr.api_version, kind) else {
            panic!("{}: go-types.json lacks {kind}", self.release.name());
        };
        let annotation = jsonpatch::annotation_of(kind);
        let patch = annotation.and_then(|a| Some((a, self.hc.annotations.get(a)?)));
        let version = self.version.unwrap_or_default();
        let like = made.like(&cr, &self.inventory.namespace, version);
        let Some((name, text)) = patch else {
            return Ok(self.draft(cr, like, made, types, ty));
        };
        let failed = |failure: Failure| Error {
            operand: kind,
            message: failure.message.clone(),
            patch: Some(Box::new((name, failure))),
        };
        let patch = made.patch(kind, name, text).map_err(failed)?;
        let touched = |place: &usize| {
            let path = cr.spec.path(*place).unwrap_or_default();
            patch.may_touch(&format!("spec.{path}"))
        };
        let draft = match like {
            // What the patch does to the one it does to the other.
            Some((like, unlike)) if self.stage == Stage::Webhook && !unlike.iter().any(touched) => {
                like
            }
            like => self.draft(cr, like, made, types, ty),
        };
        let part = made.part(&patch, types, ty, &draft.body).map_err(failed)?;
        self.reached.borrow_mut().push(Reached {
            kind,
            part: Arc::clone(&part),
        });
        if self.stage == Stage::Webhook {
            // It asks only whether that works, and what is written through.
            return Ok(draft);
        }
        let body = made.patched(&patch, &draft, || {
            let after = part.after.clone();
            let mut body = patch.put_back(types, ty, &draft.body, after);
            without_facts_of_a_cluster(&mut body);
            body
        });
        self.patched.borrow_mut().push(Patched {
            kind,
            before: draft.body,
            after: Arc::clone(&body),
        });
        Ok(Object { id: draft.id, body })
    }

    /// The object before it is patched.
    fn draft(
        &self,
        cr: Cr<'_>,
        like: Option<(Object, Vec<usize>)>,
        made: &Made,
        types: &GoTypes,
        ty: &GoType,
    ) -> Object {
        let copy = |(like, unlike): (Object, Vec<usize>)| copy(like, &cr.spec, &unlike, types, ty);
        if let Some(object) = like.and_then(copy) {
            return object;
        }
        let version = self.version.unwrap_or_default();
        let made_from = Unpatched::of(&cr, &self.inventory.namespace, version);
        let metadata = Value::Object(self.metadata(&cr, version));
        let mut body = tree::object([
            ("apiVersion", cr.api_version.into()),
            ("kind", cr.kind.into()),
            ("metadata", metadata),
            ("spec", cr.spec.into_value()),
        ]);
        types.normalise_operand(&mut body, ty);
        let object = Object::new(body);
        made.keep(made_from, object.clone());
        object
    }

    fn metadata(&self, cr: &Cr<'_>, version: &str) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert("name".into(), cr.name.into());
        let labels = json!({
            "app": "kubevirt-hyperconverged",
            "app.kubernetes.io/component": cr.component,
            "app.kubernetes.io/managed-by": "hco-operator",
            "app.kubernetes.io/part-of": "hyperconverged-cluster",
            "app.kubernetes.io/version": version,
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
        let version = &self.release.tables().hyperconverged.storage_version;
        json!({
            "apiVersion": format!("hco.kubevirt.io/{version}"),
            "kind": "HyperConverged",
            "name": "kubevirt-hyperconverged",
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }
}
