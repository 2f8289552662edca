//! Why an object is rejected: one type for a HyperConverged, a machine, a disk and an operand.

use crate::prelude::*;
use hcoplan_kubernetes::go::Wants;
use hcoplan_kubernetes::schema::ViolationKind;

/// The stage that rejects an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The API server: kind, version, metadata, and the keywords of the CRD's schema.
    Schema,
    /// The API server: the rules of the CRD (`x-kubernetes-validations`), when nothing else is violated.
    Cel,
    /// The operator's mutating webhook, and what it applies.
    Mutating,
    /// The operator's validating webhook, and the policy that it installs.
    Validating,
    /// KubeVirt's webhooks for the instance, when the machine starts.
    Start,
    /// The API server, for the instance's pod.
    Pod,
    /// The API server, for a disk that the machine's template makes.
    Disk,
    /// virt-handler and virt-launcher, which set up the network and define libvirt's domain.
    Domain,
}

hcoplan_kubernetes::names!(Stage {
    Schema = "schema",
    Cel = "cel",
    Mutating = "mutating",
    Validating = "validating",
    Start = "start",
    Pod = "pod",
    Disk = "disk",
    Domain = "domain",
});

/// What is wrong at a location.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// The schema of a HyperConverged forbids it.
    Violation(#[serde(skip)] ViolationKind),
    /// The operator's Go types can't hold the value.
    Decode(#[serde(skip)] Wants),
    /// The structure doesn't have the field.
    UnknownField,
    /// The type or the format is wrong.
    Malformed,
    /// The field is required.
    Missing,
    /// The value isn't one of these.
    Unsupported(Vec<String>),
    /// The value is too small, too large, or not a required multiple.
    OutOfRange,
    /// Another element has the same value.
    Duplicate(#[serde(skip)] Path),
    /// It contradicts another field.
    Contradicts(#[serde(skip)] Path),
    /// It requires another field.
    Needs(#[serde(skip)] Path),
    /// Exactly one alternative must be set.
    NotExactlyOne,
    /// It refers to a missing object of this name; the second part lists some of the existing ones.
    Dangling(String, Vec<String>),
    /// A feature gate of KubeVirt is off.
    GateOff(&'static str),
    /// Its architecture doesn't support it.
    Architecture(String),
    /// KubeVirt no longer supports it.
    Removed,
    /// The instance type also sets it.
    Instancetype,
    /// The machine doesn't satisfy the preference.
    Preference,
    /// See the rejection's [`Reason`](crate::admission::Reason).
    OfRejection,
}

impl CauseKind {
    /// Whether a patch may repair it that adds fields or replaces a placeholder.
    pub fn may_be_patched(&self) -> bool {
        matches!(
            self,
            Self::Missing
                | Self::Malformed
                | Self::Contradicts(_)
                | Self::Needs(_)
                | Self::NotExactlyOne
                | Self::Dangling(..)
                | Self::Instancetype
                | Self::Preference
        )
    }
}

/// One location that causes a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cause {
    /// The stage that rejects.
    pub stage: Stage,
    /// Path in the document as written, also of a missing field.
    pub path: Path,
    /// What is wrong there.
    pub kind: CauseKind,
    /// The server's own message about this location.
    pub message: String,
    /// Whether the key is wrong, not the value.
    pub in_key: bool,
}

impl Cause {
    /// A wrong or missing value.
    pub(crate) fn new(stage: Stage, path: Path, kind: CauseKind, message: impl Into<String>) -> Self {
        Self { stage, path, kind, message: message.into(), in_key: false }
    }

    /// Who rejects a machine and why, in `name can't start, <clause>` from [`Stage::Start`] on.
    pub fn clause(&self, name: &str) -> String {
        let who = match self.stage {
            Stage::Schema | Stage::Cel => "the API server rejects {}",
            Stage::Mutating | Stage::Validating => "KubeVirt rejects {}",
            Stage::Start => "KubeVirt rejects its instance",
            Stage::Pod => "the API server rejects its pod",
            Stage::Disk => "the API server rejects its disk",
            Stage::Domain => "KubeVirt can't define its domain",
        };
        format!("{}: {}", who.replace("{}", name), self.message)
    }
}
