//! How an operand CR becomes an object.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::spec::Spec;
use super::{Context, Error, Stage};
use crate::jsonpatch::{self, Failure, Patch, Patched, PatchedPart, Reached};
use crate::kube::go::{GoType, GoTypes, without_facts_of_a_cluster};
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

/// What became of a release's CRs, for other clusters.
#[derive(Default)]
struct Made {
    /// Objects before a patch. In a fleet few differ.
    drafts: Drafts,
    /// KubeVirts before a patch. Hardly two are the same, but most are like another one.
    kubevirts: Drafts,
    /// Patches that were read, by their kind and text.
    patches: Memo<(&'static str, String), Arc<Patch>, 24>,
    /// What became of the part that a patch leads to.
    parts: Memo<(Arc<Patch>, Value), Arc<PatchedPart>, 48>,
    /// Patched drafts.
    patched: Memo<(Arc<Patch>, Object), Arc<Value>, 24>,
}

type Drafts = Memo<Unpatched, Object, 24>;

/// Everything that decides what becomes of a CR, but for its patch; the rest of it is the same for
/// all of its kind.
struct Unpatched {
    namespace: String,
    version: String,
    kind: &'static str,
    annotations: &'static [&'static str],
    spec: Spec<'static>,
}

/// In how many parts of the spec a KubeVirt is like another one.
const FEW: usize = 4;

impl Made {
    /// The drafts of a kind, and in how many parts of the spec another one may differ.
    fn drafts(&self, kind: &str) -> (&Drafts, usize) {
        match kind {
            "KubeVirt" => (&self.kubevirts, FEW),
            _ => (&self.drafts, 0),
        }
    }

    fn patch(
        &self,
        kind: &'static str,
        annotation: &str,
        text: &str,
    ) -> Result<Arc<Patch>, Failure> {
        let known = self.patches.find(|(of, its)| *of == kind && its == text);
        known.map_or_else(
            || {
                let patch = Arc::new(Patch::read(annotation, text)?);
                let made_from = (kind, text.to_owned());
                self.patches.keep(made_from, Arc::clone(&patch));
                Ok(patch)
            },
            Ok,
        )
    }

    /// The part of an operand that a patch leads to, before and after.
    fn part(
        &self,
        patch: &Arc<Patch>,
        types: &GoTypes,
        ty: &GoType,
        operand: &Value,
    ) -> Result<Arc<PatchedPart>, Failure> {
        let part = patch.part(types, ty, operand);
        let is = |(of, its): &(Arc<Patch>, Value)| Arc::ptr_eq(of, patch) && *its == part;
        if let Some(known) = self.parts.find(is) {
            return Ok(known);
        }
        let made = Arc::new(patch.apply(types, ty, part.clone())?);
        self.parts
            .keep((Arc::clone(patch), part), Arc::clone(&made));
        Ok(made)
    }

    /// A draft after a patch.
    fn patched(
        &self,
        patch: &Arc<Patch>,
        draft: &Object,
        make: impl FnOnce() -> Value,
    ) -> Arc<Value> {
        // A KubeVirt is the cluster's own.
        if draft.id.kind == "KubeVirt" {
            return Arc::new(make());
        }
        let is = |(of, its): &(Arc<Patch>, Object)| {
            Arc::ptr_eq(of, patch) && Arc::ptr_eq(&its.body, &draft.body)
        };
        self.patched.find(is).unwrap_or_else(|| {
            let body = Arc::new(make());
            let made_from = (Arc::clone(patch), draft.clone());
            self.patched.keep(made_from, Arc::clone(&body));
            body
        })
    }
}

/// An object with other values in some parts of its spec; `None` where encoding these isn't enough.
fn copy(
    mut object: Object,
    spec: &Spec<'_>,
    unlike: &[usize],
    types: &GoTypes,
    ty: &GoType,
) -> Option<Object> {
    for part in unlike {
        let (path, value) = spec.alone(*part)?;
        let body = Arc::make_mut(&mut object.body);
        if !types.set_normalised(body, ty, &format!("spec.{path}"), value) {
            return None;
        }
    }
    Some(object)
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
        let like = self.like(&cr, made);
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

    /// An object that is like another CR's before its patch, and the parts of the spec that differ.
    fn like(&self, cr: &Cr<'_>, made: &Made) -> Option<(Object, Vec<usize>)> {
        let (drafts, most) = made.drafts(cr.kind);
        drafts.nearest(|draft| {
            let is = draft.kind == cr.kind
                && draft.annotations == cr.annotations
                && draft.namespace == self.inventory.namespace
                && draft.version == self.version.unwrap_or_default();
            let unlike = is.then(|| cr.spec.unlike(&draft.spec, most)).flatten()?;
            Some((unlike.len(), unlike))
        })
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
        if let Some((like, unlike)) = like
            && let Some(object) = copy(like, &cr.spec, &unlike, types, ty)
        {
            return object;
        }
        let version = self.version.unwrap_or_default();
        let made_from = Unpatched {
            namespace: self.inventory.namespace.clone(),
            version: version.to_owned(),
            kind: cr.kind,
            annotations: cr.annotations,
            spec: cr.spec.to_owned(),
        };
        let metadata = Value::Object(self.metadata(&cr, version));
        let mut body = tree::object([
            ("apiVersion", cr.api_version.into()),
            ("kind", cr.kind.into()),
            ("metadata", metadata),
            ("spec", cr.spec.into_value()),
        ]);
        types.normalise_operand(&mut body, ty);
        let object = Object::new(body);
        made.drafts(made_from.kind)
            .0
            .keep(made_from, object.clone());
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
