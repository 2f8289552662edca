//! The small tables of a release, typed. Source: HCO's release branch and its manifests.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::{AssumedValue, ShippedBy};

/// What the operator runs on; decides the environment and which operands there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Platform {
    /// OpenShift, with SSP, console, routes and the service CA.
    OpenShift,
    /// Any other Kubernetes.
    Kubernetes,
}

impl Platform {
    /// `OpenShift` or `Kubernetes`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenShift => "OpenShift",
            Self::Kubernetes => "Kubernetes",
        }
    }
}

/// `release.json`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tables {
    /// `1.17`
    pub name: String,
    /// `1.17.4`
    pub version: String,
    /// Versions of the components HCO deploys (`KUBEVIRT_VERSION` → `v1.7.4`).
    pub components: BTreeMap<String, String>,
    /// The HyperConverged API.
    pub hyperconverged: HyperConvergedApi,
    /// Platform → the operator's environment as its published manifests set it.
    pub env: BTreeMap<String, BTreeMap<String, String>>,
    /// HCO's own feature gates.
    pub feature_gates: Vec<FeatureGate>,
    /// What gates do but switching gates of KubeVirt, in words.
    #[serde(default)]
    pub gate_effects: BTreeMap<String, String>,
    /// How KubeVirt's feature gates are made.
    pub kubevirt_feature_gates: KubeVirtFeatureGates,
    /// CDI `spec.config.featureGates`.
    pub cdi_feature_gates: Vec<String>,
    /// Constants of the KubeVirt operand.
    pub kubevirt: KubeVirtConstants,
    /// TLS profiles and cipher names.
    pub tls: Tls,
    /// Where common templates go unless the CR says otherwise.
    pub common_templates_namespace: String,
    /// The distribution's version that it is, where it isn't upstream's.
    #[serde(default)]
    pub shipped_by: Option<ShippedBy>,
    /// The names of the ImageStreams that the vendor's golden images are pulled from.
    #[serde(default)]
    pub image_streams: Vec<String>,
    /// Values that only the vendor's bundle says.
    #[serde(default)]
    pub assumed: Vec<AssumedValue>,
}

impl Tables {
    /// The gates of KubeVirt that one of HCO's decides about, `AlignCPUs` for `alignCPUs`.
    pub fn switched_by(&self, gate: &str) -> Vec<&str> {
        let all = self.kubevirt_feature_gates.conditional.iter();
        let switched = all.filter(|conditional| conditional.when.asks_for(gate));
        switched.map(|conditional| conditional.gate.as_str()).collect()
    }

    /// HCO's gate that decides about one of KubeVirt.
    pub fn switch_of(&self, kubevirt_gate: &str) -> Option<&FeatureGate> {
        let mut known = self.feature_gates.iter();
        known.find(|gate| self.switched_by(&gate.name).contains(&kubevirt_gate))
    }
}

/// Which versions of the HyperConverged there are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HyperConvergedApi {
    /// Versions that are served, `v1beta1` first.
    pub served_versions: Vec<String>,
    /// The version that is stored and that the operator reads.
    pub storage_version: String,
}

/// A feature gate's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
    /// A field took its place.
    #[serde(rename = "deprecated")]
    Deprecated,
    /// Accepted and ignored.
    #[serde(rename = "discontinued")]
    Discontinued,
}

impl Phase {
    /// What it means, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alpha => "alpha (off unless switched on)",
            Self::Beta => "beta (on unless switched off)",
            Self::Ga => "always on",
            Self::Deprecated => "deprecated (a field took its place)",
            Self::Discontinued => "accepted and ignored",
        }
    }
}

/// One of HCO's own feature gates.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FeatureGate {
    /// The gate's name, `alignCPUs`.
    pub name: String,
    /// Its life.
    pub phase: Phase,
}

/// How KubeVirt's `developerConfiguration.featureGates` is made.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KubeVirtFeatureGates {
    /// In every cluster.
    pub always: Vec<String>,
    /// Unless the operator runs with software emulation.
    pub unless_emulation: Vec<String>,
    /// When their condition holds, in this order.
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
        /// What counts when the gate is not set.
        #[serde(rename = "whenUnset")]
        when_unset: bool,
    },
    /// The inner condition does not hold.
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
    /// All of them.
    All {
        /// The inner conditions.
        all: Vec<Self>,
    },
}

impl GateCondition {
    /// Whether one of HCO's gates decides about it.
    fn asks_for(&self, gate: &str) -> bool {
        match self {
            Self::FeatureGate { feature_gate, .. } => feature_gate == gate,
            Self::Not { not } => not.asks_for(gate),
            Self::All { all } => all.iter().any(|inner| inner.asks_for(gate)),
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
    /// Network bindings that every cluster gets.
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
    /// Variables of the environment that may hold the machine type; the first that is not blank.
    pub machine_type_env: Vec<String>,
    /// Where the firmware is.
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
    /// OpenSSL names, in the order of preference.
    pub ciphers: Vec<String>,
    /// `VersionTLS12`
    #[serde(rename = "minTLSVersion")]
    pub min_tls_version: String,
}

/// `behaviour.json`: what was read from the release's code and is not in its manifests.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Behaviour {
    /// The operands' order of work.
    pub work_order: WorkOrder,
    /// Behaviours that only some releases have, by name.
    pub capabilities: BTreeSet<String>,
    /// The IANA names of the ciphers that replace an empty list of a profile, for pods that get them by
    /// number; empty in a release that doesn't hand them on. Source: library-go `crypto.DefaultCiphers`.
    #[serde(default)]
    pub default_ciphers: Vec<String>,
}

/// Operands in the order in which the operator reconciles them; an error ends the walk.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkOrder {
    /// First, on every platform.
    pub all: Vec<String>,
    /// Then, on OpenShift.
    #[serde(rename = "OpenShift")]
    pub openshift: Vec<String>,
    /// Then, elsewhere.
    #[serde(rename = "Kubernetes")]
    pub kubernetes: Vec<String>,
}

impl WorkOrder {
    /// The operands of a platform, in order.
    pub fn operands_of(&self, platform: Platform) -> impl Iterator<Item = &str> {
        let rest = match platform {
            Platform::OpenShift => &self.openshift,
            Platform::Kubernetes => &self.kubernetes,
        };
        self.all.iter().chain(rest).map(String::as_str)
    }
}
