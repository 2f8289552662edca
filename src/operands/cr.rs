//! How an operand CR becomes an object.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::spec::Spec;
use super::{Context, Error};
use crate::jsonpatch::{self, Patched};
use crate::kube::go::without_facts_of_a_cluster;
use crate::kube::{Object, tree};
use crate::release::Memo;

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

/// Objects of a release's CRs: in a fleet few differ.
type Finished = Memo<Request, Made, 48>;

/// Everything that decides what becomes of a CR; the rest of it is the same for all of its kind.
struct Request {
    namespace: String,
    version: String,
    /// The text of its jsonpatch annotation.
    patch: Option<String>,
    kind: &'static str,
    annotations: &'static [&'static str],
    spec: Spec<'static>,
}

/// What became of it.
#[derive(Clone)]
struct Made {
    object: Object,
    patched: Option<Patched>,
}

impl Context<'_> {
    /// Makes the object of an operand CR: labels, owner, Go's encoding, then the jsonpatch
    /// annotation of its kind.
    pub(super) fn finish(&self, cr: Cr<'_>) -> Result<Object, Error> {
        let namespace = &self.inventory.namespace;
        let version = self.env("HCO_KV_IO_VERSION").unwrap_or_default();
        let annotation = jsonpatch::annotation_of(cr.kind);
        let patch = annotation.and_then(|a| Some((a, self.hc.annotations.get(a)?)));
        let text = patch.map(|(_, text)| text);
        let is = |r: &Request| {
            r.kind == cr.kind
                && r.annotations == cr.annotations
                && r.namespace == *namespace
                && r.version == version
                && r.patch.as_ref() == text
                && r.spec == cr.spec
        };
        let finished: &Finished = self.release.kept();
        // Hardly two clusters have the same KubeVirt: to keep them costs more than it gives.
        let keeps = cr.kind != "KubeVirt";
        let made = match keeps.then(|| finished.find(is)).flatten() {
            Some(made) => made,
            None if !keeps => self.make(cr, version, patch)?,
            None => {
                let request = Request {
                    namespace: namespace.clone(),
                    version: version.to_owned(),
                    patch: text.cloned(),
                    kind: cr.kind,
                    annotations: cr.annotations,
                    spec: cr.spec.to_owned(),
                };
                let made = self.make(cr, version, patch)?;
                finished.keep(request, made.clone());
                made
            }
        };
        self.patched.borrow_mut().extend(made.patched);
        Ok(made.object)
    }

    fn make(
        &self,
        cr: Cr<'_>,
        version: &str,
        patch: Option<(&'static str, &String)>,
    ) -> Result<Made, Error> {
        let kind = cr.kind;
        let types = self.release.go_types();
        let Some(ty) = types.of_kind(cr.api_version, kind) else {
            panic!("{}: go-types.json lacks {kind}", self.release.name());
        };
        let metadata = Value::Object(self.metadata(&cr, version));
        let mut body = tree::object([
            ("apiVersion", cr.api_version.into()),
            ("kind", kind.into()),
            ("metadata", metadata),
            ("spec", cr.spec.into_value()),
        ]);
        types.normalise_operand(&mut body, ty);
        let Some((name, text)) = patch else {
            return Ok(Made {
                object: Object::new(body),
                patched: None,
            });
        };
        let patched = jsonpatch::patch(types, ty, &body, name, text);
        let mut after = patched.map_err(|failure| Error {
            operand: kind,
            message: failure.message.clone(),
            patch: Some(Box::new((name, failure))),
        })?;
        without_facts_of_a_cluster(&mut after);
        let object = Object::new(after);
        let patched = Patched {
            kind,
            before: Arc::new(body),
            after: Arc::clone(&object.body),
        };
        Ok(Made {
            object,
            patched: Some(patched),
        })
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
