use crate::jsonpatch::Failure;

/// The message of a recovered nil pointer panic.
const NIL_POINTER: &str = "panic: runtime error: invalid memory address or nil pointer dereference [recovered]";

/// The kind of rendering error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The operator dereferences a nil pointer. Its first reconcile renders every operand before it deploys one, so it
    /// deploys none.
    Panic,
    /// Several golden images have this name.
    DuplicateTemplate(String),
    /// Any other error, see the message.
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
    /// The kind of error.
    pub kind: ErrorKind,
    /// The invalid field of the HyperConverged, below `spec` in v1's shape; `None` if there is no single one.
    pub field: Option<&'static str>,
    /// The invalid jsonpatch annotation and its failure, if that is the cause.
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

    /// The operator dereferences a nil pointer. controller-runtime recovers, like the webhook's server.
    pub fn panic(operand: &'static str) -> Self {
        Self { kind: ErrorKind::Panic, ..Self::new(operand, NIL_POINTER) }
    }

    /// Whether the operator panics.
    pub fn is_panic(&self) -> bool {
        self.kind == ErrorKind::Panic
    }
}
