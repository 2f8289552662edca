//! The requirements of an instance on its node.
//!
//! Source: `pkg/virt-controller/services` (`nodeselectorrenderer.go`, `renderresources.go`).

use serde_json::Value;

use super::Cluster;
use super::checker::{Checker, at, is_on, list, text};
use crate::inventory::{CPU_FEATURE, CPU_MODEL, CPU_VENDOR, ROLE_LABEL};

/// A requirement on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeRequirement {
    /// A label with the value `true`. If a node has no label of the family, its offers are unknown.
    Label {
        /// The label.
        label: String,
        /// Prefix of the family's labels.
        family: &'static str,
    },
    /// Huge pages of a size, `1Gi`.
    Hugepages(String),
    /// A device, by the name of its resource.
    Device(String),
    /// A CPU model that no node's label has, because the HyperConverged's `spec.obsoleteCPUs` lists it.
    ObsoleteModel(String),
    /// KVM.
    Kvm,
}

/// Prefix of the labels that KubeVirt sets on nodes for Hyper-V features.
pub const HYPERV: &str = "hyperv.node.kubevirt.io/";
/// Prefix of the labels for machine types.
pub const MACHINE_TYPE: &str = "machine-type.node.kubevirt.io/";

/// The label of nodes with dedicated CPUs, as older releases have it.
const UNPREFIXED: &str = "cpumanager";

/// Hyper-V features that a node must have; names of fields and labels.
const HYPERV_FEATURES: [&str; 9] =
    ["vpindex", "runtime", "reset", "synic", "synictimer", "frequencies", "reenlightenment", "tlbflush", "ipi"];

/// Whether a label of a node may be required.
pub fn may_be_required(label: &str) -> bool {
    label.contains("kubevirt.io/") || label == UNPREFIXED || label.starts_with(ROLE_LABEL)
}

/// The requirements of an instance on its node, each with the field below the instance's spec that asks for it.
pub fn node_requirements(cluster: Cluster<'_>, spec: &Value) -> Vec<(String, NodeRequirement)> {
    let checker = Checker::new(cluster, spec, "", super::Stage::Start);
    let mut found = Vec::new();
    let mut add = |path: &str, family: &'static str, name: &str| {
        let label = format!("{family}{name}");
        found.push((path.to_owned(), NodeRequirement::Label { label, family }));
    };
    let own = checker.text("domain.cpu.model");
    let model = if own.is_empty() { text(&cluster.configuration()["cpuModel"]) } else { own };
    let is_amd64 = matches!(checker.text("architecture"), "" | "amd64");
    let is_named = is_amd64 && !matches!(model, "" | "host-model" | "host-passthrough");
    let is_obsolete = is_named && cluster.configuration()["obsoleteCPUModels"][model] == true;
    if is_named && !is_obsolete {
        add("domain.cpu.model", CPU_MODEL, model);
    }
    for (path, feature) in checker.each("domain.cpu.features[]") {
        if matches!(text(&feature["policy"]), "" | "require") {
            add(&format!("{path}.name"), CPU_FEATURE, text(&feature["name"]));
        }
    }
    let hyperv = at(spec, "domain.features.hyperv");
    if cluster.has_gate("HypervStrictCheck") {
        for feature in HYPERV_FEATURES.into_iter().filter(|feature| is_on(&hyperv[*feature])) {
            add(&format!("domain.features.hyperv.{feature}"), HYPERV, feature);
        }
        if is_on(&hyperv["evmcs"]) {
            add("domain.features.hyperv.evmcs", CPU_VENDOR, "Intel");
        }
    }
    let machine_type = checker.text("domain.machine.type");
    if !machine_type.is_empty() {
        add("domain.machine.type", MACHINE_TYPE, machine_type);
    }
    let manager = if cluster.admits("prefixed-cpu-manager-label") { "kubevirt.io/cpumanager" } else { UNPREFIXED };
    let has = |path: &str| checker.has(path);
    let is_encrypted = *checker.get("domain.launchSecurity.sev.policy.encryptedState") == true;
    let is_secure = checker.text("architecture") == "s390x" && has("domain.launchSecurity");
    let fixed_labels = [
        ("domain.cpu.dedicatedCpuPlacement", *checker.get("domain.cpu.dedicatedCpuPlacement") == true, manager),
        ("domain.cpu.realtime", has("domain.cpu.realtime"), "kubevirt.io/realtime"),
        ("domain.launchSecurity.sev", has("domain.launchSecurity.sev"), "kubevirt.io/sev"),
        ("domain.launchSecurity.sev.policy.encryptedState", is_encrypted, "kubevirt.io/sev-es"),
        ("domain.launchSecurity.snp", has("domain.launchSecurity.snp"), "kubevirt.io/sev-snp"),
        ("domain.launchSecurity.tdx", has("domain.launchSecurity.tdx"), "kubevirt.io/tdx"),
        ("domain.launchSecurity", is_secure, "kubevirt.io/s390-pv"),
    ];
    for (path, _, label) in fixed_labels.into_iter().filter(|(_, is_asked, _)| *is_asked) {
        add(path, label, "");
    }
    if is_obsolete {
        found.push(("domain.cpu.model".to_owned(), NodeRequirement::ObsoleteModel(model.to_owned())));
    }
    const PAGE_SIZE: &str = "domain.memory.hugepages.pageSize";
    if checker.has(PAGE_SIZE) {
        found.push((PAGE_SIZE.to_owned(), NodeRequirement::Hugepages(checker.text(PAGE_SIZE).to_owned())));
    }
    for devices in ["gpus", "hostDevices"] {
        for (i, device) in list(at(spec, &format!("domain.devices.{devices}"))).iter().enumerate() {
            let name = text(&device["deviceName"]);
            if !name.is_empty() {
                let path = format!("domain.devices.{devices}[{i}].deviceName");
                found.push((path, NodeRequirement::Device(name.to_owned())));
            }
        }
    }
    if *at(cluster.configuration(), "developerConfiguration.useEmulation") != true {
        found.push(("domain".to_owned(), NodeRequirement::Kvm));
    }
    found
}
