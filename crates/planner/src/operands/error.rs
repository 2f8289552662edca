//! Why an operand could not be rendered.

use crate::jsonpatch::Failure;

/// What is left of a panic on a nil pointer.
const NIL_POINTER: &str = "panic: runtime error: invalid memory address or nil pointer dereference [recovered]";

/// What ended the rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The operator follows a pointer that is nil. Its first reconcile renders every operand before it deploys one, so
    /// that it deploys none.
    Panic,
    /// Golden images have one name, this one.
    DuplicateTemplate(String),
    /// What the message says.
    Other,
}

/// Why an operand could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The operand's kind, `KubeVirt`.
    pub operand: &'static str,
    /// The error as the operator logs it.
    pub message: String,
    /// What ended the rendering.
    pub kind: ErrorKind,
    /// The field of the HyperConverged at fault, below `spec` in v1's shape; `None` where there is no single one.
    pub field: Option<&'static str>,
    /// Where a jsonpatch annotation is at fault: the annotation, and what fails inside it.
    pub patch: Option<Box<(&'static str, Failure)>>,
}

impl Error {
    /// An error of an operand.
    pub fn new(operand: &'static str, message: impl Into<String>) -> Self {
        Self { operand, message: message.into(), kind: ErrorKind::Other, field: None, patch: None }
    }

    /// An error about a field, below `spec` in v1's shape.
    pub(super) fn of_field(operand: &'static str, field: &'static str, message: impl Into<String>) -> Self {
        Self { field: Some(field), ..Self::new(operand, message) }
    }

    /// The operator follows a pointer that is nil. controller-runtime recovers, as the webhook's server
    /// does.
    pub fn panic(operand: &'static str) -> Self {
        Self { kind: ErrorKind::Panic, ..Self::new(operand, NIL_POINTER) }
    }

    /// Whether the operator panics.
    pub fn is_panic(&self) -> bool {
        self.kind == ErrorKind::Panic
    }
}
