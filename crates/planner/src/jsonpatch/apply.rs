//! Applies operations to a document as the operator's patch library does.
//!
//! Source: `Patch.Apply` of evanphx/json-patch v5.9.11 with its default options, the same in all four releases:
//! negative indices count from the end, a missing path fails `remove`, `add` creates no parents. Beyond RFC 6902: text
//! before a path's first slash is ignored, and indices are what Go's `Atoi` accepts (`01`, `+1`). An empty key means
//! the container itself: at the top the document as it was before the patch, further down nothing.

use super::decode::{Op, Operation};
use super::document::{Document, Missing, TopCopy};
use super::node::{NilDereference, Node};
use super::{Failure, FailureKind};

/// How much `copy` may add, in units of [`Node::size`]: about twenty operands. The operator has no limit, and each
/// annotation of each cluster may double the document.
const MAX_COPIED: usize = 256 << 10;

/// Why an operation fails: the library's message, and the member that causes it.
#[derive(Debug)]
struct Rejection {
    message: String,
    kind: FailureKind,
    failed_part: FailedPart,
}

#[derive(Debug, Clone, Copy)]
enum FailedPart {
    Path,
    From,
    Value,
}

type Applied<T> = Result<T, Rejection>;

impl Document<'_> {
    /// Applies one operation; `index` is its index in the patch.
    pub(super) fn apply(&mut self, operation: &Operation, index: usize) -> Result<(), Failure> {
        let applied = match operation.op {
            Op::Add => self.add(operation),
            Op::Remove => self.remove(operation),
            Op::Replace => self.replace(operation),
            Op::Move => self.move_value(operation),
            Op::Copy => self.copy(operation),
            Op::Test => self.test(operation),
        };
        applied.map_err(|rejection| {
            let spans = &operation.spans;
            let span = match rejection.failed_part {
                FailedPart::Path => None,
                FailedPart::From => spans.from,
                FailedPart::Value => spans.value,
            };
            Failure {
                message: rejection.message,
                operation: Some(index),
                span: Some(span.unwrap_or(spans.path)),
                kind: rejection.kind,
            }
        })
    }

    fn add(&mut self, operation: &Operation) -> Applied<()> {
        let path = &operation.path;
        let value = value_of(operation);
        if path.is_empty() {
            if !matches!(value, Node::Array(_) | Node::Object(_)) {
                return Err(wrong_root("invalid value, expected object"));
            }
            self.own = TopCopy::Read(Some(value.copied()));
            self.root = value;
            return Ok(());
        }
        let location = self
            .locate(path)
            .ok_or_else(|| no_path(format!("add operation does not apply: doc is missing path: \"{path}\"")))?;
        self.insert(&location, value).map_err(|m| at_path(format!("error in add for path: '{path}': "), m))
    }

    fn remove(&mut self, operation: &Operation) -> Applied<()> {
        let path = &operation.path;
        let location = self
            .locate(path)
            .ok_or_else(|| no_path(format!("remove operation does not apply: doc is missing path: \"{path}\"")))?;
        self.take(&location).map(|_| ()).map_err(|m| at_path(format!("error in remove for path: '{path}': "), m))
    }

    fn replace(&mut self, operation: &Operation) -> Applied<()> {
        let path = &operation.path;
        let value = value_of(operation);
        if path.is_empty() {
            return match value {
                Node::Array(_) | Node::Object(_) => {
                    self.own = TopCopy::Read(None);
                    self.root = value;
                    Ok(())
                }
                Node::Null | Node::GivenNull => Err(nil_dereference()),
                _ => Err(wrong_root("replace operation value must be object or array: %!w(<nil>)")),
            };
        }
        let location = self
            .locate(path)
            .ok_or_else(|| no_path(format!("replace operation does not apply: doc is missing path: {path}")))?;
        if self.get(&location).is_err() {
            let missing = no_path(format!("replace operation does not apply: doc is missing key: {path}"));
            return Err(Rejection { kind: FailureKind::MissingField, ..missing });
        }
        // The library's message says "remove" here.
        self.set(&location, value).map_err(|m| at_path(format!("error in remove for path: '{path}': "), m))
    }

    fn move_value(&mut self, operation: &Operation) -> Applied<()> {
        let path = &operation.path;
        let from = operation.from.as_deref().unwrap_or_default();
        if from.is_empty() {
            let message = "unable to move entire document to another path: invalid state detected";
            return Err(wrong_root(message).failed_part(FailedPart::From));
        }
        let source = self.locate(from).ok_or_else(|| {
            let message = format!("move operation does not apply: doc is missing from path: {from}");
            no_path(message).failed_part(FailedPart::From)
        })?;
        let value = self
            .get(&source)
            .map(|value| value.cloned().unwrap_or(Node::Null))
            .and_then(|value| self.take(&source).map(|()| value))
            .map_err(|m| {
                let prefix = format!("error in move for path: '{}': ", source.key);
                at_path(prefix, m).failed_part(FailedPart::From)
            })?;
        let location = self.locate(path).ok_or_else(|| {
            no_path(format!("move operation does not apply: doc is missing destination path: {path}"))
        })?;
        self.insert(&location, value).map_err(|m| at_path(format!("error in move for path: '{path}': "), m))
    }

    fn copy(&mut self, operation: &Operation) -> Applied<()> {
        let path = &operation.path;
        let from = operation.from.as_deref().unwrap_or_default();
        let source = self.locate(from).ok_or_else(|| {
            let message = format!("copy operation does not apply: doc is missing from path: \"{from}\"");
            no_path(message).failed_part(FailedPart::From)
        })?;
        let capacity = MAX_COPIED.saturating_sub(self.copied);
        let value = match self.get(&source) {
            Ok(Some(value)) if value.size().0 > capacity => return Err(at_path(String::new(), Missing::too_big())),
            Ok(value) => value.map_or(Node::Null, Node::copied),
            Err(m) => {
                let prefix = format!("error in copy for from: '{from}': ");
                return Err(at_path(prefix, m).failed_part(FailedPart::From));
            }
        };
        let location = self.locate(path).ok_or_else(|| {
            no_path(format!("copy operation does not apply: doc is missing destination path: {path}"))
        })?;
        self.copied += value.size().0;
        self.insert(&location, value).map_err(|m| at_path("error while adding value during copy: ".to_owned(), m))
    }

    fn test(&mut self, operation: &Operation) -> Applied<()> {
        let path = &operation.path;
        let expected = operation.value.as_ref();
        let failed = || Rejection {
            message: format!("testing value {path} failed: test failed"),
            kind: FailureKind::TestFailed,
            failed_part: FailedPart::Value,
        };
        let equal = |value: &Node, expected: &Node| match value.equals(expected) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed()),
            Err(NilDereference) => Err(nil_dereference()),
        };
        if path.is_empty() {
            return equal(&self.root, expected.ok_or_else(nil_dereference)?);
        }
        let location = self
            .locate(path)
            .ok_or_else(|| no_path(format!("test operation does not apply: is missing path: {path}")))?;
        let found = match self.get(&location) {
            Ok(found) => found,
            Err(m) if m.kind == FailureKind::MissingPath => None,
            Err(m) => return Err(at_path(format!("error in test for path: '{path}': "), m)),
        };
        // A null of the original document isn't a value, an added one is.
        let found = found.filter(|value| **value != Node::Null);
        let expected = expected.filter(|value| !value.is_null());
        match (found, expected) {
            (None, None) => Ok(()),
            (Some(value), Some(expected)) => equal(value, expected),
            _ => Err(failed()),
        }
    }
}

impl Rejection {
    fn failed_part(self, failed_part: FailedPart) -> Self {
        Self { failed_part, ..self }
    }
}

/// The operation's value; decoding made sure that required ones exist.
fn value_of(operation: &Operation) -> Node {
    operation.value.clone().unwrap_or(Node::GivenNull)
}

fn no_path(message: String) -> Rejection {
    Rejection { message: message + ": missing value", kind: FailureKind::MissingPath, failed_part: FailedPart::Path }
}

fn at_path(prefix: String, missing: Missing) -> Rejection {
    Rejection { message: prefix + &missing.message, kind: missing.kind, failed_part: FailedPart::Path }
}

fn wrong_root(message: &str) -> Rejection {
    Rejection { message: message.to_owned(), kind: FailureKind::WrongType, failed_part: FailedPart::Value }
}

fn nil_dereference() -> Rejection {
    Rejection {
        message: "runtime error: invalid memory address or nil pointer dereference".to_owned(),
        kind: FailureKind::NilDereference,
        failed_part: FailedPart::Value,
    }
}
