//! Why an instance can't be live-migrated: KubeVirt's conditions, in its order.
//!
//! Source: `pkg/virt-handler` (`calculateLiveMigrationCondition`, `checkVolumesForMigration`) and `pkg/network/vmispec`
//! (`VerifyVMIMigratable`), v1.6 to v1.9. Not modelled: conditions that depend on the instance's node, such as a host
//! model that no other node has, or a TSC frequency.

use serde_json::Value;

use super::checker::{at, list, text};
use super::{Cluster, checker};

/// The known properties of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// Its access modes; empty if unknown.
    pub access_modes: Vec<String>,
}

/// Why an instance can't be migrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Its binding to the pod network can't be migrated.
    Network,
    /// It uses a device of its node.
    HostDevice,
    /// Its node encrypts its memory.
    Encryption,
    /// A LUN holds a SCSI reservation.
    Reservation,
    /// It uses its node's Hyper-V features.
    HypervPassthrough,
    /// Its claim can't be attached to two nodes.
    SharedClaim,
    /// A disk is a file of its node.
    HostDisk,
}

impl Obstacle {
    /// A clause for messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "its binding to the pod network can't be migrated",
            Self::HostDevice => "it has a device of its node",
            Self::Encryption => "its memory is encrypted by its node",
            Self::Reservation => "it holds a SCSI reservation",
            Self::HypervPassthrough => "it passes the node's Hyper-V features through",
            Self::SharedClaim => "its claim isn't ReadWriteMany",
            Self::HostDisk => "its disk is a file of its node",
        }
    }
}

/// Annotation that allows migrating an instance with a bridge to the pod network.
pub(super) const ALLOW_BRIDGE: &str = "kubevirt.io/allow-pod-bridge-network-live-migration";

/// Everything that prevents migrating an instance, with the field below the instance's spec. `claim` returns the known
/// properties of a claim by name.
pub fn obstacles(
    cluster: Cluster<'_>,
    spec: &Value,
    annotations: &Value,
    claim: impl Fn(&str) -> Claim,
) -> Vec<(String, Obstacle)> {
    let checker = checker::Checker::new(cluster, spec, "", super::Stage::Start);
    let mut found: Vec<(String, Obstacle)> = network(cluster, spec, annotations).into_iter().collect();
    found.extend(host_devices(cluster, spec).map(|path| (path, Obstacle::HostDevice)));
    if checker.has("domain.launchSecurity") {
        found.push(("domain.launchSecurity".to_owned(), Obstacle::Encryption));
    }
    if !cluster.admits("migrates-reservations") {
        let reserved = checker.each("domain.devices.disks[].lun.reservation");
        found.extend(reserved.into_iter().filter(|(_, v)| **v == true).map(|(p, _)| (p, Obstacle::Reservation)));
    }
    const PASSTHROUGH: &str = "domain.features.hypervPassthrough";
    if *at(spec, "domain.features.hypervPassthrough.enabled") == true {
        found.push((PASSTHROUGH.to_owned(), Obstacle::HypervPassthrough));
    }
    for (path, volume) in checker.each("volumes[]") {
        let names = [&volume["persistentVolumeClaim"]["claimName"], &volume["dataVolume"]["name"]];
        if let Some(name) = names.into_iter().find_map(Value::as_str) {
            let modes = claim(name).access_modes;
            if !modes.is_empty() && !modes.iter().any(|m| m == "ReadWriteMany") {
                found.push((path, Obstacle::SharedClaim));
            }
        } else if !volume["hostDisk"].is_null() && volume["hostDisk"]["shared"] != true {
            found.push((format!("{path}.hostDisk"), Obstacle::HostDisk));
        }
    }
    found
}

fn network(cluster: Cluster<'_>, spec: &Value, annotations: &Value) -> Option<(String, Obstacle)> {
    const INTERFACES: &str = "domain.devices.interfaces";
    let pod = list(&spec["networks"]).iter().find(|n| !n["pod"].is_null())?;
    let interfaces = list(at(spec, INTERFACES));
    let index = interfaces.iter().position(|i| i["name"] == pod["name"])?;
    let interface = &interfaces[index];
    let plugins = &cluster.configuration()["network"]["binding"];
    let plugin = text(&interface["binding"]["name"]);
    let (field, is_migratable) = if ["masquerade", "passtBinding"].iter().any(|b| !interface[*b].is_null()) {
        return None;
    } else if !interface["bridge"].is_null() {
        (".bridge", !annotations[ALLOW_BRIDGE].is_null())
    } else if !plugin.is_empty() {
        // Nothing is known of a missing plugin.
        (".binding", plugins[plugin].is_null() || !plugins[plugin]["migration"].is_null())
    } else {
        ("", false)
    };
    (!is_migratable).then(|| (format!("{INTERFACES}[{index}]{field}"), Obstacle::Network))
}

/// Lists of host devices that can't be migrated. From v1.9 on a gate allows one mediated device.
fn host_devices(cluster: Cluster<'_>, spec: &Value) -> impl Iterator<Item = String> {
    let devices = |kind: &str| list(&spec["domain"]["devices"][kind]);
    let mediated = list(at(cluster.configuration(), "permittedHostDevices.mediatedDevices"));
    let is_mediated = |gpu: &Value| mediated.iter().any(|d| d["resourceName"] == gpu["deviceName"]);
    let is_migratable = cluster.admits("migrates-vgpus") && cluster.has_gate("VGPULiveMigration");
    let gpu_moves = is_migratable && matches!(devices("gpus"), [one] if is_mediated(one));
    let fixed = [("gpus", gpu_moves), ("hostDevices", false)]
        .map(|(kind, is_migratable)| (kind, is_migratable || devices(kind).is_empty()));
    fixed.into_iter().filter(|(_, is_fine)| !is_fine).map(|(kind, _)| format!("domain.devices.{kind}"))
}
