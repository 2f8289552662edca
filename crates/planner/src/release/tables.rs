//! The small tables of a release. Source: HCO's release branch and its manifests.

use super::{AssumedValue, ShippedBy};
use crate::prelude::*;

/// The operator's platform, which decides the environment and the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Platform {
    /// OpenShift, with SSP, console, routes and the service CA.
    OpenShift,
    /// Any other Kubernetes.
    Kubernetes,
}

hcoplan_kubernetes::names!(Platform { OpenShift = "OpenShift", Kubernetes = "Kubernetes" });

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The file `release.json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tables {
    /// The release line, `1.17`.
    pub name: String,
    /// The patch version, `1.17.4`.
    pub version: String,
    /// Versions of the components HCO deploys (`KUBEVIRT_VERSION` → `v1.7.4`).
    pub components: BTreeMap<String, String>,
    /// The HyperConverged API.
    pub hyperconverged: HyperConvergedApi,
    /// Platform → the operator's environment as its published manifests set it.
    pub env: BTreeMap<String, BTreeMap<String, String>>,
    /// HCO's own feature gates.
    pub feature_gates: Vec<FeatureGate>,
    /// Descriptions of gates' effects other than switching gates of KubeVirt.
    #[serde(default)]
    pub gate_effects: BTreeMap<String, String>,
    /// The rules for KubeVirt's feature gates.
    pub kubevirt_feature_gates: KubeVirtFeatureGates,
    /// Gates of KubeVirt that HCO's gate of the value replaces: it sets a field of KubeVirt instead.
    #[serde(default)]
    pub replaced_gates: BTreeMap<String, String>,
    /// CDI `spec.config.featureGates`.
    pub cdi_feature_gates: Vec<String>,
    /// Constants of the KubeVirt operand.
    pub kubevirt: KubeVirtConstants,
    /// TLS profiles and cipher names.
    pub tls: Tls,
    /// The default namespace of common templates.
    pub common_templates_namespace: String,
    /// Affinity and tolerations of the operators' deployments, by name. Source: the ClusterServiceVersion.
    #[serde(default)]
    pub operator_placements: BTreeMap<String, Value>,
    /// The distribution's version; `None` for upstream.
    #[serde(default)]
    pub shipped_by: Option<ShippedBy>,
    /// The names of the ImageStreams that the vendor's golden images are pulled from.
    #[serde(default)]
    pub image_streams: Vec<String>,
    /// Assumed values that only the vendor's bundle has.
    #[serde(default)]
    pub assumed: Vec<AssumedValue>,
}

impl Tables {
    /// The KubeVirt gates that a gate of HCO switches, `AlignCPUs` for `alignCPUs`.
    pub fn switched_by(&self, gate: &str) -> Vec<&str> {
        let all = self.kubevirt_feature_gates.conditional.iter();
        let switched = all.filter(|conditional| conditional.when.depends_on(gate));
        switched.map(|conditional| conditional.gate.as_str()).collect()
    }
}

/// The API versions of the HyperConverged.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HyperConvergedApi {
    /// Versions that are served, `v1beta1` first.
    pub served_versions: Vec<String>,
    /// The version that is stored and that the operator reads.
    pub storage_version: String,
}

impl HyperConvergedApi {
    /// The newest served version.
    pub fn newest_version(&self) -> &str {
        self.served_versions.last().map_or("", String::as_str)
    }
}

/// A feature gate's phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Off unless switched on.
    #[serde(rename = "alpha")]
    Alpha,
    /// On unless switched off.
    #[serde(rename = "beta")]
    Beta,
    /// Always on.
    #[serde(rename = "GA")]
    Ga,
    /// Replaced by a field.
    #[serde(rename = "deprecated")]
    Deprecated,
    /// Accepted and ignored.
    #[serde(rename = "discontinued")]
    Discontinued,
}

hcoplan_kubernetes::names!(Phase {
    Alpha = "alpha (off unless switched on)",
    Beta = "beta (on unless switched off)",
    Ga = "always on",
    Deprecated = "deprecated (replaced by a field)",
    Discontinued = "ignored",
});

/// One of HCO's own feature gates.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeatureGate {
    /// The gate's name, `alignCPUs`.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
}

/// The rules for KubeVirt's `developerConfiguration.featureGates`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KubeVirtFeatureGates {
    /// Enabled in every cluster.
    pub always: Vec<String>,
    /// Enabled unless the operator runs with software emulation.
    pub unless_emulation: Vec<String>,
    /// Enabled under a condition, in this order.
    pub conditional: Vec<ConditionalGate>,
    /// Whether the list is sorted.
    pub sorted: bool,
    /// KubeVirt's beta gates; those that are not enabled are rendered as disabled.
    pub beta: Option<Vec<String>>,
}

/// A KubeVirt gate with its condition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionalGate {
    /// KubeVirt's gate.
    pub gate: String,
    /// When it is enabled.
    pub when: GateCondition,
}

/// When a KubeVirt gate is enabled.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum GateCondition {
    /// An HCO gate is on.
    FeatureGate {
        /// HCO's gate.
        #[serde(rename = "featureGate")]
        feature_gate: String,
        /// The state of the gate if it isn't set.
        #[serde(rename = "whenUnset")]
        when_unset: bool,
    },
    /// The inner condition isn't met.
    Not {
        /// The inner condition.
        not: Box<Self>,
    },
    /// An annotation of the HyperConverged has exactly this value.
    Annotation {
        /// The annotation.
        annotation: String,
        /// Its value.
        equals: String,
    },
    /// Some workload node has this architecture.
    WorkloadArchitecture {
        /// The architecture.
        #[serde(rename = "workloadArchitecturesContain")]
        architecture: String,
    },
    /// A list of the CR has an element.
    NonEmpty {
        /// The field.
        #[serde(rename = "nonEmpty")]
        non_empty: String,
    },
    /// A field of the CR is set.
    Set {
        /// The field.
        set: String,
    },
    /// A field of the CR is not `false`.
    TrueOrUnset {
        /// The field.
        #[serde(rename = "trueOrUnset")]
        true_or_unset: String,
    },
    /// A Deployment that HCO waits for is ready.
    StatusConditionTrue {
        /// The condition of the HyperConverged's status.
        #[serde(rename = "statusConditionTrue")]
        condition: String,
    },
    /// All inner conditions are met.
    All {
        /// The inner conditions.
        all: Vec<Self>,
    },
}

impl GateCondition {
    /// Whether it depends on a gate of HCO.
    fn depends_on(&self, gate: &str) -> bool {
        match self {
            Self::FeatureGate { feature_gate, .. } => feature_gate == gate,
            Self::Not { not } => not.depends_on(gate),
            Self::All { all } => all.iter().any(|inner| inner.depends_on(gate)),
            _ => false,
        }
    }
}

/// Constants of the KubeVirt operand.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KubeVirtConstants {
    /// CPU models that are always obsolete.
    #[serde(rename = "obsoleteCPUModels")]
    pub obsolete_cpu_models: BTreeSet<String>,
    /// Network bindings of every cluster.
    pub network_binding: Value,
    /// Network bindings that the passt annotation adds.
    pub passt_network_binding: Option<Value>,
    /// `tuningPolicy: highBurst`.
    pub high_burst: Option<RateLimit>,
    /// Architecture → machine types.
    pub architectures: BTreeMap<String, Architecture>,
}

/// A client's rate limit.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct RateLimit {
    /// Queries per second.
    pub qps: f32,
    /// Burst.
    pub burst: i64,
}

/// KubeVirt `architectureConfiguration.<architecture>`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Architecture {
    /// Environment variables with the machine type; the first that isn't blank is used.
    pub machine_type_env: Vec<String>,
    /// The path of the firmware.
    pub ovmf_path: Option<String>,
    /// Machine types that may be emulated.
    pub emulated_machines: Vec<String>,
}

/// TLS profiles and cipher names.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tls {
    /// `Old`, `Intermediate`, `Modern`.
    pub profiles: BTreeMap<String, Profile>,
    /// OpenSSL's name → IANA's.
    pub openssl_to_iana: BTreeMap<String, String>,
    /// Go's cipher names → their numbers.
    pub go_cipher_ids: BTreeMap<String, u32>,
    /// Go's version names → their numbers.
    pub go_version_ids: BTreeMap<String, u32>,
    /// Cipher names that the operator accepts from the cluster's APIServer.
    pub valid_cipher_names: Vec<String>,
}

/// One named TLS profile.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    /// OpenSSL names in order of preference.
    pub ciphers: Vec<String>,
    /// The minimum version, `VersionTLS12`.
    #[serde(rename = "minTLSVersion")]
    pub min_tls_version: String,
}

/// `behaviour.json`: behaviour read from the release's code that isn't in its manifests.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Behaviour {
    /// The operands' order of work.
    pub work_order: WorkOrder,
    /// Capabilities that only some releases have, by name.
    pub capabilities: BTreeSet<String>,
    /// The IANA names of the ciphers that replace a profile's empty list, for pods that get ciphers by number; empty if
    /// the release doesn't pass them. Source: library-go `crypto.DefaultCiphers`.
    #[serde(default)]
    pub default_ciphers: Vec<String>,
}

/// Operands in the operator's order of work; an error ends it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkOrder {
    /// The first operands, on every platform.
    pub all: Vec<String>,
    /// The next ones on OpenShift.
    #[serde(rename = "OpenShift")]
    pub openshift: Vec<String>,
    /// The next ones on plain Kubernetes.
    #[serde(rename = "Kubernetes")]
    pub kubernetes: Vec<String>,
}

impl WorkOrder {
    /// The operands of a platform, in order.
    pub fn operands_of(&self, platform: Platform) -> impl Iterator<Item = &str> + Clone {
        let rest = match platform {
            Platform::OpenShift => &self.openshift,
            Platform::Kubernetes => &self.kubernetes,
        };
        self.all.iter().chain(rest).map(String::as_str)
    }
}
