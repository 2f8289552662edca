//! The result of admission: a verdict, its causes, and the operator's bugs that affected it.

use hcoplan_kubernetes::go::Wants;
use hcoplan_kubernetes::schema::{Mistyped, PrunedField, Unmergeable, ViolationKind};
use hcoplan_yaml::Path;
use serde_json::Value;

use crate::hyperconverged::Submitted;
use crate::jsonpatch::Failure;
use crate::release::Check;

/// Where an API server rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Kind, version, metadata, and the keywords of the CRD's schema.
    Schema,
    /// Only rules of the CRD (`x-kubernetes-validations`) are broken.
    Cel,
    /// The mutating webhook.
    Mutating,
    /// The namespace policy and the validating webhook.
    Validating,
}

impl Stage {
    /// `schema`, `cel`, `mutating` or `validating`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Cel => "cel",
            Self::Mutating => "mutating",
            Self::Validating => "validating",
        }
    }
}

/// What was examined when it was rejected; a finding's rule follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No such kind or version.
    UnknownKind,
    /// `metadata` does not decode.
    MetadataDecode,
    /// The CRD's schema, by the first violation.
    Schema(ViolationKind),
    /// The server can't apply the manifest: the schema doesn't know a field of it.
    UnknownField,
    /// The object does not decode into the operator's Go types.
    GoDecode,
    /// A deprecated gate and the field that replaces it contradict each other.
    GateContradictsField,
    /// The mutating webhook's own patch cannot be applied.
    MutationFails,
    /// Another namespace than the operator's.
    Namespace,
    /// A certificate's duration is below ten minutes.
    CertificateTooShort,
    /// Durations of certificates in the wrong order.
    CertificateOrder,
    /// A template's enable annotation is neither true nor false.
    TemplateEnableAnnotation,
    /// An enabled template without a spec.
    TemplateWithoutSpec,
    /// `type: Custom` without `custom`.
    TlsCustomMissing,
    /// There is neither `custom` nor a profile of the name in `type`, in the HyperConverged's profile or,
    /// where it has none, the APIServer's: the webhook panics.
    TlsProfileUnknown,
    /// `custom.minTLSVersion` is missing or unknown.
    TlsMinVersion,
    /// No cipher that HTTP/2 needs.
    TlsHttp2Cipher,
    /// Ciphers together with TLS 1.3.
    TlsCiphersWithTls13,
    /// Both names of `mediatedDeviceTypes`, with different lists.
    MediatedDevicesBothNames,
    /// Required node affinity that does not parse.
    Affinity,
    /// An operand cannot be rendered: a jsonpatch annotation, the tuning annotation, a template
    /// that is there twice.
    Render,
    /// An operand CR that an update is tried on isn't there.
    OperandMissing,
}

/// A place in the document that the rejection comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Where, in the document as written; what is missing has its own place.
    pub path: Path,
    /// The part of the message that is about this place.
    pub message: String,
    /// What is wrong with it.
    pub kind: CauseKind,
    /// Whether the key is meant and not the value.
    pub in_key: bool,
}

/// What is wrong with the value at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CauseKind {
    /// The schema forbids it.
    Schema(ViolationKind),
    /// The operator's Go types can't hold it.
    Decode(Wants),
    /// What the rejection's [`Reason`] says.
    Other,
}

/// Why it is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What was examined.
    pub reason: Reason,
    /// The cluster's words.
    pub message: String,
    /// Where they come from.
    pub causes: Vec<Cause>,
    /// Where a jsonpatch annotation is why: the annotation, and what fails inside it.
    pub patch: Option<Box<(&'static str, Failure)>>,
    /// Whether the webhook panics instead of answering.
    pub panics: bool,
}

impl Rejection {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), causes: Vec::new(), patch: None, panics: false }
    }

    /// Whether it is about the same part of the document as another one.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let is_same = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
        self.message == other.message
            || self.causes.iter().any(|a| other.causes.iter().any(|b| is_same(&a.path, &b.path)))
    }

    /// With the whole message at one place.
    pub(super) fn at(mut self, path: Path) -> Self {
        self.causes.push(Cause { path, message: self.message.clone(), kind: CauseKind::Other, in_key: false });
        self
    }

    pub(super) fn at_key(mut self, path: Path) -> Self {
        self.causes.push(Cause { path, message: self.message.clone(), kind: CauseKind::Other, in_key: true });
        self
    }
}

/// A hole of the release itself that the document fell into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorBug {
    /// Which one.
    pub kind: OperatorBugKind,
    /// What in the document opens it.
    pub path: Path,
    /// The warning that ended validation, or what the webhook died of.
    pub message: String,
    /// What would have been rejected behind it, and will fail later instead.
    pub hidden: Option<Rejection>,
    /// The checks behind the warning that ended validation.
    pub unchecked: Vec<Check>,
}

/// The holes of the four releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorBugKind {
    /// A warning ended validation (1.16 to 1.18): what comes later was not checked.
    WarningEndsValidation,
    /// The webhook panics instead of rejecting.
    Panic,
    /// The mutating webhook asks for a change that cannot be made.
    BrokenMutation,
}

/// What the cluster would do with the document.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// Whether it would be stored.
    pub accepted: bool,
    /// Where it is rejected.
    pub stage: Option<Stage>,
    /// What was examined when it was rejected.
    pub reason: Option<Reason>,
    /// The cluster's words; empty when accepted.
    pub message: String,
    /// What kubectl would print as warnings, in order.
    pub warnings: Vec<String>,
    /// Where the rejection comes from.
    pub causes: Vec<Cause>,
    /// Where a jsonpatch annotation is why: the annotation, and what fails inside it.
    pub patch: Option<Box<(&'static str, Failure)>>,
    /// Fields that the schema does not know.
    pub pruned: Vec<PrunedField>,
    /// The object as it would be stored, without status.
    pub stored: Option<Value>,
    /// What the validating webhook read of it, where it had to and the operator reads the same
    /// object.
    pub read: Option<Submitted>,
    /// The object as far as it came when a webhook or policy rejected it: what would be stored
    /// without that webhook. `None` where schema or Go types reject it.
    pub forced: Option<Value>,
    /// Holes of the release that the document fell into.
    pub holes: Vec<OperatorBug>,
    /// What would reject it next, once the reason above is removed: in the order of the checks.
    pub further: Vec<(Stage, Rejection)>,
}

impl Admission {
    /// The rejection of a manifest that the server can't apply.
    pub(crate) fn unmergeable(Unmergeable { path, message, mistake }: Unmergeable) -> Self {
        let reason = match mistake {
            Mistyped::UnknownField => Reason::UnknownField,
            Mistyped::WrongType => Reason::Schema(ViolationKind::WrongType),
            Mistyped::Repeated => Reason::Schema(ViolationKind::Duplicate),
        };
        let message = format!("failed to create typed patch object: {message}");
        let kind = match reason {
            Reason::Schema(kind) => CauseKind::Schema(kind),
            _ => CauseKind::Other,
        };
        let in_key = mistake == Mistyped::UnknownField;
        let causes = vec![Cause { path, message: message.clone(), kind, in_key }];
        Self { stage: Some(Stage::Schema), reason: Some(reason), message, causes, ..Self::default() }
    }

    /// The admission with another reason for the rejection, one of `further`.
    #[must_use]
    pub fn with_reason(&self, (stage, rejection): &(Stage, Rejection)) -> Self {
        Self {
            stage: Some(*stage),
            reason: Some(rejection.reason),
            message: rejection.message.clone(),
            causes: rejection.causes.clone(),
            patch: rejection.patch.clone(),
            further: Vec::new(),
            ..self.clone()
        }
    }
}
