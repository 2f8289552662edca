//! The facts of an inventory, and how each is removed for a trial.

use hcoplan_planner::inventory::{ARCHITECTURE_LABEL, Inventory, ROLE_LABEL};
use hcoplan_planner::release::Platform;
use serde_json::Value;

/// The replacement for a removed `metadata.namespace`.
pub(super) const ELSEWHERE: &str = "elsewhere";

/// One declared fact of a pool or a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeField {
    /// Its architecture.
    Architecture,
    /// A role.
    Role(String),
    /// Any other label.
    Label(String),
    /// Its number of nodes.
    Count,
}

impl NodeField {
    /// Removes it from the nodes; returns the indexes of nodes to remove.
    pub(super) fn remove_from(&self, inventory: &mut Inventory, nodes: &[usize]) -> Vec<usize> {
        if *self == Self::Count {
            return nodes.iter().skip(1).copied().collect();
        }
        for index in nodes {
            let Some(node) = inventory.nodes.get_mut(*index) else {
                continue;
            };
            match self {
                Self::Architecture => {
                    node.architecture.clear();
                    node.labels.remove(ARCHITECTURE_LABEL);
                }
                Self::Role(role) => drop(node.labels.remove(&format!("{ROLE_LABEL}{role}"))),
                Self::Label(label) => drop(node.labels.remove(label)),
                Self::Count => {}
            }
        }
        Vec::new()
    }
}

/// A fact about the cluster that is not about its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// OpenShift or Kubernetes.
    Platform,
    /// The operator's namespace.
    Namespace,
    /// The cluster's base domain.
    BaseDomain,
    /// The APIServer's TLS profile.
    TlsSecurityProfile,
    /// IPv4, IPv6 or both.
    IpFamilies,
    /// HyperShift.
    HostedControlPlane,
    /// Whether the monitoring CRDs exist.
    Monitoring,
    /// Whether the NetworkAttachmentDefinition CRD exists.
    NetworkAttachmentDefinitions,
    /// The KubeDescheduler.
    KubeDescheduler,
    /// The schedule for polling common golden images.
    DataImportSchedule,
}

impl Fact {
    /// Every fact.
    pub const ALL: [Self; 10] = [
        Self::Platform,
        Self::Namespace,
        Self::BaseDomain,
        Self::TlsSecurityProfile,
        Self::IpFamilies,
        Self::HostedControlPlane,
        Self::Monitoring,
        Self::NetworkAttachmentDefinitions,
        Self::KubeDescheduler,
        Self::DataImportSchedule,
    ];

    /// Its field in a ClusterInventory's `spec`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Namespace => "namespace",
            Self::BaseDomain => "baseDomain",
            Self::TlsSecurityProfile => "tlsSecurityProfile",
            Self::IpFamilies => "ipFamilies",
            Self::HostedControlPlane => "hostedControlPlane",
            Self::Monitoring => "monitoring",
            Self::NetworkAttachmentDefinitions => "networkAttachmentDefinitions",
            Self::KubeDescheduler => "kubeDescheduler",
            Self::DataImportSchedule => "dataImportSchedule",
        }
    }

    /// Removes it, or replaces it by another value if it is required.
    pub(super) fn remove_from(self, inventory: &mut Inventory) {
        match self {
            Self::Platform => {
                inventory.platform = match inventory.platform {
                    Platform::OpenShift => Platform::Kubernetes,
                    Platform::Kubernetes => Platform::OpenShift,
                };
            }
            Self::Namespace => inventory.namespace = ELSEWHERE.to_owned(),
            Self::BaseDomain => inventory.base_domain = "elsewhere.example".to_owned(),
            Self::TlsSecurityProfile => inventory.tls_security_profile = None,
            Self::IpFamilies => {
                let usual = Inventory::default().ip_families;
                let other = vec!["IPv6".to_owned()];
                let is_usual = inventory.ip_families == usual;
                inventory.ip_families = if is_usual { other } else { usual };
            }
            Self::HostedControlPlane => inventory.hosted_control_plane = false,
            Self::Monitoring => inventory.monitoring = None,
            Self::NetworkAttachmentDefinitions => inventory.network_attachment_definitions = None,
            Self::KubeDescheduler => inventory.kube_descheduler = None,
            Self::DataImportSchedule => inventory.data_import_schedule = None,
        }
    }

    /// Its declared or assumed value.
    pub fn value(self, inventory: &Inventory) -> Value {
        match self {
            Self::Platform => inventory.platform.as_str().into(),
            Self::Namespace => inventory.namespace.as_str().into(),
            Self::BaseDomain => inventory.base_domain.as_str().into(),
            Self::TlsSecurityProfile => inventory.tls_security_profile.clone().into(),
            Self::IpFamilies => inventory.ip_families.clone().into(),
            Self::HostedControlPlane => inventory.hosted_control_plane.into(),
            Self::Monitoring => inventory.monitoring.into(),
            Self::NetworkAttachmentDefinitions => inventory.network_attachment_definitions.into(),
            Self::KubeDescheduler => inventory.kube_descheduler.clone().into(),
            Self::DataImportSchedule => inventory.data_import_schedule.clone().into(),
        }
    }
}
