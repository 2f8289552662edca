//! The virtual machines that a consequence is about.

use serde::Deserialize;
use serde_json::Value;

/// The virtual machines that use what changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// Those without `evictionStrategy`.
    WithoutEvictionStrategy,
    /// Those without a memory request or limit.
    WithoutMemoryRequest,
    /// Those without a CPU request, limit or dedicated CPUs.
    WithoutCpuRequest,
    /// Those without a CPU model.
    WithoutCpuModel,
    /// Those without an architecture.
    WithoutArchitecture,
    /// Those without a machine type.
    WithoutMachineType,
    /// Those that keep state: a persistent TPM or EFI.
    PersistentState,
    /// Those with a SCSI reservation.
    Reservation,
    /// Those with an instance type or preference of the whole cluster.
    ClusterInstancetype,
}

impl Users {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::WithoutEvictionStrategy,
        Self::WithoutMemoryRequest,
        Self::WithoutCpuRequest,
        Self::WithoutCpuModel,
        Self::WithoutArchitecture,
        Self::WithoutMachineType,
        Self::PersistentState,
        Self::Reservation,
        Self::ClusterInstancetype,
    ];

    /// Whether a machine is one of them: `owner` has its instance type and preference, `written` the instance's spec as
    /// written, `complete` as it is in KubeVirt.
    pub fn include(self, owner: &Value, written: &Value, complete: &Value) -> bool {
        let (domain, own) = (&complete["domain"], &written["domain"]);
        let is_unset = |value: &Value| value.is_null() || value == "";
        let has = |list: &str| &domain["resources"][list];
        match self {
            Self::WithoutEvictionStrategy => is_unset(&written["evictionStrategy"]),
            Self::WithoutMemoryRequest => {
                [has("requests"), has("limits")].iter().all(|list| is_unset(&list["memory"]))
                    && is_unset(&domain["memory"]["hugepages"])
            }
            Self::WithoutCpuRequest => {
                [has("requests"), has("limits")].iter().all(|list| is_unset(&list["cpu"]))
                    && domain["cpu"]["dedicatedCpuPlacement"] != true
            }
            Self::WithoutCpuModel => is_unset(&domain["cpu"]["model"]),
            Self::WithoutArchitecture => is_unset(&written["architecture"]),
            Self::WithoutMachineType => is_unset(&own["machine"]["type"]) && is_unset(&domain["machine"]["type"]),
            Self::PersistentState => {
                domain["devices"]["tpm"]["persistent"] == true
                    || domain["firmware"]["bootloader"]["efi"]["persistent"] == true
            }
            Self::Reservation => {
                let disks = domain["devices"]["disks"].as_array();
                disks.is_some_and(|disks| disks.iter().any(|disk| disk["lun"]["reservation"] == true))
            }
            Self::ClusterInstancetype => ["instancetype", "preference"].iter().any(|key| {
                let matcher = &owner[*key];
                let kind = matcher["kind"].as_str().unwrap_or_default().to_ascii_lowercase();
                !matcher["name"].is_null() && (kind.is_empty() || kind.contains("cluster"))
            }),
        }
    }
}
