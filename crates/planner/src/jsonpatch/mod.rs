//! The jsonpatch annotations: applies patches like the operator.
//!
//! The operator renders an operand, prints it as JSON, patches that, and decodes the result *onto the object it had
//! rendered*: a removed key keeps its old value, a list element inherits fields of its predecessor at the index,
//! unknown keys vanish. Source: HCO `controllers/operands` `ApplyPatchToSpec`, the same in all four releases.

mod apply;
mod decode;
mod document;
mod effect;
mod json;
mod node;
mod reach;
mod shared;
mod spans;

#[cfg(test)]
mod tests;

use crate::prelude::*;

pub use decode::{Op, Operation, Spans, count, decode, only_spec, segments};
pub use effect::{ChangedPlace, Effect, Effects, Loss, LossReason, MAX_EXAMINED, changes, effects};
pub use shared::write_through;
pub use spans::{DuplicateKey, Part, duplicate_keys, removal_range, removal_ranges};

use document::Document;
use hcoplan_diagnostics::source::Span;
use hcoplan_kubernetes::go::DecodeError;
use node::Node;
use reach::PatchScope;

/// An annotation of the HyperConverged and the operand that it patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotation {
    /// The annotation's key.
    pub name: &'static str,
    /// The operand's kind.
    pub kind: &'static str,
    /// The operand's API version, as HCO writes it.
    pub api_version: &'static str,
}

/// All jsonpatch annotations, in the order in which the operator renders their operands. Source: HCO
/// `controllers/common/consts.go`, the same in all four releases.
pub const ANNOTATIONS: [Annotation; 4] = [
    Annotation { name: "kubevirt.kubevirt.io/jsonpatch", kind: "KubeVirt", api_version: "kubevirt.io/v1" },
    Annotation {
        name: "containerizeddataimporter.kubevirt.io/jsonpatch",
        kind: "CDI",
        api_version: "cdi.kubevirt.io/v1beta1",
    },
    Annotation {
        name: "networkaddonsconfigs.kubevirt.io/jsonpatch",
        kind: "NetworkAddonsConfig",
        api_version: "networkaddonsoperator.network.kubevirt.io/v1",
    },
    Annotation { name: "ssp.kubevirt.io/jsonpatch", kind: "SSP", api_version: "ssp.kubevirt.io/v1beta3" },
];

/// The annotation that patches an operand's kind, if there is one.
pub fn annotation_of(kind: &str) -> Option<&'static str> {
    let found = ANNOTATIONS.iter().find(|a| a.kind == kind);
    found.map(|a| a.name)
}

/// Whether an annotation of this name patches an operand.
pub fn is_annotation(name: &str) -> bool {
    ANNOTATIONS.iter().any(|a| a.name == name)
}

/// The number of operations per annotation as `kubevirt_hco_unsafe_modifications` counts them, sorted by the
/// annotation's name; 0 if it is absent or can't be decoded.
pub type OperationCounts = [(&'static str, usize)];

/// Counts the operations of each annotation.
pub fn counts(annotations: &BTreeMap<String, String>) -> Vec<(&'static str, usize)> {
    let names = ANNOTATIONS.iter().map(|a| a.name);
    let count = |name| annotations.get(name).map_or(0, |text: &String| count(text));
    let mut counts: Vec<_> = names.map(|name| (name, count(name))).collect();
    counts.sort_unstable();
    counts
}

/// An operand that an annotation patched, as Go prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct Patched {
    /// The operand's kind.
    pub kind: &'static str,
    /// The part that the annotation can change, see [`Patch`].
    pub part: PatchedPart,
    /// The whole operand before.
    pub before: Arc<Value>,
    /// The whole operand after.
    pub after: Arc<Value>,
}

/// The part of an operand that a patch can change, as the operator prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchedPart {
    /// The part before the patch.
    pub before: Value,
    /// The part after the patch.
    pub after: Value,
}

/// Why a patch fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The text isn't JSON (or nests deeper than hcoplan reads).
    NotJson,
    /// The JSON isn't a list of objects.
    NotAPatch,
    /// An operation has an unknown `op`, or lacks a member that its `op` needs.
    Operation(OperationPart),
    /// A path doesn't start with `/spec/`.
    OutsideSpec,
    /// The container of `path` or `from` doesn't exist.
    MissingPath,
    /// The container exists, but not its field.
    MissingField,
    /// An index is invalid or outside the list.
    Index,
    /// A `test` found another value.
    TestFailed,
    /// The operand's Go type can't hold the result.
    WrongType,
    /// The operator's patch library panics; the operator recovers and fails.
    NilDereference,
    /// The document exceeds hcoplan's limits; the operator has no such limit.
    TooBig,
}

/// The part of an operation that is missing or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationPart {
    /// `op`.
    Op,
    /// `path`.
    Path,
    /// `from`.
    From,
    /// `value`.
    Value,
}

/// Why a patch could not be applied. A patch applies as a whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The operator's message; from [`decode`] and [`only_spec`] without the prefix that [`Failure::in_annotation`]
    /// adds.
    pub message: String,
    /// Index of the failed operation, if it is one.
    pub operation: Option<usize>,
    /// The failed token, in bytes of the annotation's value.
    pub span: Option<Span>,
    /// The kind of failure.
    pub kind: FailureKind,
}

impl Failure {
    /// Prefixes the message as the operator does for an annotation.
    #[must_use]
    pub fn in_annotation(self, annotation: &str) -> Self {
        let message = self.message;
        Self { message: format!("invalid jsonPatch in the {annotation} annotation: {message}"), ..self }
    }
}

/// Applies the patch `text` of `annotation` like the operator. `operand` is the whole rendered object as Go prints it;
/// so is the result.
///
/// # Errors
/// The operator rejects the patch; the error has the operator's message.
pub fn patch(types: &GoTypes, ty: &GoType, operand: &Value, annotation: &str, text: &str) -> Result<Value, Failure> {
    let patch = Patch::read(annotation, text)?;
    let part = patch.apply(types, ty, patch.part(types, ty, operand))?;
    Ok(patch.put_back(types, ty, operand, part.after))
}

/// A parsed patch. It only changes one part of the operand: equal parts give equal results in all operands.
#[derive(Debug)]
pub struct Patch {
    annotation: String,
    operations: Vec<Operation>,
    reach: PatchScope,
}

impl Patch {
    /// Parses an annotation.
    ///
    /// # Errors
    /// The text isn't a patch, or an operation's path is outside `spec`.
    pub fn read(annotation: &str, text: &str) -> Result<Self, Failure> {
        let read = decode(text).and_then(|operations| {
            only_spec(&operations)?;
            Ok(operations)
        });
        let operations = read.map_err(|failure| failure.in_annotation(annotation))?;
        Ok(Self { annotation: annotation.to_owned(), reach: PatchScope::of(&operations), operations })
    }

    /// The part of an operand that it can change.
    pub fn part(&self, types: &GoTypes, ty: &GoType, operand: &Value) -> Value {
        self.reach.take(types, ty, operand)
    }

    /// The part after the patch.
    ///
    /// # Errors
    /// The operator rejects the patch; the error has the operator's message.
    pub fn apply(&self, types: &GoTypes, ty: &GoType, part: Value) -> Result<PatchedPart, Failure> {
        let applied = apply(types, ty, part, &self.operations);
        applied.map_err(|failure| failure.in_annotation(&self.annotation))
    }

    /// The operand with the patched part.
    pub fn put_back(&self, types: &GoTypes, ty: &GoType, operand: &Value, after: Value) -> Value {
        self.reach.put_back(types, ty, operand, after)
    }
}

/// Applies operations to the part of an operand that they can change.
fn apply(types: &GoTypes, ty: &GoType, part: Value, operations: &[Operation]) -> Result<PatchedPart, Failure> {
    let base = as_document(types, ty, part);
    let mut document = Document::new(&base);
    for (index, operation) in operations.iter().enumerate() {
        document.apply(operation, index)?;
    }
    let merged = merge(types, ty, &base, document.root());
    let merged = merged.map_err(|error| {
        let added = |path: &[String]| added(&base, operations, path);
        let named = types.decode_extended(&document.root().to_json(), ty, &added).err().unwrap_or(error);
        let named = DecodeError { message: as_written(named.message, document.root()), ..named };
        attribute_failure(types, ty, &base, operations, named)
    })?;
    drop(document);
    Ok(PatchedPart { before: base, after: merged })
}

/// The document that the operator patches: the object with a status, but without API version, kind and owner, which it
/// sets later.
fn as_document(types: &GoTypes, ty: &GoType, mut base: Value) -> Value {
    if let Value::Object(entries) = &mut base {
        entries.remove("apiVersion");
        entries.remove("kind");
        if let Some(Value::Object(metadata)) = entries.get_mut("metadata") {
            metadata.remove("ownerReferences");
        }
    }
    types.normalise(&mut base, ty);
    base
}

/// Decodes the patched document onto the rendered object.
fn merge(types: &GoTypes, ty: &GoType, base: &Value, patched: &Node) -> Result<Value, DecodeError> {
    let merged = types.merge(base, &patched.to_json(), ty);
    merged.map_err(|error| DecodeError { message: as_written(error.message, patched), ..error })
}

/// Which operation added a key at a path; `None` for a key of the rendered object. Added keys are the object's last.
fn added<'v>(base: &'v Value, operations: &[Operation], path: &[String]) -> Option<usize> {
    let key = |value: &'v Value, segment: &String| match value {
        Value::Object(entries) => entries.get(segment),
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => None,
    };
    if path.iter().try_fold(base, key).is_some() {
        return None;
    }
    let is_it = operations.iter().position(|operation| operation.segments() == path);
    is_it.or_else(|| operations.iter().rposition(|operation| path.starts_with(&operation.segments())))
}

/// Go's messages quote a number as written, which parsing may have changed.
fn as_written(message: String, patched: &Node) -> String {
    let prefix = "json: cannot unmarshal number ";
    let Some((shown, rest)) = message.strip_prefix(prefix).and_then(|m| m.split_once(' ')) else {
        return message;
    };
    let mut written = None;
    patched.each_number(&mut |text| {
        if written.is_none() && node::number(text).to_string() == shown {
            written = Some(text.to_owned());
        }
    });
    match written {
        Some(text) => format!("{prefix}{text} {rest}"),
        None => message,
    }
}

/// Finds the operation that added a value of the wrong type: the first with which decoding fails.
fn attribute_failure(
    types: &GoTypes,
    ty: &GoType,
    base: &Value,
    operations: &[Operation],
    error: DecodeError,
) -> Failure {
    let mut document = Document::new(base);
    let failed = operations.iter().enumerate().position(|(index, operation)| {
        document.apply(operation, index).is_err() || merge(types, ty, base, document.root()).is_err()
    });
    let spans = failed.and_then(|i| operations.get(i)).map(|o| o.spans);
    Failure {
        message: error.message,
        operation: failed,
        span: spans.map(|s| s.value.or(s.from).unwrap_or(s.path)),
        kind: FailureKind::WrongType,
    }
}
