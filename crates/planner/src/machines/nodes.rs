//! What an instance asks of the node that it runs on.
//!
//! Source: `pkg/virt-controller/services` (`nodeselectorrenderer.go`, `renderresources.go`).

use serde_json::Value;

use super::Cluster;
use super::checker::{Checker, at, list, text};
use crate::inventory::{CPU_FEATURE, CPU_MODEL};

/// Something that a node has to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeRequirement {
    /// A label with the value `true`, and the beginning of the labels of its family: where a node has none of the
    /// family nobody knows what it offers.
    Label {
        /// The label.
        label: String,
        /// How its family's labels begin.
        family: &'static str,
    },
    /// Huge pages of a size, `1Gi`.
    Hugepages(String),
    /// A device, by the name of its resource.
    Device(String),
}

/// What the node of an instance needs, each with the field below the instance's spec that asks for it.
pub fn node_requirements(cluster: Cluster<'_>, spec: &Value) -> Vec<(String, NodeRequirement)> {
    let checker = Checker::new(cluster, spec, "", super::Stage::Start);
    let mut found = Vec::new();
    let own = checker.text("domain.cpu.model");
    let model = if own.is_empty() { text(&cluster.configuration()["cpuModel"]) } else { own };
    let is_amd64 = matches!(checker.text("architecture"), "" | "amd64");
    if is_amd64 && !matches!(model, "" | "host-model" | "host-passthrough") {
        let label = format!("{CPU_MODEL}{model}");
        found.push(("domain.cpu.model".to_owned(), NodeRequirement::Label { label, family: CPU_MODEL }));
    }
    for (path, feature) in checker.each("domain.cpu.features[]") {
        if matches!(text(&feature["policy"]), "" | "require") {
            let label = format!("{CPU_FEATURE}{}", text(&feature["name"]));
            found.push((format!("{path}.name"), NodeRequirement::Label { label, family: CPU_FEATURE }));
        }
    }
    let manager = if cluster.admits("prefixed-cpu-manager-label") { "kubevirt.io/cpumanager" } else { "cpumanager" };
    let security = |kind: &str| !at(spec, &format!("domain.launchSecurity.{kind}")).is_null();
    let single = [
        ("domain.cpu.dedicatedCpuPlacement", *checker.get("domain.cpu.dedicatedCpuPlacement") == true, manager),
        ("domain.cpu.realtime", checker.has("domain.cpu.realtime"), "kubevirt.io/realtime"),
        ("domain.launchSecurity.sev", security("sev"), "kubevirt.io/sev"),
        ("domain.launchSecurity.snp", security("snp"), "kubevirt.io/sev-snp"),
        ("domain.launchSecurity.tdx", security("tdx"), "kubevirt.io/tdx"),
    ];
    for (path, is_asked, label) in single {
        if is_asked {
            found.push((path.to_owned(), NodeRequirement::Label { label: label.to_owned(), family: label }));
        }
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
    found
}
