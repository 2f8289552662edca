//! The result of admission: a verdict, its causes, and the operator's bugs that affected it.

use crate::cause::{Cause, CauseKind, Stage};
use crate::hyperconverged::Submitted;
use crate::hyperconverged::version_of;
use crate::inventory::Inventory;
use crate::inventory::UpdateMethod;
use crate::jsonpatch::Failure;
use crate::prelude::*;
use crate::release::Check;
use crate::release::Release;
use hcoplan_kubernetes::schema::{Mistyped, Unmergeable, ViolationKind};

/// Why an object is rejected; a finding's rule follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No such kind or version.
    UnknownKind,
    /// `metadata` does not decode.
    MetadataDecode,
    /// The CRD's schema: the first violation.
    Schema(#[serde(skip)] ViolationKind),
    /// The server can't apply the manifest: it has a field that the schema doesn't know or that only the server writes.
    UnknownField,
    /// The object does not decode into the operator's Go types.
    GoDecode,
    /// A deprecated gate and the field that replaces it contradict each other.
    GateContradictsField,
    /// The mutating webhook's own patch cannot be applied.
    MutationFails,
    /// The namespace isn't the operator's.
    Namespace,
    /// A certificate's duration is below ten minutes.
    CertificateTooShort,
    /// Durations of certificates are in the wrong order.
    CertificateOrder,
    /// A template's enable annotation is neither true nor false.
    TemplateEnableAnnotation,
    /// An enabled template has no spec.
    TemplateWithoutSpec,
    /// `type: Custom` without `custom`.
    TlsCustomMissing,
    /// The webhook panics: there is neither `custom` nor a profile named `type`, in the HyperConverged's profile or
    /// else the APIServer's.
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
    /// An operand can't be rendered: a jsonpatch annotation, the tuning annotation, a duplicate template.
    Render,
    /// An operand CR that an update is tried on is missing.
    OperandMissing,
}

impl Reason {
    /// The stage that usually rejects for this reason.
    fn stage(self) -> Stage {
        match self {
            Self::UnknownKind | Self::MetadataDecode | Self::Schema(_) | Self::UnknownField => Stage::Schema,
            Self::GoDecode | Self::GateContradictsField | Self::MutationFails => Stage::Mutating,
            _ => Stage::Validating,
        }
    }
}

/// A rejection with its reason and locations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// The cluster's message.
    pub message: String,
    /// The locations that cause it.
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

    /// Whether both are about the same part of the document.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let is_same = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
        self.message == other.message
            || self.causes.iter().any(|a| other.causes.iter().any(|b| is_same(&a.path, &b.path)))
    }

    /// Adds a location with the whole message.
    pub(super) fn at(mut self, path: Path) -> Self {
        self.causes.push(Cause::new(self.reason.stage(), path, CauseKind::OfRejection, self.message.as_str()));
        self
    }

    pub(super) fn at_key(self, path: Path) -> Self {
        let mut rejection = self.at(path);
        rejection.causes.iter_mut().for_each(|cause| cause.in_key = true);
        rejection
    }
}

/// A bug of the release's operator that the document triggers.
#[derive(Debug, Clone)]
pub struct OperatorBug {
    /// The kind of bug.
    pub kind: OperatorBugKind,
    /// The part of the document that triggers it.
    pub path: Path,
    /// The warning that ended validation, or the error or panic.
    pub message: String,
    /// The skipped rejection; it fails later instead.
    pub hidden: Option<Rejection>,
    /// The checks that the warning skipped.
    pub unchecked: Vec<Check>,
}

/// Kinds of operator bugs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorBugKind {
    /// A warning ended validation and skipped the later checks (1.16 to 1.18).
    WarningEndsValidation,
    /// The webhook panics instead of rejecting.
    Panic,
    /// The mutating webhook's patch can't be applied.
    BrokenMutation,
}

impl Admission {
    /// The message with which the document is rejected; `None` if it isn't.
    pub fn rejection(&self) -> Option<&str> {
        (!self.accepted).then_some(&self.message)
    }

    /// The stage that rejects the document.
    pub fn stage(&self) -> Option<Stage> {
        self.causes.first().map(|cause| cause.stage)
    }
}

/// The cluster's verdict on a document.
#[derive(Debug, Clone, Default)]
pub struct Admission {
    /// Whether the document would be stored.
    pub accepted: bool,
    /// Why it is rejected.
    pub reason: Option<Reason>,
    /// The cluster's message; empty when accepted.
    pub message: String,
    /// Warnings that kubectl would print, in order.
    pub warnings: Vec<String>,
    /// The locations that cause the rejection: at least one of a rejected document.
    pub causes: Vec<Cause>,
    /// Where a jsonpatch annotation is why: the annotation, and what fails inside it.
    pub patch: Option<Box<(&'static str, Failure)>>,
    /// Fields that the schema doesn't know, which are removed.
    pub pruned: Vec<PrunedField>,
    /// The object as it would be stored, without status.
    pub stored: Option<Value>,
    /// The object as the validating webhook read it, if it had to and the operator reads the same object.
    pub read: Option<Submitted>,
    /// The object as stored without the webhook or policy that rejected it. `None` if schema or Go types reject it.
    pub forced: Option<Value>,
    /// Operator bugs that the document triggers.
    pub holes: Vec<OperatorBug>,
    /// Further rejections once this one is repaired, in the order of the checks.
    pub further: Vec<Rejection>,
}

impl Admission {
    /// The rejection of a manifest that the server can't apply; also the fields that other ways to apply it drop.
    pub(crate) fn unmergeable(release: &Release, manifest: &Value, why: Unmergeable) -> Self {
        let Unmergeable { path, message, mistake } = why;
        let reason = match mistake {
            Mistyped::UnknownField | Mistyped::Owners => Reason::UnknownField,
            Mistyped::WrongType => Reason::Schema(ViolationKind::WrongType),
            Mistyped::Repeated => Reason::Schema(ViolationKind::Duplicate),
        };
        let kind = match reason {
            Reason::Schema(kind) => CauseKind::Violation(kind),
            _ => CauseKind::OfRejection,
        };
        let in_key = reason == Reason::UnknownField;
        let causes = vec![Cause { in_key, ..Cause::new(Stage::Schema, path, kind, message.as_str()) }];
        let schema = release.hyperconverged_schema(version_of(manifest));
        let pruned = schema.map(|schema| schema.prune(&mut manifest.clone())).unwrap_or_default();
        Self { reason: Some(reason), message, causes, pruned, ..Self::default() }
    }

    /// The rejection of a new object that is applied server-side, if the server can't apply it.
    pub(crate) fn of_new(release: &Release, inventory: &Inventory, manifest: &Value) -> Option<Self> {
        if inventory.update != UpdateMethod::ServerSide {
            return None;
        }
        let schema = release.hyperconverged_schema(version_of(manifest))?;
        schema.unmergeable(manifest).map(|why| Self::unmergeable(release, manifest, why))
    }

    /// The same admission with one of `further` as the reason for the rejection.
    #[must_use]
    pub fn with_reason(&self, rejection: &Rejection) -> Self {
        Self { further: Vec::new(), ..self.clone() }.rejected(rejection.clone())
    }

    /// The admission with a rejection.
    pub(super) fn rejected(self, rejection: Rejection) -> Self {
        let Rejection { reason, message, causes, patch, .. } = rejection;
        Self { reason: Some(reason), message, causes, patch, ..self }
    }
}
