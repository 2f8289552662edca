//! `admission.json`: the checks and mutations of a release's webhooks, with their order and messages.
//!
//! Source: HCO's `pkg/webhooks` of each release branch.

use crate::prelude::*;

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
    /// How the validating webhook treats a warning.
    pub warnings: Warnings,
    /// What the validating webhook checks.
    pub validate: OperationSteps<Check>,
    /// Updates are converted to this version first and checked by its rules.
    #[serde(default)]
    pub update_as: Option<String>,
    /// The name of the certificates' configuration in messages.
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
    /// Gates replaced by fields; the mutating webhook keeps both in step.
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
    /// Sets the annotation for immediate import on each template.
    BindAnnotation,
    /// Sets a template's missing `retentionPolicy` to None.
    RetentionPolicy,
    /// Sets a template's missing `importsToKeep` to 1.
    ImportsToKeep,
    /// Sets `evictionStrategy` from `status.infrastructureHighlyAvailable`.
    EvictionStrategy,
    /// Removes `tuningPolicy: highBurst`.
    DropHighBurst,
    /// Copies the old name of `mediatedDeviceTypes` to the new one.
    MediatedDeviceTypes,
    /// Adds a missing `ksmConfiguration`.
    KsmConfiguration,
    /// Keeps deprecated gates and the fields that replace them in step.
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
    /// Ends validation if neither spec nor annotations changed.
    Unchanged,
    /// Renders the operands.
    Render,
}

/// How warnings are treated.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warnings {
    /// A warning ends validation: later checks are skipped.
    EndValidation,
    /// Warnings are collected, and all checks run.
    Collected,
}

/// How TLS profiles are checked.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsRules {
    /// How `type: Custom` without `custom` is treated.
    pub custom_missing: CustomMissing,
    /// Whether the message about `minTLSVersion` ends with the value.
    pub quotes_min_version: bool,
}

/// How `type: Custom` without `custom` is treated.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CustomMissing {
    /// The TLS check rejects it.
    Rejected,
    /// The TLS check accepts it, and rendering panics.
    Panics,
}

/// How a list of strings is printed in a message.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListStyle {
    /// `[]string{"a"}`
    Go,
    /// `["a"]`
    Json,
}

/// When a gate causes a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateWarningCondition {
    /// Whenever it is set.
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
    /// When it causes the warning.
    pub when: GateWarningCondition,
    /// The warning.
    pub message: String,
}

/// Warnings about the gates of a list; `<name>` in a message is the gate's name as written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListedGates {
    /// Whether names of gates ignore case.
    pub ignores_case: bool,
    /// The gates that the release knows.
    pub known: Vec<String>,
    /// The message about an unknown gate.
    pub unknown: String,
    /// Warnings about gates that became fields of the same name.
    #[serde(default)]
    pub moved: Option<GateMessages>,
    /// Warnings about other deprecated gates.
    pub deprecated: GateMessages,
}

/// Messages about some gates, and when the webhook sends them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateMessages {
    /// The gates.
    pub gates: Vec<String>,
    /// When they are reported.
    pub when: GateWarningCondition,
    /// The message.
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
    /// Whether the field means the opposite of the gate; also the value of an unset field.
    pub opposite: bool,
    /// How many missing parent objects of the field are created, innermost first.
    pub makes_parents: usize,
    /// The warning when the gate is set.
    pub warning: String,
    /// Why gate and field together are rejected.
    pub contradiction: String,
}
