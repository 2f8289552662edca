//! What a renderer may look at, and how what it made becomes an object.

use std::sync::Arc;

use std::cell::{OnceCell, RefCell};

use serde_json::{Map, Value, json};

use super::tls::TlsProfile;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::jsonpatch::{self, Failure, Patched};
use crate::kube::{Object, tree};
use crate::release::{Filled, Placeholders, Platform, Release};
use crate::topology::Topology;

/// Who renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The operator: its environment and the live nodes.
    Operator,
    /// The validating webhook's dry run: another pod, without the operator's environment and
    /// without looking at nodes.
    Webhook,
}

/// Everything that decides what an operand looks like.
pub struct Context<'a> {
    /// The release's data.
    pub release: &'a Release,
    /// The declared cluster.
    pub inventory: &'a Inventory,
    /// What follows from its nodes; empty for the webhook.
    pub topology: &'a Topology,
    /// The user's CR.
    pub hc: &'a HyperConverged,
    /// SSP's `commonTemplates.dataImportCronTemplates`, made by `boot_images`, or why not.
    pub golden_images: &'a Result<Vec<Value>, String>,
    /// Who renders.
    pub stage: Stage,
    tls: OnceCell<TlsProfile>,
    constants: OnceCell<Arc<Filled>>,
    patched: RefCell<Vec<Patched>>,
}

/// Why an operand could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The operand's kind, `KubeVirt`.
    pub operand: &'static str,
    /// The error as the operator logs it.
    pub message: String,
    /// Where a jsonpatch annotation is at fault: the annotation, and what fails inside it.
    pub patch: Option<Box<(&'static str, Failure)>>,
}

impl Error {
    /// An error of an operand.
    pub fn new(operand: &'static str, message: impl Into<String>) -> Self {
        Self {
            operand,
            message: message.into(),
            patch: None,
        }
    }
}

/// An operand CR on its way to an object.
pub(super) struct Cr {
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
    pub(super) spec: Value,
}

impl<'a> Context<'a> {
    /// The context of a plan.
    pub fn new(
        release: &'a Release,
        inventory: &'a Inventory,
        topology: &'a Topology,
        hc: &'a HyperConverged,
        golden_images: &'a Result<Vec<Value>, String>,
        stage: Stage,
    ) -> Self {
        Self {
            release,
            inventory,
            topology,
            hc,
            golden_images,
            stage,
            patched: RefCell::new(Vec::new()),
            tls: OnceCell::new(),
            constants: OnceCell::new(),
        }
    }

    /// The operands that an annotation patched since the last call.
    pub(super) fn take_patched(&self) -> Vec<Patched> {
        self.patched.take()
    }

    /// Whether the platform is OpenShift.
    pub(super) fn is_openshift(&self) -> bool {
        self.inventory.platform == Platform::OpenShift
    }

    /// A variable of the environment that the renderer runs in.
    pub(super) fn env(&self, name: &str) -> Option<&str> {
        match self.stage {
            Stage::Operator => self.release.env(self.inventory.platform, name),
            Stage::Webhook if name == "HCO_KV_IO_VERSION" => {
                self.release.env(self.inventory.platform, name)
            }
            Stage::Webhook => None,
        }
    }

    /// The TLS profile that every operand gets.
    pub(super) fn tls(&self) -> &TlsProfile {
        let make = || TlsProfile::effective(self.release, self.inventory, self.hc);
        self.tls.get_or_init(make)
    }

    /// Whether an operand's renderer may stop once nothing more can fail: the webhook's dry run
    /// is only after errors, and without a patch there is none in what is left to do.
    pub(super) fn only_errors_count(&self, kind: &str) -> bool {
        let patch = jsonpatch::annotation_of(kind);
        let patched = patch.is_some_and(|a| self.hc.annotations.contains_key(a));
        self.stage == Stage::Webhook && !patched
    }

    /// Whether HCO runs what it deploys itself with two replicas.
    pub(super) fn highly_available(&self) -> bool {
        self.topology.infrastructure_highly_available()
    }

    /// The infra node placement, even an empty one.
    pub(super) fn infra_placement(&self) -> Option<&Value> {
        self.hc.get("deployment.nodePlacements.infra")
    }

    /// The workload node placement, even an empty one.
    pub(super) fn workload_placement(&self) -> Option<&Value> {
        self.hc.get("deployment.nodePlacements.workload")
    }

    /// One of the release's constant objects, by `Kind/name`.
    pub(super) fn constant(&self, name: &str) -> Object {
        Object::from_shared(Arc::clone(self.constant_body(name)))
    }

    /// Several of the release's constant objects, of which some may not exist in the release.
    pub(super) fn constants(&self, names: &[&str]) -> Vec<Object> {
        let constants = self.release.constants();
        let known = names.iter().filter(|n| constants.has(n));
        known.map(|n| self.constant(n)).collect()
    }

    /// A copy of one of the release's constant objects, to be changed.
    pub(super) fn template(&self, name: &str) -> Value {
        self.constant_body(name).as_ref().clone()
    }

    fn constant_body(&self, name: &str) -> &Arc<Value> {
        let platform = self.inventory.platform.as_str();
        let with = Placeholders {
            namespace: &self.inventory.namespace,
            base_domain: &self.inventory.base_domain,
            env: &self.release.tables().env[platform],
        };
        let constants = self.release.constants();
        let make = || constants.filled(&with, platform);
        let filled = self.constants.get_or_init(make);
        let body = constants.object(filled, &with, name);
        body.unwrap_or_else(|| panic!("{}: objects.json lacks {name}", self.release.name()))
    }

    /// Makes the object of an operand CR: labels, owner, Go's encoding, then the jsonpatch
    /// annotation of its kind.
    pub(super) fn finish(&self, cr: Cr) -> Result<Object, Error> {
        let mut metadata = Map::new();
        metadata.insert("name".into(), json!(cr.name));
        metadata.insert("labels".into(), self.labels(cr.component));
        if cr.namespaced {
            metadata.insert("namespace".into(), json!(self.inventory.namespace));
        }
        if cr.owned {
            metadata.insert("ownerReferences".into(), json!([self.owner_reference()]));
        }
        if !cr.annotations.is_empty() {
            let annotations = cr.annotations.iter().map(|a| ((*a).to_owned(), json!("")));
            metadata.insert("annotations".into(), Value::Object(annotations.collect()));
        }
        let annotation = jsonpatch::annotation_of(cr.kind);
        let patch = annotation.and_then(|a| Some((a, self.hc.annotations.get(a)?)));
        let mut body = tree::object([
            ("apiVersion", cr.api_version.into()),
            ("kind", cr.kind.into()),
            ("metadata", Value::Object(metadata)),
            ("spec", cr.spec),
        ]);
        let types = self.release.go_types();
        let Some(ty) = types.of_kind(cr.api_version, cr.kind) else {
            panic!("{}: go-types.json lacks {}", self.release.name(), cr.kind);
        };
        types.normalise_operand(&mut body, ty);
        if let Some((name, text)) = patch {
            let patched = jsonpatch::patch(types, ty, &body, name, text);
            let mut after = patched.map_err(|failure| Error {
                operand: cr.kind,
                message: failure.message.clone(),
                patch: Some(Box::new((name, failure))),
            })?;
            types.normalise_operand(&mut after, ty);
            let before = std::mem::replace(&mut body, after.clone());
            let kind = cr.kind;
            self.patched.borrow_mut().push(Patched {
                kind,
                before,
                after,
            });
        }
        Ok(Object::new(body))
    }

    fn labels(&self, component: &str) -> Value {
        json!({
            "app": "kubevirt-hyperconverged",
            "app.kubernetes.io/component": component,
            "app.kubernetes.io/managed-by": "hco-operator",
            "app.kubernetes.io/part-of": "hyperconverged-cluster",
            "app.kubernetes.io/version": self.env("HCO_KV_IO_VERSION").unwrap_or_default(),
        })
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
