//! The inputs of the renderers.

use super::error::Error;
use super::tls::TlsProfile;
use crate::hyperconverged::HyperConverged;
use crate::inventory::Inventory;
use crate::jsonpatch;
use crate::prelude::*;
use crate::release::{FilledObjects, Placeholders};
use crate::release::{Platform, Release};
use crate::topology::Topology;

/// The component that renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renderer {
    /// The operator, with its environment and the live nodes.
    Operator,
    /// The validating webhook's dry run: another pod, without the operator's environment and nodes.
    Webhook,
}

/// Everything that an operand depends on.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The release's data.
    pub release: &'a Release,
    /// The declared cluster.
    pub inventory: &'a Inventory,
    /// Facts derived from its nodes; empty for the webhook.
    pub topology: &'a Topology,
    /// The user's CR.
    pub hc: &'a HyperConverged,
    /// SSP's `commonTemplates.dataImportCronTemplates` from `boot_images`, or its error.
    pub golden_images: Result<&'a Arc<[Value]>, Error>,
    /// The component that renders.
    pub renderer: Renderer,
    /// HCO's version, known to operator and webhook.
    pub(super) version: Option<&'a str>,
    /// Whether an error ends every reconcile before the operands that report their readiness.
    pub(super) never_ready: bool,
    /// The TLS profile of every operand.
    pub(super) tls: TlsProfile,
    constants: FilledObjects,
}

impl<'a> Context<'a> {
    /// The context of a plan.
    pub fn new(
        release: &'a Release,
        inventory: &'a Inventory,
        topology: &'a Topology,
        hc: &'a HyperConverged,
        golden_images: Result<&'a Arc<[Value]>, Error>,
        renderer: Renderer,
    ) -> Self {
        let platform = inventory.platform.as_str();
        Self {
            version: release.env(inventory.platform, "HCO_KV_IO_VERSION"),
            tls: TlsProfile::effective(release, inventory, hc),
            constants: release.constants().filled(&placeholders(release, inventory), platform),
            release,
            inventory,
            topology,
            hc,
            golden_images,
            renderer,
            never_ready: false,
        }
    }

    /// The same, where an error ends every reconcile before the operands that report their readiness.
    pub(super) fn never_ready(&self) -> Self {
        Self { never_ready: true, ..self.clone() }
    }

    /// Whether the platform is OpenShift.
    pub(super) fn is_openshift(&self) -> bool {
        self.inventory.platform == Platform::OpenShift
    }

    /// An environment variable of the rendering component.
    pub(super) fn env(&self, name: &str) -> Option<&'a str> {
        match self.renderer {
            Renderer::Operator => self.release.env(self.inventory.platform, name),
            Renderer::Webhook => None,
        }
    }

    /// Whether an operand's renderer may stop once it can't fail any more: the webhook only needs errors, and without a
    /// patch the rest has none.
    pub(super) fn only_needs_errors(&self, kind: &str) -> bool {
        let patch = jsonpatch::annotation_of(kind);
        let patched = patch.is_some_and(|a| self.hc.annotations.contains_key(a));
        self.renderer == Renderer::Webhook && !patched
    }

    /// Whether HCO deploys its own workloads with two replicas.
    pub(super) fn highly_available(&self) -> bool {
        self.topology.infrastructure_highly_available()
    }

    /// One of the release's constant objects, by `Kind/name`.
    pub(super) fn constant(&self, name: &str) -> Object {
        self.required(name).clone()
    }

    /// Several of the release's constant objects, skipping those that the release lacks.
    pub(super) fn constants(&self, names: &[&str]) -> Vec<Object> {
        let known = names.iter().filter_map(|name| self.filled(name));
        known.cloned().collect()
    }

    /// A modifiable copy of one of the release's constant objects.
    pub(super) fn template(&self, name: &str) -> Value {
        self.required(name).body.as_ref().clone()
    }

    /// One of the release's constant objects, changed.
    pub(super) fn changed(&self, name: &str, change: impl FnOnce(&mut Value)) -> Object {
        let mut body = self.template(name);
        change(&mut body);
        Object::new(body)
    }

    fn required(&self, name: &str) -> &Object {
        let object = self.filled(name);
        object.unwrap_or_else(|| panic!("{}: objects.json lacks {name}", self.release.name()))
    }

    fn filled(&self, name: &str) -> Option<&Object> {
        self.release.constants().object(&self.constants, &placeholders(self.release, self.inventory), name)
    }
}

fn placeholders<'a>(release: &'a Release, inventory: &'a Inventory) -> Placeholders<'a> {
    Placeholders {
        namespace: &inventory.namespace,
        base_domain: &inventory.base_domain,
        env: &release.tables().env[inventory.platform.as_str()],
    }
}
