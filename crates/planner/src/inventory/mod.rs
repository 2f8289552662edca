//! The declared cluster: its nodes and the facts that are not in the HyperConverged.
//!
//! [`load`] reads it from documents: a ClusterInventory, a dump of nodes, MachineSets. Everything
//! read keeps its place, so that a rule can point at it.

mod architecture;
mod assumed;
mod declared;
mod drift;
mod dump;
mod load;
mod machines;
mod merge;
mod places;
mod pools;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod update_method;

use std::collections::BTreeMap;

use serde_json::Value;

pub use architecture::Architecture;
pub use assumed::{ASSUMED_NODES, assumed_nodes, contrasting_nodes};
pub use drift::{CountDrift, Drift, UnknownPool, drift};
pub use load::{LoadedInventory, Source, SourceKind, load};
pub use merge::{Difference, differences};
pub use places::{NodePlace, Places};
pub use pools::{Pool, pools, pools_yaml};
pub use rules::{INVENTORY_INCONSISTENT, INVENTORY_INVALID};
pub use schema::INVENTORY_SCHEMA;
pub use update_method::UpdateMethod;

use crate::release::Platform;

/// What HCO would find in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    /// `metadata.name` of the ClusterInventory.
    pub name: Option<String>,
    /// HCO release line that the cluster runs, as written ("1.17").
    pub release: Option<String>,
    /// What the operator runs on.
    pub platform: Platform,
    /// The operator's namespace.
    pub namespace: String,
    /// The cluster's base domain (`example.com`; ingress is `apps.<base domain>`).
    pub base_domain: String,
    /// `spec.tlsSecurityProfile` of the cluster's APIServer, in OpenShift's shape.
    pub tls_security_profile: Option<Value>,
    /// IP families of the cluster network, `IPv4` first on dual stack.
    pub ip_families: Vec<String>,
    /// Whether the control plane runs elsewhere (HyperShift).
    pub hosted_control_plane: bool,
    /// Whether the monitoring CRDs are there; `None` = as the platform usually has it.
    pub monitoring: Option<bool>,
    /// Whether the NetworkAttachmentDefinition CRD is there; `None` = as the platform has it.
    pub network_attachment_definitions: Option<bool>,
    /// `spec` of the KubeDescheduler, where there is one.
    pub kube_descheduler: Option<Value>,
    /// The schedule that the operator drew once for the common golden images
    /// (`status.dataImportSchedule`).
    pub data_import_schedule: Option<String>,
    /// How the HyperConverged is submitted where there is one already.
    pub update: UpdateMethod,
    /// The nodes, sorted by name.
    pub nodes: Vec<Node>,
}

impl Default for Inventory {
    fn default() -> Self {
        Self {
            name: None,
            release: None,
            platform: Platform::OpenShift,
            namespace: "kubevirt-hyperconverged".to_owned(),
            base_domain: "example.com".to_owned(),
            tls_security_profile: None,
            ip_families: vec!["IPv4".to_owned()],
            hosted_control_plane: false,
            monitoring: None,
            network_attachment_definitions: None,
            kube_descheduler: None,
            data_import_schedule: None,
            update: UpdateMethod::default(),
            nodes: Vec::new(),
        }
    }
}

impl Inventory {
    /// Whether HCO finds the monitoring CRDs.
    pub fn has_monitoring(&self) -> bool {
        self.monitoring.unwrap_or(self.platform == Platform::OpenShift)
    }
}

/// What a role's label begins with; the role follows.
pub const ROLE_LABEL: &str = "node-role.kubernetes.io/";

/// The label that repeats a node's architecture; placement matches it.
pub const ARCHITECTURE_LABEL: &str = "kubernetes.io/arch";
/// How the labels begin that KubeVirt puts on nodes for their CPU models.
pub(crate) const CPU_MODEL: &str = "cpu-model.node.kubevirt.io/";
/// And for their CPU features.
pub(crate) const CPU_FEATURE: &str = "cpu-feature.node.kubevirt.io/";
/// And for their CPUs' vendor.
pub(crate) const CPU_VENDOR: &str = "cpu-vendor.node.kubevirt.io/";
/// What else KubeVirt says of nodes: labels `kubevirt.io/<capability>` with `true`.
pub(crate) const CAPABILITIES: [&str; 7] = ["cpumanager", "realtime", "s390-pv", "sev", "sev-es", "sev-snp", "tdx"];

/// The labels of a capability: before v1.8 that of the CPU manager had no prefix.
pub(crate) fn capability_labels(capability: &str) -> impl Iterator<Item = String> {
    let old = (capability == "cpumanager").then(|| capability.to_owned());
    [format!("kubevirt.io/{capability}")].into_iter().chain(old)
}

/// A node, as far as HCO and the scheduler examine it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// `metadata.name`
    pub name: String,
    /// `metadata.labels`
    pub labels: BTreeMap<String, String>,
    /// `status.nodeInfo.architecture`; empty when the node does not say.
    pub architecture: String,
    /// `spec.taints`
    pub taints: Vec<Taint>,
    /// Whether it has `devices.kubevirt.io/kvm` to give; `None` where it is unknown.
    pub kvm: Option<bool>,
    /// The sizes of its huge pages; `None` where it is unknown.
    pub hugepages: Option<Vec<String>>,
    /// The names of its devices' resources; `None` where it is unknown.
    pub resources: Option<Vec<String>>,
    /// The names of the devices' resources that a dump shows. Others may come: which ones a plugin gives depends on
    /// what the HyperConverged permits.
    pub devices: Vec<String>,
}

impl Node {
    /// Whether a role label is there (`node-role.kubernetes.io/<role>`).
    pub fn has_role(&self, role: &str) -> bool {
        self.roles().any(|r| r == role)
    }

    /// Its roles, sorted.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        let keys = self.labels.keys();
        keys.filter_map(|k| k.strip_prefix(ROLE_LABEL))
    }

    /// The CPU models or features that it offers to guests, sorted; `None` where it is unknown.
    pub(crate) fn offered(&self, family: &str) -> Option<Vec<String>> {
        let labels = self.labels.iter().filter(|(_, value)| *value == "true");
        let names = labels.filter_map(|(key, _)| key.strip_prefix(family)).map(str::to_owned);
        Some(names.collect::<Vec<_>>()).filter(|names| !names.is_empty())
    }

    /// Which of [`CAPABILITIES`] it has; `None` where KubeVirt hasn't labelled it.
    pub(crate) fn capabilities(&self) -> Option<Vec<String>> {
        let said = |capability: &str| capability_labels(capability).find_map(|label| self.labels.get(&label));
        let is_labelled = self.offered(CPU_MODEL).is_some() || CAPABILITIES.iter().any(|c| said(c).is_some());
        let has = CAPABILITIES.iter().filter(|c| said(c).is_some_and(|value| value == "true"));
        is_labelled.then(|| has.map(|c| (*c).to_owned()).collect())
    }

    /// Whether HCO counts it to the control plane.
    pub fn is_control_plane(&self) -> bool {
        self.has_role("control-plane") || self.has_role("master")
    }
}

/// `spec.taints[]` of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value, often empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}
