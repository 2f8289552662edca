//! Admission of virtual machines and disks by KubeVirt and CDI, in the cluster that a HyperConverged creates.
//!
//! Stages run in the server's order, and the first rejection ends them: the CRD's structure, the defaulting webhook
//! (instance types, preferences, defaults), the validating webhook, and the checks of the VirtualMachineInstance when
//! the machine starts. Differences between KubeVirt versions are data: phases of feature gates, `admission` in
//! `schemas/behaviour/<x.y>/kubevirt.json`, and versions of fields.
//!
//! Source: KubeVirt `pkg/virt-api/webhooks`, `pkg/storage/admitters`, `pkg/network/admitter`, `pkg/instancetype`,
//! `pkg/defaults`, v1.6 to v1.9; CDI `pkg/apiserver/webhooks`, v1.63 to v1.66.

mod architecture;
pub mod cdi;
mod checker;
mod cpu;
mod defaults;
mod defects;
mod disks;
mod launcher;
mod limits;
mod machine;
mod migration;
mod network;
mod placement;
mod structure;
mod tables;
mod types;

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;

pub use checker::{each, is_placeholder, structure};
pub use defaults::effective;
pub use defects::{Defect, MachineView, defects, deployed_kubevirt, has_defect};
pub use launcher::{Launcher, Namespace, NodeRequirement, is_own_label, may_be_required};
pub use limits::{Refusal, RefusalKind, amount_text, limit_range_refusal, quota_refusal};
pub use migration::obstacles;
pub use placement::{placement_problems, row_problems};
pub use structure::{TypeKind, common_type, common_types, schema_in};
pub use tables::is_base64;
pub use types::admit_other;

use crate::cause::Cause;
use crate::prelude::*;
use crate::release::{Phase, Release};

/// The cluster that admits objects: the KubeVirt object that HCO renders, in a release.
#[derive(Debug, Clone, Copy)]
pub struct Cluster<'c> {
    /// The release.
    pub release: &'c Release,
    /// The rendered KubeVirt object.
    pub kubevirt: &'c Value,
}

impl<'c> Cluster<'c> {
    /// `spec.configuration` of KubeVirt.
    pub fn configuration(&self) -> &'c Value {
        &self.kubevirt["spec"]["configuration"]
    }

    /// Whether a feature gate of KubeVirt is on. Unknown gates count as on: nothing checks them.
    pub fn has_gate(&self, gate: &str) -> bool {
        let developer = &self.configuration()["developerConfiguration"];
        let lists = |list: &str| developer[list].as_array().is_some_and(|l| l.iter().any(|g| g == gate));
        let Some(known) = self.release.kubevirt_gate(gate).filter(|known| !known.is_unread) else {
            return true;
        };
        known.phase == Phase::Discontinued
            || self.release.kubevirt().is_on(gate, lists("featureGates"), lists("disabledFeatureGates"))
            || known.alternatives.iter().any(|other| self.has_gate(other))
    }

    /// Whether the release's KubeVirt has a behaviour named in `schemas/behaviour`.
    fn admits(&self, behaviour: &str) -> bool {
        self.release.kubevirt().admission.iter().any(|b| b == behaviour)
    }
}

/// A VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceReplicaSet or VirtualMachinePool with the objects
/// that it refers to.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'m> {
    /// The object.
    pub object: &'m Value,
    /// The architecture that it gets, if known.
    pub architecture: Option<&'m str>,
    /// The spec of its instance type, if known.
    pub instancetype: Option<&'m Value>,
    /// The spec of its preference, if known.
    pub preference: Option<&'m Value>,
    /// Its namespace.
    pub namespace: &'m Namespace,
}

/// KubeVirt's verdict on a machine.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Why it is rejected; empty if accepted.
    pub causes: Vec<Cause>,
    /// Its instance's spec with instance type, preference and defaults; null if it is rejected earlier.
    pub spec: Value,
    /// The pod that its instance becomes; empty if it is rejected earlier.
    pub launcher: Launcher,
}

/// Returns KubeVirt's verdict on a machine.
pub fn admit(cluster: Cluster<'_>, machine: Machine<'_>) -> Verdict {
    machine::admit(cluster, machine)
}

/// The path of a kind's instance template, `spec.template`; `None` for other kinds.
pub fn template_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "VirtualMachine" | "VirtualMachineInstanceReplicaSet" => "spec.template",
        "VirtualMachineInstance" => "",
        "VirtualMachinePool" => "spec.virtualMachineTemplate.spec.template",
        _ => return None,
    })
}
