//! What KubeVirt and CDI would say to a virtual machine or a disk, in the cluster that a HyperConverged makes.
//!
//! Stages follow each other as on the server, and the first that rejects ends the rest: the CRD's structure, the
//! defaulting webhook (instance types, preferences, defaults), the validating webhook, and what is only examined
//! when the machine starts and its VirtualMachineInstance is created. Differences between KubeVirt versions are data:
//! phases of feature gates, `admission` in `schemas/behaviour/<x.y>/kubevirt.json`, and versions of fields.
//!
//! Source: KubeVirt `pkg/virt-api/webhooks`, `pkg/storage/admitters`, `pkg/network/admitter`, `pkg/instancetype`,
//! `pkg/defaults`, v1.6 to v1.9; CDI `pkg/apiserver/webhooks`, v1.63 to v1.66.

mod architecture;
mod checker;
mod cpu;
mod defaults;
mod defects;
mod devices;
mod disks;
mod machine;
mod migration;
mod network;
mod nodes;
mod placement;
mod structure;
mod tables;
mod types;
mod volumes;

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;

pub use checker::{is_placeholder, object_metadata};
pub use defects::{Defect, MachineView, defects, deployed_kubevirt, has_defect};
pub use migration::{Claim, Obstacle, obstacles};
pub use nodes::{HYPERV, MACHINE_TYPE, NodeRequirement, node_requirements};
pub use structure::{TypeKind, common_type, common_types, schema};
pub use types::{admit_instancetype, admit_migration_policy, admit_preference};

use hcoplan_yaml::Path;
use serde_json::Value;

use crate::release::{Phase, Release};

/// Where an object is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The API server, by the CRD's structure.
    Schema,
    /// KubeVirt's defaulting webhook, and what it applies.
    Defaulting,
    /// KubeVirt's validating webhook.
    Validating,
    /// KubeVirt's webhooks for the instance, when the machine starts.
    Start,
}

/// Why a field is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The structure doesn't have the field; perhaps this one was meant.
    UnknownField,
    /// Another type, or not in the format.
    Malformed,
    /// It must be there.
    Missing,
    /// It must be one of these.
    Unsupported(Vec<String>),
    /// Too small, too large, or no multiple of what it must be.
    OutOfRange,
    /// Another element has it already.
    Duplicate(Path),
    /// It contradicts another field.
    Contradicts(Path),
    /// It is of no use without another field.
    Needs(Path),
    /// Exactly one alternative may be there.
    NotExactlyOne,
    /// It refers to something of this name that isn't there; these are.
    Dangling(String, Vec<String>),
    /// A feature gate of KubeVirt is off.
    GateOff(&'static str),
    /// Its architecture doesn't support it.
    Architecture(String),
    /// KubeVirt doesn't support it any more.
    Removed,
    /// The instance type sets it already.
    Instancetype,
    /// The preference requires more than there is.
    Preference,
}

impl Reason {
    /// Whether something that a patch adds may cure it.
    pub fn may_be_patched(&self) -> bool {
        matches!(
            self,
            Self::Missing
                | Self::Contradicts(_)
                | Self::Needs(_)
                | Self::NotExactlyOne
                | Self::Dangling(..)
                | Self::Instancetype
                | Self::Preference
        )
    }
}

/// Why an object is rejected, at one of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Where.
    pub stage: Stage,
    /// The field.
    pub path: Path,
    /// Why.
    pub reason: Reason,
    /// The server's own words.
    pub words: String,
}

/// The cluster that judges: what HCO renders for KubeVirt, in a release.
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

    /// Whether a feature gate of KubeVirt is on. One that the release doesn't know counts as on: nothing asks for it.
    pub fn has_gate(&self, gate: &str) -> bool {
        let developer = &self.configuration()["developerConfiguration"];
        let lists = |list: &str| developer[list].as_array().is_some_and(|l| l.iter().any(|g| g == gate));
        let facts = self.release.kubevirt();
        match facts.feature_gates.get(gate) {
            None | Some(Phase::Ga | Phase::Deprecated | Phase::Discontinued) => true,
            Some(Phase::Beta) if facts.beta_gates_are_on => !lists("disabledFeatureGates"),
            Some(Phase::Alpha | Phase::Beta) => lists("featureGates"),
        }
    }

    /// Whether the release's KubeVirt does what `schemas/behaviour` calls by this name.
    fn admits(&self, behaviour: &str) -> bool {
        self.release.kubevirt().admission.iter().any(|b| b == behaviour)
    }
}

/// A VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceReplicaSet or VirtualMachinePool with what it
/// refers to.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'m> {
    /// The object.
    pub object: &'m Value,
    /// The architecture that it gets, where that is known.
    pub architecture: Option<&'m str>,
    /// The spec of its instance type, where that is known.
    pub instancetype: Option<&'m Value>,
    /// The spec of its preference, where that is known.
    pub preference: Option<&'m Value>,
}

/// What KubeVirt makes of a machine.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Why it is rejected; empty when it isn't.
    pub causes: Vec<Cause>,
    /// Its instance's spec with instance type, preference and defaults; null where it is rejected before.
    pub spec: Value,
}

/// What KubeVirt makes of a machine.
pub fn admit(cluster: Cluster<'_>, machine: Machine<'_>) -> Verdict {
    machine::admit(cluster, machine)
}

/// Where a kind has its instance's metadata and spec, `spec.template`; `None` for another kind.
pub fn template_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "VirtualMachine" | "VirtualMachineInstanceReplicaSet" => "spec.template",
        "VirtualMachineInstance" => "",
        "VirtualMachinePool" => "spec.virtualMachineTemplate.spec.template",
        _ => return None,
    })
}
