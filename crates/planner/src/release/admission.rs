//! `admission.json`: what the webhooks of a release do, in which order and in which words.
//!
//! Source: HCO's `pkg/webhooks` of each release branch.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The webhooks of a release, by API version (`v1beta1`, `v1`).
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct AdmissionRules {
    versions: BTreeMap<String, VersionRules>,
}

impl AdmissionRules {
    /// The webhooks of an API version; `None` when it is not served.
    pub fn version(&self, version: &str) -> Option<&VersionRules> {
        self.versions.get(version)
    }
}

/// The webhooks of one API version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VersionRules {
    /// What the mutating webhook changes.
    pub mutate: OperationSteps<Mutation>,
    /// What becomes of a warning of the validating webhook.
    pub warnings: Warnings,
    /// What the validating webhook checks.
    pub validate: OperationSteps<Check>,
    /// An update is converted to this version first, and its rules hold.
    #[serde(default)]
    pub update_as: Option<String>,
    /// What messages call the certificates' configuration.
    pub certificate_prefix: String,
    /// How TLS profiles are checked.
    pub tls: TlsRules,
    /// How a list is printed in a message.
    pub prints_lists_as: ListStyle,
    /// The warning about `tuningPolicy: highBurst`.
    #[serde(default)]
    pub tuning_warning: Option<String>,
    /// Warnings about gates where gates are fields.
    #[serde(default)]
    pub gate_warnings: Vec<GateWarning>,
    /// Warnings about gates where gates are a list.
    #[serde(default)]
    pub listed_gates: Option<ListedGates>,
    /// Gates that fields took the place of; the mutating webhook keeps the two in step.
    #[serde(default)]
    pub gates_to_fields: Vec<GateToField>,
}

/// Steps in order, by operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationSteps<T> {
    /// For a new object.
    pub create: Vec<T>,
    /// For a changed one.
    pub update: Vec<T>,
}

/// A change of the mutating webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mutation {
    /// A golden image's template is imported at once (annotation).
    BindAnnotation,
    /// A template's `retentionPolicy` is None.
    RetentionPolicy,
    /// A template's `importsToKeep` is 1.
    ImportsToKeep,
    /// `evictionStrategy` follows `status.infrastructureHighlyAvailable`.
    EvictionStrategy,
    /// `tuningPolicy: highBurst` goes.
    DropHighBurst,
    /// The old name of `mediatedDeviceTypes` is copied to the new one.
    MediatedDeviceTypes,
    /// `ksmConfiguration` is there.
    KsmConfiguration,
    /// Deprecated gates and the fields in their place are kept in step.
    GatesToFields,
}

/// A check of the validating webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Durations of certificates.
    Certificates,
    /// Golden images' templates.
    Templates,
    /// The TLS profile.
    Tls,
    /// Both names of `mediatedDeviceTypes`.
    MediatedDevices,
    /// Required node affinity.
    Affinity,
    /// Warnings about gates.
    GateWarnings,
    /// A warning about `tuningPolicy: highBurst`.
    TuningWarning,
    /// Ends here when neither spec nor annotations changed.
    Unchanged,
    /// The operands are rendered.
    Render,
}

/// What becomes of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warnings {
    /// It ends validation: what comes later is not checked.
    EndValidation,
    /// It is kept, and everything is checked.
    Collected,
}

/// How TLS profiles are checked.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsRules {
    /// `type: Custom` without `custom`.
    pub custom_missing: CustomMissing,
    /// Whether the message about `minTLSVersion` ends with the value.
    pub quotes_min_version: bool,
}

/// What becomes of `type: Custom` without `custom`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CustomMissing {
    /// The TLS check rejects it.
    Rejected,
    /// The TLS check passes it, and rendering panics.
    Panics,
}

/// How a list of strings is printed in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListStyle {
    /// `[]string{"a"}`
    Go,
    /// `["a"]`
    Json,
}

/// When a gate is warned about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateWarningCondition {
    /// Whenever it is there.
    Set,
    /// When an update adds or changes it; always for a new object.
    Changed,
}

/// A warning about one gate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateWarning {
    /// The gate's field below `spec.featureGates`.
    pub gate: String,
    /// When it is warned about.
    pub when: GateWarningCondition,
    /// The warning.
    pub message: String,
}

/// Warnings about the gates of a list; `<name>` in a message is the gate's name as written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListedGates {
    /// Whether upper and lower case are the same in a gate's name.
    pub ignores_case: bool,
    /// The gates that the release knows.
    pub known: Vec<String>,
    /// The message about another gate.
    pub unknown: String,
    /// About gates that became fields of the same name.
    #[serde(default)]
    pub moved: Option<GateMessages>,
    /// About other gates that are deprecated.
    pub deprecated: GateMessages,
}

/// Messages about some gates, and when the webhook sends them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateMessages {
    /// The gates.
    pub gates: Vec<String>,
    /// When.
    pub when: GateWarningCondition,
    /// What.
    pub message: String,
}

/// A deprecated gate and the field that replaces it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateToField {
    /// The gate.
    pub gate: String,
    /// The field, `spec.storage.persistentReservationConfiguration.enabled`.
    pub field: String,
    /// Whether the field means the opposite of the gate. A field that is not set counts as this.
    pub opposite: bool,
    /// How many of the objects around the field are made when they are missing, innermost first.
    pub makes_parents: usize,
    /// The warning when the gate is set.
    pub warning: String,
    /// Why gate and field together are rejected.
    pub contradiction: String,
}
