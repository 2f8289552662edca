//! Why an instance can't be live-migrated: KubeVirt's conditions, in its order.
//!
//! Source: `pkg/virt-handler` (`calculateLiveMigrationCondition`, `checkVolumesForMigration`) and `pkg/network/vmispec`
//! (`VerifyVMIMigratable`), v1.6 to v1.9. Not modelled: conditions that depend on the instance's node, such as a host
//! model that no other node has, or a TSC frequency.

use super::Cluster;
use super::checker::{Checker, at, list};
use crate::cause::{CauseKind, Stage};
use crate::prelude::*;

/// Annotation that allows migrating an instance with a bridge to the pod network.
pub(super) const ALLOW_BRIDGE: &str = "kubevirt.io/allow-pod-bridge-network-live-migration";

/// Everything that prevents migrating an instance: the field below the instance's spec, and a clause for messages. The access
/// modes of a claim are by its name; none if unknown.
pub fn obstacles(
    cluster: Cluster<'_>,
    spec: &Value,
    annotations: &Value,
    access_modes: impl Fn(&str) -> Vec<String>,
) -> Vec<(String, String)> {
    let mut checker = Checker::new(cluster, spec, "", Stage::Start);
    checker.network(annotations);
    checker.devices();
    checker.rows("migration");
    for (path, volume) in checker.each("volumes[]") {
        let names = [&volume["persistentVolumeClaim"]["claimName"], &volume["dataVolume"]["name"]];
        let modes = names.into_iter().find_map(Value::as_str).map(&access_modes).unwrap_or_default();
        if !modes.is_empty() && !modes.iter().any(|m| m == "ReadWriteMany") {
            checker.reject(&path, CauseKind::Removed, "its claim isn't ReadWriteMany");
        }
    }
    checker.causes().into_iter().map(|cause| (cause.path.to_string(), cause.message)).collect()
}

impl Checker<'_> {
    fn network(&mut self, annotations: &Value) {
        const INTERFACES: &str = "domain.devices.interfaces";
        let Some(pod) = self.list("networks").iter().find(|n| !n["pod"].is_null()) else {
            return;
        };
        let interfaces = self.list(INTERFACES).iter();
        let Some((index, interface)) = interfaces.enumerate().find(|(_, i)| i["name"] == pod["name"]) else {
            return;
        };
        let plugins = &self.cluster.configuration()["network"]["binding"];
        let plugin = text(&interface["binding"]["name"]);
        let (field, is_migratable) = if ["masquerade", "passtBinding"].iter().any(|b| !interface[*b].is_null()) {
            return;
        } else if !interface["bridge"].is_null() {
            (".bridge", !annotations[ALLOW_BRIDGE].is_null())
        } else if !plugin.is_empty() {
            // Nothing is known of a missing plugin.
            (".binding", plugins[plugin].is_null() || !plugins[plugin]["migration"].is_null())
        } else {
            // Without any it doesn't start, unless its preference has one.
            ("", interface["sriov"].is_null())
        };
        if !is_migratable {
            let message = "its binding to the pod network can't be migrated";
            self.reject(&format!("{INTERFACES}[{index}]{field}"), CauseKind::Removed, message);
        }
    }

    /// Devices of the node, of which from v1.9 on a gate allows one mediated device.
    fn devices(&mut self) {
        let mediated = list(at(self.cluster.configuration(), "permittedHostDevices.mediatedDevices"));
        let is_mediated = |gpu: &Value| mediated.iter().any(|d| d["resourceName"] == gpu["deviceName"]);
        let is_migratable = self.cluster.admits("migrates-vgpus") && self.cluster.has_gate("VGPULiveMigration");
        for field in ["domain.devices.gpus", "domain.devices.hostDevices"] {
            let moves =
                matches!(self.list(field), [one] if is_migratable && field.ends_with("gpus") && is_mediated(one));
            if !moves && !self.list(field).is_empty() {
                self.reject(field, CauseKind::Removed, "it has a device of its node");
            }
        }
    }
}
