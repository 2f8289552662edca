//! A cluster to change and plan again: what `why`, cause finding and trials ask.

use crate::inventory::{Inventory, Node};
use crate::plan::Plan;
use crate::plan::{AdmissionMode, plan_with};
use crate::prelude::*;
use crate::release::{Platform, Release};
use hcoplan_yaml::edit::Change;

/// The facts of an inventory other than its nodes, each with its field in a ClusterInventory's `spec`: the one list.
macro_rules! facts {
    ($($(#[$doc:meta])* $fact:ident $name:literal $field:ident $value:expr;)*) => {
        /// A fact about the cluster that is not about its nodes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fact { $($(#[$doc])* $fact,)* }

        impl Fact {
            /// Every fact.
            pub const ALL: &[Self] = &[$(Self::$fact,)*];

            /// Its field in a ClusterInventory's `spec`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$fact => $name,)* }
            }

            /// Its declared or assumed value.
            pub fn value(self, inventory: &Inventory) -> Value {
                match self { $(Self::$fact => { let of: fn(&Inventory) -> Value = $value; of(inventory) })* }
            }

            /// Takes it from another inventory.
            pub fn copy(self, from: &Inventory, to: &mut Inventory) {
                match self { $(Self::$fact => to.$field.clone_from(&from.$field),)* }
            }
        }
    };
}

facts! {
    /// OpenShift or Kubernetes.
    Platform "platform" platform |i| i.platform.as_str().into();
    /// The operator's namespace.
    Namespace "namespace" namespace |i| i.namespace.as_str().into();
    /// The cluster's base domain.
    BaseDomain "baseDomain" base_domain |i| i.base_domain.as_str().into();
    /// The APIServer's TLS profile.
    TlsSecurityProfile "tlsSecurityProfile" tls_security_profile |i| i.tls_security_profile.clone().into();
    /// IPv4, IPv6 or both.
    IpFamilies "ipFamilies" ip_families |i| i.ip_families.clone().into();
    /// HyperShift.
    HostedControlPlane "hostedControlPlane" hosted_control_plane |i| i.hosted_control_plane.into();
    /// Whether the monitoring CRDs exist.
    Monitoring "monitoring" monitoring |i| i.monitoring.into();
    /// Whether the NetworkAttachmentDefinition CRD exists.
    NetworkAttachmentDefinitions "networkAttachmentDefinitions" network_attachment_definitions
        |i| i.network_attachment_definitions.into();
    /// The KubeDescheduler.
    KubeDescheduler "kubeDescheduler" kube_descheduler |i| i.kube_descheduler.clone().into();
    /// The schedule for polling common golden images.
    DataImportSchedule "dataImportSchedule" data_import_schedule |i| i.data_import_schedule.clone().into();
    /// The claims that the repository creates, which no field declares.
    Claims "claims" claims |i| i.claims.iter().map(|(namespace, name)| format!("{namespace}/{name}")).collect();
}

/// The replacement for a removed `metadata.namespace`.
pub const ELSEWHERE: &str = "elsewhere";

impl Fact {
    /// Removes it, or replaces it by another value if it is required.
    pub fn remove_from(self, inventory: &mut Inventory) {
        let usual = Inventory::default();
        match self {
            Self::Platform => {
                inventory.platform = match inventory.platform {
                    Platform::OpenShift => Platform::Kubernetes,
                    Platform::Kubernetes => Platform::OpenShift,
                };
            }
            Self::Namespace => inventory.namespace = ELSEWHERE.to_owned(),
            Self::BaseDomain => inventory.base_domain = "elsewhere.example".to_owned(),
            Self::IpFamilies if inventory.ip_families == usual.ip_families => {
                inventory.ip_families = vec!["IPv6".to_owned()];
            }
            other => other.copy(&usual, inventory),
        }
    }
}

/// One change of a world.
#[derive(Debug, Clone)]
pub enum Delta {
    /// Of the HyperConverged, if it can be made.
    Change(Change),
    /// Other nodes.
    Nodes(Vec<Node>),
    /// Without a declared fact.
    NoFact(Fact),
}

/// What a plan follows from: a release, the facts of a cluster, and its HyperConverged.
#[derive(Debug, Clone)]
pub struct World<'w> {
    /// The release that the cluster runs.
    pub release: &'w Release,
    /// The facts about the cluster.
    pub inventory: Cow<'w, Inventory>,
    /// The HyperConverged as written.
    pub object: Cow<'w, Value>,
}

impl<'w> World<'w> {
    /// The world of a cluster.
    pub fn new(release: &'w Release, inventory: &'w Inventory, object: &'w Value) -> Self {
        Self { release, inventory: Cow::Borrowed(inventory), object: Cow::Borrowed(object) }
    }

    /// The world with changes, made one after the other.
    #[must_use]
    pub fn with(&self, deltas: impl IntoIterator<Item = Delta>) -> Self {
        let mut out = self.clone();
        for delta in deltas {
            match delta {
                Delta::Change(change) => {
                    let _ = change.apply(out.object.to_mut());
                }
                Delta::Nodes(nodes) => out.inventory.to_mut().nodes = nodes,

                Delta::NoFact(fact) => fact.remove_from(out.inventory.to_mut()),
            }
        }
        out
    }

    /// The plan, with a choice about admission.
    pub fn plan_with(&self, mode: AdmissionMode) -> Plan {
        plan_with(self.release, &self.inventory, &self.object, mode)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fact_can_be_copied_and_removed() {
        let usual = Inventory::default();
        for fact in Fact::ALL {
            let mut other = usual.clone();
            fact.remove_from(&mut other);
            let mut copy = other.clone();
            fact.copy(&usual, &mut copy);
            assert_eq!(fact.value(&copy), fact.value(&usual), "{}", fact.name());
            assert_eq!(copy, usual, "{}", fact.name());
        }
    }

    #[test]
    fn a_change_leaves_the_world_as_it_was() {
        let release = Release::known("1.18").expect("known");
        let inventory = Inventory::default();
        let object = json!({"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "spec": {"a": 1, "b": 2}});
        let world = World::new(&release, &inventory, &object);
        let [a, b] = ["spec.a", "spec.b"].map(Path::dotted);
        let changes = [Change::Remove(a), Change::Set(b, 3.into())].map(Delta::Change);
        let other = world.with(changes.into_iter().chain([Delta::NoFact(Fact::Namespace)]));
        assert_eq!(other.object["spec"], json!({"b": 3}));
        assert_eq!(other.inventory.namespace, ELSEWHERE);
        assert_eq!(
            (world.object["spec"]["a"].clone(), world.inventory.namespace.clone()),
            (1.into(), inventory.namespace.clone())
        );
    }
}
