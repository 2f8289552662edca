//! The declared cluster: its nodes and the facts that are not in the HyperConverged. They are read in `repository`.

mod architecture;
mod update_method;

use crate::prelude::*;
use crate::release::Platform;

pub use architecture::Architecture;
pub use update_method::UpdateMethod;

/// The facts that HCO finds in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Inventory {
    /// `metadata.name` of the ClusterInventory.
    pub name: Option<String>,
    /// HCO release line that the cluster runs, as written ("1.17").
    pub release: Option<String>,
    /// What the operator runs on.
    pub platform: Platform,
    /// The operator's namespace.
    pub namespace: String,
    /// The cluster's base domain (`example.com`; ingress is `apps.<base domain>`).
    pub base_domain: String,
    /// `spec.tlsSecurityProfile` of the cluster's APIServer, in OpenShift's shape.
    pub tls_security_profile: Option<Value>,
    /// IP families of the cluster network, `IPv4` first on dual stack.
    pub ip_families: Vec<String>,
    /// Whether the control plane runs elsewhere (HyperShift).
    pub hosted_control_plane: bool,
    /// Whether the monitoring CRDs exist; `None`: the platform's default.
    pub monitoring: Option<bool>,
    /// Whether the NetworkAttachmentDefinition CRD exists; `None`: the platform's default.
    pub network_attachment_definitions: Option<bool>,
    /// `spec` of the KubeDescheduler, where there is one.
    pub kube_descheduler: Option<Value>,
    /// The schedule that the operator drew once for the common golden images
    /// (`status.dataImportSchedule`).
    pub data_import_schedule: Option<String>,
    /// How an existing HyperConverged is updated.
    pub update: UpdateMethod,
    /// The PersistentVolumeClaims that the repository creates, itself or by a DataVolume: namespace and name.
    pub claims: BTreeSet<(String, String)>,
    /// The nodes, sorted by name.
    pub nodes: Vec<Node>,
}

impl Default for Inventory {
    fn default() -> Self {
        Self {
            name: None,
            release: None,
            platform: Platform::OpenShift,
            namespace: "kubevirt-hyperconverged".to_owned(),
            base_domain: "example.com".to_owned(),
            tls_security_profile: None,
            ip_families: vec!["IPv4".to_owned()],
            hosted_control_plane: false,
            monitoring: None,
            network_attachment_definitions: None,
            kube_descheduler: None,
            data_import_schedule: None,
            update: UpdateMethod::default(),
            claims: BTreeSet::new(),
            nodes: Vec::new(),
        }
    }
}

impl Inventory {
    /// Whether HCO finds the monitoring CRDs.
    pub fn has_monitoring(&self) -> bool {
        self.monitoring.unwrap_or(self.platform == Platform::OpenShift)
    }
}

/// Prefix of a role's label; the role follows.
pub const ROLE_LABEL: &str = "node-role.kubernetes.io/";

/// The role labels that OpenShift sets on a node of the control plane.
pub fn control_plane_labels() -> [(String, String); 2] {
    ["control-plane", "master"].map(|role| (format!("{ROLE_LABEL}{role}"), String::new()))
}

/// The label that a placement on a single node matches.
pub const HOSTNAME_LABEL: &str = "kubernetes.io/hostname";
const OS_LABEL: &str = "kubernetes.io/os";

/// The label that repeats a node's architecture; placement matches it.
pub const ARCHITECTURE_LABEL: &str = "kubernetes.io/arch";
/// Prefix of the labels that KubeVirt sets on nodes for their CPU models.
pub const CPU_MODEL: &str = "cpu-model.node.kubevirt.io/";
/// Prefix of the labels for CPU features.
pub const CPU_FEATURE: &str = "cpu-feature.node.kubevirt.io/";
/// Prefix of the label for the model of a node's own CPU.
pub const HOST_MODEL: &str = "host-model-cpu.node.kubevirt.io/";
/// Prefix of the labels for the features that the model of a node's own CPU requires.
pub const HOST_MODEL_FEATURE: &str = "host-model-required-features.node.kubevirt.io/";
/// Prefix of the labels for the models that a machine with another node's model may move to.
pub const MIGRATION_MODEL: &str = "cpu-model-migration.node.kubevirt.io/";
/// The fields of an inventory's entry for names that KubeVirt sets labels for, and the prefixes of the labels.
pub const LABELLED: [(&str, &str); 2] = [("cpuModels", CPU_MODEL), ("cpuFeatures", CPU_FEATURE)];
/// Prefixes of the labels for a node's own CPU, which decide where its machines may migrate.
pub const OWN_CPU: [&str; 3] = [HOST_MODEL, HOST_MODEL_FEATURE, MIGRATION_MODEL];
/// The taint of a cordoned node.
pub const CORDONED: &str = "node.kubernetes.io/unschedulable";
/// Prefix of the labels for the CPU vendor.
pub const CPU_VENDOR: &str = "cpu-vendor.node.kubevirt.io/";
/// Other labels of KubeVirt on nodes: `kubevirt.io/<capability>` with `true`.
pub const CAPABILITIES: [&str; 7] = ["cpumanager", "realtime", "s390-pv", "sev", "sev-es", "sev-snp", "tdx"];

/// The labels of a capability: before KubeVirt v1.8 the CPU manager's had no prefix.
pub fn capability_labels(capability: &str) -> impl Iterator<Item = String> {
    let old = (capability == "cpumanager").then(|| capability.to_owned());
    [format!("kubevirt.io/{capability}")].into_iter().chain(old)
}

/// The properties of a node that HCO and the scheduler examine.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Node {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// The keys of further labels, with values that an inventory doesn't list.
    #[serde(skip)]
    pub other_labels: Vec<String>,
    /// `status.nodeInfo.architecture`; empty if unknown.
    pub architecture: String,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// Whether its taints are stated, so that none is none: an inventory may omit those of the control plane.
    #[serde(skip)]
    pub states_taints: bool,
    /// Whether it offers `devices.kubevirt.io/kvm`; `None` if unknown.
    pub kvm: Option<bool>,
    /// The sizes of its huge pages; `None` if unknown.
    pub hugepages: Option<Vec<String>>,
    /// The names of its devices' resources; `None` if unknown.
    pub resources: Option<Vec<String>>,
    /// The names of the devices' resources in a dump. More may appear: what a plugin offers depends on what the
    /// HyperConverged permits.
    pub devices: Vec<String>,
}

impl Node {
    /// The node with the labels that a kubelet gives every node, unless they are declared.
    #[must_use]
    pub fn with_default_labels(mut self) -> Self {
        let defaults =
            [(ARCHITECTURE_LABEL, self.architecture.as_str()), (OS_LABEL, "linux"), (HOSTNAME_LABEL, &self.name)];
        for (label, value) in defaults {
            if !value.is_empty() && !self.labels.contains_key(label) {
                self.labels.insert(label.to_owned(), value.to_owned());
            }
        }
        // Source: Kubernetes `pkg/kubelet/kubelet_node_status.go`, `initialNode`.
        for (label, old) in [(ARCHITECTURE_LABEL, "beta.kubernetes.io/arch"), (OS_LABEL, "beta.kubernetes.io/os")] {
            if let Some(value) = self.labels.get(label).filter(|_| !self.labels.contains_key(old)).cloned() {
                self.labels.insert(old.to_owned(), value);
            }
        }
        self
    }

    /// Whether it has the label `node-role.kubernetes.io/<role>`.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles().any(|r| r == role)
    }

    /// Its roles, sorted; `master` is the older name of `control-plane`.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        let roles = || self.labels.keys().filter_map(|k| k.strip_prefix(ROLE_LABEL));
        roles().filter(move |role| *role != "master" || roles().all(|other| other != "control-plane"))
    }

    /// Whether it lacks the label of its architecture, which virtual machines' pods select, among the kubelet's labels.
    pub fn lacks_architecture_label(&self) -> bool {
        let has = |label: &str| self.labels.contains_key(label);
        !self.architecture.is_empty() && !has(ARCHITECTURE_LABEL) && has("kubernetes.io/hostname")
    }

    /// The CPU models or features that it offers to guests, sorted; `None` if unknown.
    pub fn offered(&self, family: &str) -> Option<Vec<String>> {
        let labels = self.labels.iter().filter(|(_, value)| *value == "true");
        let names = labels.filter_map(|(key, _)| key.strip_prefix(family)).map(str::to_owned);
        Some(names.collect::<Vec<_>>()).filter(|names| !names.is_empty())
    }

    /// Its [`CAPABILITIES`]; `None` if KubeVirt hasn't labelled it.
    pub fn capabilities(&self) -> Option<Vec<String>> {
        let label_value = |capability: &str| capability_labels(capability).find_map(|label| self.labels.get(&label));
        let is_labelled = self.offered(CPU_MODEL).is_some() || CAPABILITIES.iter().any(|c| label_value(c).is_some());
        let enabled = CAPABILITIES.iter().filter(|c| label_value(c).is_some_and(|value| value == "true"));
        is_labelled.then(|| enabled.map(|c| (*c).to_owned()).collect())
    }

    /// Whether HCO counts it as a control-plane node.
    pub fn is_control_plane(&self) -> bool {
        self.has_role("control-plane") || self.has_role("master")
    }
}

/// `spec.taints[]` of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Taint {
    /// The key.
    pub key: String,
    /// The value, often empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// kubectl's notation.
impl std::fmt::Display for Taint {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, value, effect } = self;
        let equals = if value.is_empty() { "" } else { "=" };
        write!(out, "{key}{equals}{value}:{effect}")
    }
}
