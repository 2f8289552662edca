//! The CRs of the operands, and how they become objects.

use super::{Context, Error, Renderer};
use crate::jsonpatch::{self, Failure, Patch, Patched};
use crate::prelude::*;
use crate::release::{Link, Transform};
use hcoplan_kubernetes::go::without_facts_of_a_cluster;
use hcoplan_kubernetes::tree;

/// The CR of an operand: what doesn't depend on the cluster.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cr {
    /// The operand's name, as in `behaviour.json`.
    pub operand: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Its API version, as HCO writes it.
    pub api_version: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The label `app.kubernetes.io/component`.
    component: &'static str,
    /// Whether it is in the operator's namespace.
    #[serde(default)]
    namespaced: bool,
    /// The field of the HyperConverged that has to be true.
    requires: Option<&'static str>,
    /// Whether the HyperConverged is its controller.
    #[serde(default)]
    owned: bool,
    /// What its `spec` has in every cluster, unless a field of the HyperConverged is copied there.
    #[serde(default)]
    spec: Value,
}

/// An operand's CR; `None` where the HyperConverged doesn't have it, or the webhook knows that nothing can fail.
pub(super) type Rendering = Result<Option<CustomResource>, Error>;

/// The operands that are data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub struct Rows {
    /// Every CR.
    pub crs: Vec<Cr>,
    /// The release's constant objects, of those that it has, of operands without a CR.
    pub constants: BTreeMap<&'static str, Vec<&'static str>>,
}

/// Source: HCO `controllers/handlers`, a file for each.
pub static ROWS: Table<Rows> = Table::of(hcoplan_schemas::OPERANDS);

fn cr(kind: &str) -> &'static Cr {
    ROWS.crs.iter().find(|cr| cr.kind == kind).expect("every CR has a row")
}

impl Cr {
    /// The API server's name for the object: `cdis.cdi.kubevirt.io "cdi-kubevirt-hyperconverged"`.
    pub(crate) fn resource(&self) -> String {
        let group = first_part(self.api_version, '/');
        format!("{}s.{group} {:?}", self.kind.to_lowercase(), self.name)
    }
}

/// An operand's CR in a cluster.
#[derive(Debug)]
pub(super) struct CustomResource {
    /// The object, patched.
    pub object: Object,
    /// What its jsonpatch annotation did. The webhook doesn't put the part back: it only needs errors and changes to the
    /// HyperConverged.
    pub patched: Option<Patched>,
}

impl Context<'_> {
    /// The part of an operand CR's `spec` that every cluster has.
    pub(super) fn base(&self, kind: &str) -> Value {
        cr(kind).spec.clone()
    }

    /// The CR of an operand without code: its row is the whole of it, but for what is copied.
    pub(super) fn by_row(&self, operand: &str) -> Rendering {
        let cr = ROWS.crs.iter().find(|cr| cr.operand == operand).expect("a known operand");
        if cr.requires.is_some_and(|field| self.hc.flag(field) != Some(true)) {
            return Ok(None);
        }
        self.finish(cr.kind, &[], cr.spec.clone())
    }

    /// Creates the object of an operand CR from its own part of the spec: copied values, labels, owner, Go's encoding, then
    /// the jsonpatch annotation of its kind.
    ///
    /// # Errors
    /// The patch can't be applied.
    pub(super) fn finish(&self, kind: &str, annotations: &[&str], mut spec: Value) -> Rendering {
        let cr = cr(kind);
        let kind = cr.kind;
        let links = self.release.atlas().links.iter();
        for Link { target, operand, hyperconverged, .. } in links.filter(|l| l.target.copied && l.target.kind == kind) {
            match (target.how, self.hc.get(hyperconverged)) {
                (Transform::Derive, _) => tree::set(&mut spec, operand, self.tls.value.clone()),
                (Transform::EmptyObject, Some(Value::Bool(true))) => tree::set(&mut spec, operand, json!({})),
                (Transform::Copy, value) => tree::copy(&mut spec, operand, value),
                _ => {}
            }
        }
        let types = self.release.go_types();
        let Some(ty) = types.of_kind(cr.api_version, kind) else {
            panic!("{}: go-types.json lacks {kind}", self.release.name());
        };
        let annotation = jsonpatch::annotation_of(kind);
        let patch = annotation.and_then(|a| Some((a, self.hc.annotations.get(a)?)));
        let metadata = Value::Object(self.metadata(cr, annotations));
        let mut body = tree::object([
            ("apiVersion", cr.api_version.into()),
            ("kind", kind.into()),
            ("metadata", metadata),
            ("spec", spec),
        ]);
        types.normalise_operand(&mut body, ty);
        let unpatched = Object::new(body);
        let Some((name, text)) = patch else {
            return Ok(Some(CustomResource { object: unpatched, patched: None }));
        };
        let failed = |failure: Failure| {
            let error = Error::new(kind, failure.message.clone());
            Error { patch: Some(Box::new((name, failure))), ..error }
        };
        let patch = Patch::read(name, text).map_err(failed)?;
        let part = patch.part(types, ty, &unpatched.body);
        let part = patch.apply(types, ty, part).map_err(failed)?;
        let before = unpatched.body;
        let after = match self.renderer {
            Renderer::Webhook => Arc::clone(&before),
            Renderer::Operator => {
                let mut body = patch.put_back(types, ty, &before, part.after.clone());
                without_facts_of_a_cluster(&mut body);
                body.into()
            }
        };
        let object = Object { id: unpatched.id, body: Arc::clone(&after) };
        Ok(Some(CustomResource { object, patched: Some(Patched { kind, part, before, after }) }))
    }

    fn metadata(&self, cr: &Cr, annotations: &[&str]) -> Map<String, Value> {
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
        if !annotations.is_empty() {
            let annotations = annotations.iter().map(|a| ((*a).to_owned(), json!("")));
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
