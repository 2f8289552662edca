//! The launcher: the pod that virt-controller makes of an instance, and how it compares with nodes and quotas.
//!
//! Source: KubeVirt `pkg/virt-controller/services` (`template.go`, `nodeselectorrenderer.go`, `renderresources.go`,
//! `rendervolumes.go`), `pkg/network/multus`, `pkg/virt-controller/watch/migration`, the same from v1.6 to v1.9.

use super::Cluster;
use super::checker::{Checker, at, each, list, milli, quantity, whole};
use super::cpu::vcpus;
use crate::cause::Stage;
use crate::inventory::{CPU_FEATURE, CPU_MODEL, HOST_MODEL, HOST_MODEL_FEATURE, MIGRATION_MODEL};
use crate::inventory::{Node, ROLE_LABEL};
use crate::names::NAMES;
use crate::prelude::*;
use hcoplan_kubernetes::label_selector::{Labels, Selector};

/// A requirement on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeRequirement {
    /// A label with the value `true`. If a node has no label of the family, its offers are unknown.
    Label {
        /// The label.
        label: String,
        /// Prefix of the family's labels.
        family: String,
    },
    /// A label that KubeVirt's `developerConfiguration.nodeSelectors` ask for. A node may have labels of the cluster's
    /// components that the inventory doesn't declare.
    Selected(String, String),
    /// No such label.
    NoLabel(String),
    /// A label with any value.
    Key(String),
    /// Huge pages of a size, `1Gi`.
    Hugepages(String),
    /// A device, by the name of its resource.
    Device(String),
    /// The device of a network: the resource that its NetworkAttachmentDefinition names.
    NetworkDevice(String),
    /// A CPU model that no node's label has, because the HyperConverged's `spec.obsoleteCPUs` lists it.
    ObsoleteModel(String),
    /// KVM.
    Kvm,
}

/// The label of nodes whose host model is among the obsolete ones.
const OBSOLETE_HOST_MODEL: &str = "node-labeller.kubevirt.io/obsolete-host-model";
/// The label of nodes with dedicated CPUs, as older releases have it.
const UNPREFIXED: &str = "cpumanager";

/// Mebibytes that KubeVirt's own processes take: virt-launcher-monitor, virt-launcher, virtlogd, virtqemud, QEMU and an
/// I/O thread. Newer versions of KubeVirt count more for QEMU.
const OWN_OVERHEAD: i64 = 25 + 100 + 25 + 40 + 30 + 8;

const MEBIBYTE: i64 = 1024 * 1024;

/// The label of a namespace with the ratio of automatic memory limits to requests.
const MEMORY_RATIO: &str = "alpha.kubevirt.io/auto-memory-limits-ratio";

/// Whether a label of a launcher is KubeVirt's own, which its instance's template doesn't have.
pub fn is_own_label(label: &str) -> bool {
    NAMES["labelsOfLaunchers"].contains(&label)
}

/// Whether a label of a node may be required.
pub fn may_be_required(label: &str) -> bool {
    label.contains("kubevirt.io/") || label == UNPREFIXED || label.starts_with(ROLE_LABEL)
}

impl NodeRequirement {
    /// The label of a CPU model's name; `None` for the node's own.
    pub fn of_model(name: &str) -> Option<Self> {
        let is_own = matches!(name, "" | "host-model" | "host-passthrough");
        (!is_own).then(|| Self::Label { label: format!("{CPU_MODEL}{name}"), family: CPU_MODEL.to_owned() })
    }

    /// Whether a node satisfies it; `None` if the inventory doesn't have the fact.
    pub fn is_met(&self, node: &Node) -> Option<bool> {
        match self {
            Self::Label { label, family } => {
                let says = node.labels.keys().any(|k| k.starts_with(&**family));
                says.then(|| node.labels.get(label).is_some_and(|v| v == "true"))
            }
            Self::Selected(key, value) => match node.labels.get(key) {
                Some(own) => Some(own == value),
                None => (!["kubernetes.io/", "kubevirt.io/", "nvidia.com/"].iter().any(|of| key.contains(of)))
                    .then_some(false),
            },
            Self::NoLabel(label) => node.labels.contains_key(label).then_some(false),
            // Clouds set the labels of Kubernetes itself.
            Self::Key(key) => {
                let has = node.labels.contains_key(key);
                (has || !key.contains("kubernetes.io/")).then_some(has)
            }
            Self::Hugepages(size) => node.hugepages.as_ref().map(|all| all.contains(size)),
            Self::Device(name) | Self::NetworkDevice(name) => node.resources.as_ref().map(|all| all.contains(name)),
            Self::ObsoleteModel(_) => Some(false),
            Self::Kvm => node.kvm,
        }
    }
}

/// The namespace of a machine, as far as its launcher depends on it and it is known.
#[derive(Debug, Clone, Default)]
pub struct Namespace {
    /// The resources that NetworkAttachmentDefinitions name, by the `networkName` that refers to them.
    pub network_resources: BTreeMap<String, String>,
    /// The `spec` of its ResourceQuotas.
    pub quotas: Vec<Value>,
    /// Its labels, if it is declared; else that of its name.
    pub labels: Labels,
    /// Whether it is declared.
    pub is_declared: bool,
}

/// A launcher.
#[derive(Debug, Clone, Default)]
pub struct Launcher {
    /// What its node must have, each with the field below the instance's spec that asks for it.
    pub needs: Vec<(String, NodeRequirement)>,
    /// Whether it has the model of its node's CPU.
    pub(super) has_host_model: bool,
    /// What its main container requests, in thousandths, and `pods`, which is one.
    pub requests: BTreeMap<String, i64>,
    /// The limits of its main container, in thousandths.
    pub limits: BTreeMap<String, i64>,
    /// Whether unknown labels of its namespace may give it a limit of CPU.
    pub(super) may_limit_cpu: bool,
}

const REQUESTS: &str = "domain.resources.requests";

/// Returns the launcher of an instance's complete spec.
pub(super) fn launcher(cluster: Cluster<'_>, spec: &Value, namespace: &Namespace) -> Launcher {
    let mut launcher = Launcher::default();
    launcher.select_nodes(cluster, spec);
    launcher.request_devices(cluster, spec, &namespace.network_resources);
    launcher.request_resources(cluster, spec, namespace);
    launcher
}

impl Launcher {
    /// Whether it may run on a node, as far as the inventory says.
    pub fn may_run_on(&self, node: &Node) -> bool {
        self.needs.iter().all(|(_, need)| need.is_met(node) != Some(false))
    }

    /// The first label of a node that a migration's second pod requires and that the target is known to lack: the pod
    /// takes the node selector of the model of the source's CPU.
    pub fn unmet_after<'s>(&self, source: &'s Node, target: &Node) -> Option<&'s str> {
        if !self.has_host_model {
            return None;
        }
        let required = source.labels.keys().filter_map(|label| {
            let model = label.strip_prefix(HOST_MODEL).map(|name| (MIGRATION_MODEL, name));
            model.or_else(|| label.strip_prefix(HOST_MODEL_FEATURE).map(|name| (CPU_FEATURE, name)))
        });
        let mut required = required.filter(|(family, name)| {
            let label = format!("{family}{name}");
            NodeRequirement::Label { label, family: (*family).to_owned() }.is_met(target) == Some(false)
        });
        required.next().map(|(_, name)| name)
    }

    fn select_nodes(&mut self, cluster: Cluster<'_>, spec: &Value) {
        let own = text(at(spec, "domain.cpu.model"));
        let model = if own.is_empty() { text(&cluster.configuration()["cpuModel"]) } else { own };
        let is_amd64 = matches!(text(&spec["architecture"]), "" | "amd64");
        self.has_host_model = is_amd64 && matches!(model, "" | "host-model");
        let named = NodeRequirement::of_model(model).filter(|_| is_amd64);
        let is_obsolete = named.is_some() && cluster.configuration()["obsoleteCPUModels"][model] == true;
        if let Some(named) = named.filter(|_| !is_obsolete) {
            self.need("domain.cpu.model", named);
        }
        for (key, value) in members(at(cluster.configuration(), "developerConfiguration.nodeSelectors")) {
            if spec["nodeSelector"][key].is_null() {
                self.need("nodeSelector", NodeRequirement::Selected(key.clone(), text(value).to_owned()));
            }
        }
        let mut rows = Checker::new(cluster, spec, "", Stage::Start);
        rows.rows("node-labels");
        self.needs.extend(rows.found.into_iter().map(|cause| {
            let label = cause.message;
            let of_labeller = label.split_inclusive('/').next().filter(|domain| domain.ends_with(".node.kubevirt.io/"));
            let family = of_labeller.unwrap_or(&label).to_owned();
            let need = match label.split_at(1) {
                ("!", label) => NodeRequirement::NoLabel(label.to_owned()),
                ("?", label) => NodeRequirement::Key(label.to_owned()),
                _ => NodeRequirement::Label { label, family },
            };
            (cause.path.to_string(), need)
        }));
        if spec["architecture"] != "arm64" && matches!(model, "" | "host-model") {
            self.need("domain.cpu.model", NodeRequirement::NoLabel(OBSOLETE_HOST_MODEL.to_owned()));
        }
        if is_obsolete {
            self.need("domain.cpu.model", NodeRequirement::ObsoleteModel(model.to_owned()));
        }
    }

    fn request_devices(&mut self, cluster: Cluster<'_>, spec: &Value, networks: &BTreeMap<String, String>) {
        const PAGE_SIZE: &str = "domain.memory.hugepages.pageSize";
        if let Some(size) = at(spec, PAGE_SIZE).as_str() {
            self.need(PAGE_SIZE, NodeRequirement::Hugepages(size.to_owned()));
        }
        for devices in ["gpus", "hostDevices"] {
            for (path, name) in each(spec, &format!("domain.devices.{devices}[].deviceName")) {
                if !text(name).is_empty() {
                    self.need(&path, NodeRequirement::Device(text(name).to_owned()));
                }
            }
        }
        for (path, name) in each(spec, "networks[].multus.networkName") {
            if let Some(resource) = networks.get(text(name)) {
                self.need(&path, NodeRequirement::NetworkDevice(resource.clone()));
            }
        }
        let requests = members(at(spec, REQUESTS));
        for (name, _) in requests.filter(|(name, _)| name.contains('/')) {
            self.need(REQUESTS, NodeRequirement::Device(name.clone()));
        }
        if *at(cluster.configuration(), "developerConfiguration.useEmulation") != true {
            self.need("domain", NodeRequirement::Kvm);
        }
    }

    /// What the main container requests; of the memory at least this.
    fn request_resources(&mut self, cluster: Cluster<'_>, spec: &Value, namespace: &Namespace) {
        let own = at(spec, "domain.resources");
        let amounts = |list: &Value| -> BTreeMap<String, i64> {
            members(list).filter(|(_, v)| quantity(v).is_some()).map(|(k, v)| (k.clone(), milli(v))).collect()
        };
        [self.requests, self.limits] = [amounts(&own["requests"]), amounts(&own["limits"])];
        self.requests.insert("pods".to_owned(), 1000);
        for (_, need) in self.needs.iter().filter(|(path, _)| path != REQUESTS) {
            let device = match need {
                NodeRequirement::Device(name) | NodeRequirement::NetworkDevice(name) => name,
                NodeRequirement::Kvm => "devices.kubevirt.io/kvm",
                _ => continue,
            };
            *self.requests.entry(device.to_owned()).or_default() += 1000;
        }
        let developer = &cluster.configuration()["developerConfiguration"];
        let share = |field: &str, default: i64| developer[field].as_i64().filter(|n| *n > 0).unwrap_or(default);
        let guest = milli(at(spec, "domain.memory.guest"));
        let memory = self.requests.get("memory").copied().filter(|m| *m > 0);
        let memory = memory.or_else(|| self.limits.get("memory").copied().filter(|m| *m > 0));
        let memory = memory.unwrap_or_else(|| guest.saturating_mul(100) / share("memoryOvercommit", 100));
        let cpus = vcpus(at(spec, "domain.cpu")).max(1).saturating_mul(1000);
        if *at(spec, "domain.cpu.dedicatedCpuPlacement") == true {
            let isolated = if *at(spec, "domain.cpu.isolateEmulatorThread") == true { 1000 } else { 0 };
            let cpus = cpus.saturating_add(isolated);
            self.requests.insert("cpu".to_owned(), cpus);
            self.limits.insert("cpu".to_owned(), cpus);
            self.limits.insert("memory".to_owned(), memory);
        } else {
            self.requests.entry("cpu".to_owned()).or_insert(cpus / share("cpuAllocationRatio", 10));
        }
        // The ratio is in thousandths, too.
        let ratio = Some(milli(&cluster.configuration()["additionalGuestMemoryOverheadRatio"])).filter(|r| *r > 0);
        let overhead = overhead(spec, memory).saturating_mul(ratio.unwrap_or(1000));
        let has_pages = !at(spec, "domain.memory.hugepages").is_null();
        let base = if has_pages { (memory - guest).max(0) } else { memory };
        if let Some(size) = at(spec, "domain.memory.hugepages.pageSize").as_str() {
            for amounts in [&mut self.requests, &mut self.limits] {
                amounts.insert(format!("hugepages-{size}"), guest);
            }
        }
        let is_charged = has_pages || own["overcommitGuestOverhead"] != true;
        let request = base.saturating_add(if is_charged { overhead } else { 0 });
        self.requests.insert("memory".to_owned(), request);
        if let Some(limit) = self.limits.get_mut("memory") {
            let base = if has_pages { (*limit - guest).max(0) } else { *limit };
            *limit = base.saturating_add(overhead);
        }
        // A quota of limits makes KubeVirt set those of a machine that has none; of CPU, labels of the namespace do, too.
        let limited = |name: &str| namespace.quotas.iter().any(|q| !q["hard"][format!("limits.{name}")].is_null());
        let selector = Selector::of(&cluster.configuration()["autoCPULimitNamespaceLabelSelector"]);
        if limited("cpu") || selector.as_ref().is_some_and(|s| s.matches(&namespace.labels)) {
            self.limits.entry("cpu".to_owned()).or_insert(cpus);
        }
        self.may_limit_cpu = selector.is_some() && !namespace.is_declared && !self.limits.contains_key("cpu");
        if limited("memory") {
            let ratio = namespace.labels.get(MEMORY_RATIO).and_then(|ratio| ratio.parse().ok());
            let ratio = ratio.filter(|ratio| *ratio >= 1.0).unwrap_or(2.0);
            self.limits.entry("memory".to_owned()).or_insert((request as f64 * ratio) as i64);
        }
    }

    fn need(&mut self, path: &str, requirement: NodeRequirement) {
        self.needs.push((path.to_owned(), requirement));
    }
}

/// The bytes that a launcher takes in addition to its guest, at least. `memory` is in thousandths of bytes.
fn overhead(spec: &Value, memory: i64) -> i64 {
    let has = |path: &str| !at(spec, path).is_null();
    let devices = at(spec, "domain.devices");
    let has_vfio = ["gpus", "hostDevices"].iter().any(|kind| !list(&devices[*kind]).is_empty())
        || list(&devices["interfaces"]).iter().any(|interface| !interface["sriov"].is_null());
    let probes = ["livenessProbe.exec", "readinessProbe.exec"].into_iter().filter(|p| has(p)).count();
    let is_dedicated = *at(spec, "domain.cpu.dedicatedCpuPlacement") == true;
    let parts = [
        (true, OWN_OVERHEAD),
        (true, vcpus(at(spec, "domain.cpu")).max(1).saturating_mul(8)),
        (devices["autoattachGraphicsDevice"] != false, 32),
        (spec["architecture"] == "arm64", 128),
        (has_vfio, 1024),
        (list(&spec["volumes"]).iter().any(|v| !v["downwardMetrics"].is_null()), 1),
        (probes > 0, 100 + if probes > 1 { 20 } else { 10 }),
        (has("domain.launchSecurity.sev") || has("domain.launchSecurity.snp"), 256),
        (has("domain.devices.tpm") && devices["tpm"]["enabled"] != false, 53),
        (is_dedicated, 100),
    ];
    let fixed: i64 =
        parts.into_iter().filter(|(counts, _)| *counts).map(|(_, size)| size.saturating_mul(MEBIBYTE)).sum();
    let added = whole(at(spec, "domain.memory.reservedOverhead.addedOverhead"));
    fixed.saturating_add(memory / 1000 / 512).saturating_add(added)
}
