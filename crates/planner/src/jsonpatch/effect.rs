//! What each operation of a patch changed, and where that differs from RFC 6902.
//!
//! Applies a patch one operation at a time through the whole pipeline: an operation's effect is the difference that it
//! makes. Compares it with the result of RFC 6902 alone: the patched document decoded into a fresh object.

use super::decode::Operation;
use super::document::Document;
use super::reach::PatchScope;
use super::{Failure, as_document, attribute_failure, merge};
use crate::prelude::*;
use hcoplan_kubernetes::go::TypeStep;
use hcoplan_yaml::pointer;

/// Maximum number of operations examined one by one; the cost grows with the square of their number.
pub const MAX_EXAMINED: usize = 250;

/// Maximum total size of the documents after each examined operation, in units of [`Node::size`]: an operation of a few
/// bytes may double the document.
///
/// [`Node::size`]: super::node::Node::size
const MAX_EXAMINED_SIZE: usize = 8 << 20;

/// The effects of a patch.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    /// One per applied operation, in order: at most [`MAX_EXAMINED`], fewer for a large document.
    pub operations: Vec<Effect>,
    /// Why the next one failed; the operator then applies none of them.
    pub failure: Option<Failure>,
}

/// The effect of one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Its index in the patch.
    pub index: usize,
    /// Its changes to the operand; empty when it has no effect.
    pub changed: Vec<ChangedPlace>,
    /// Where this operation's result differs from RFC 6902.
    pub lost: Vec<Loss>,
}

/// A changed location of the operand. Objects are compared by key, lists of equal length by element, other lists as a
/// whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedPlace {
    /// JSON pointer in the operand.
    pub path: String,
    /// `None` if it didn't exist.
    pub before: Option<Value>,
    /// `None` if it was removed.
    pub after: Option<Value>,
}

/// Why the operand differs from the result of RFC 6902.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossReason {
    /// A value stays that was removed, or omitted from a replaced parent.
    Kept,
    /// A list's element inherits fields of the previous element at its index.
    Inherited,
    /// The operand's Go type has no such key.
    Unknown,
    /// The key has another case; the operator accepts it, a schema doesn't.
    OtherCase,
}

/// A location where the operand differs from the result of RFC 6902.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// JSON pointer; for [`LossReason::Unknown`] and [`LossReason::OtherCase`] as written.
    pub path: String,
    /// The reason.
    pub reason: LossReason,
    /// The value according to RFC 6902.
    pub plain: Option<Value>,
    /// The operator's value.
    pub actual: Option<Value>,
}

/// Applies operations (decoded and restricted to `spec`) to an operand one by one. `operand` is the whole rendered
/// object.
pub fn effects(types: &GoTypes, ty: &GoType, operand: &Value, operations: &[Operation]) -> Effects {
    effects_in(types, ty, operand, operations, &PatchScope::of(operations))
}

/// [`effects`] of operations within the scope `reach`.
pub(super) fn effects_in(
    types: &GoTypes,
    ty: &GoType,
    operand: &Value,
    operations: &[Operation],
    reach: &PatchScope,
) -> Effects {
    let base = as_document(types, ty, reach.take(types, ty, operand));
    let mut patched = Document::new(&base);
    let mut effects = Effects { operations: Vec::new(), failure: None };
    let mut before = base.clone();
    let mut known = BTreeMap::new();
    let examined = operations.iter().take(MAX_EXAMINED);
    let mut bytes = 0;
    for (index, operation) in examined.enumerate() {
        if let Err(failure) = patched.apply(operation, index) {
            effects.failure = Some(failure);
            break;
        }
        bytes += patched.root().size().0;
        if bytes > MAX_EXAMINED_SIZE {
            break;
        }
        let after = match merge(types, ty, &base, patched.root()) {
            Ok(after) => after,
            Err(error) => {
                effects.failure = Some(attribute_failure(types, ty, &base, operations, error));
                break;
            }
        };
        let mut changed = Vec::new();
        compare(Some(&before), Some(&after), &mut String::new(), &mut changed);
        let losses = losses(types, ty, &patched.root().to_json(), &after);
        let lost = losses
            .iter()
            .filter(|(path, loss)| known.get(*path) != Some(*loss))
            .map(|(_, loss)| loss.clone())
            .collect();
        effects.operations.push(Effect { index, changed, lost });
        (before, known) = (after, losses);
    }
    effects
}

/// The differences between two documents.
pub fn changes(before: &Value, after: &Value) -> Vec<ChangedPlace> {
    let mut changes = Vec::new();
    compare(Some(before), Some(after), &mut String::new(), &mut changes);
    changes
}

fn compare(before: Option<&Value>, after: Option<&Value>, path: &mut String, changes: &mut Vec<ChangedPlace>) {
    let length = path.len();
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                pointer::push(path, key);
                compare(old.get(key), new.get(key), path, changes);
                path.truncate(length);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                pointer::push(path, &index.to_string());
                compare(Some(old), Some(new), path, changes);
                path.truncate(length);
            }
        }
        (before, after) if before == after => {}
        (before, after) => {
            changes.push(ChangedPlace { path: path.clone(), before: before.cloned(), after: after.cloned() });
        }
    }
}

/// All locations where the operator's result differs from RFC 6902, by path.
fn losses(types: &GoTypes, ty: &GoType, patched: &Value, actual: &Value) -> BTreeMap<String, Loss> {
    let mut found = BTreeMap::new();
    let mut names = Names { types, losses: &mut found, spelled: Vec::new() };
    names.walk(ty, patched, actual, &mut String::new(), &mut String::new());
    let spelled = names.spelled;
    let found_in = actual;
    let mut plain = patched.clone();
    types.normalise(&mut plain, ty);
    let mut differences = Vec::new();
    compare(Some(&plain), Some(actual), &mut String::new(), &mut differences);
    for ChangedPlace { path, before: plain, after: actual } in differences {
        if spelled.iter().any(|name| pointer::is_within(&path, name)) {
            continue;
        }
        let reason = if in_list(found_in, &path) { LossReason::Inherited } else { LossReason::Kept };
        let loss = Loss { path: path.clone(), reason, plain, actual };
        found.insert(path, loss);
    }
    found
}

/// Whether a pointer passes through a list's element.
fn in_list(document: &Value, pointer: &str) -> bool {
    let mut at = document;
    for key in super::segments(pointer) {
        let next = match at {
            Value::Array(_) => return true,
            Value::Object(entries) => entries.get(&key),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return false,
        }
    }
    false
}

/// Finds keys that the operand's type lacks or spells with another case.
struct Names<'a> {
    types: &'a GoTypes,
    losses: &'a mut BTreeMap<String, Loss>,
    /// Paths of the fields spelled with another case.
    spelled: Vec<String>,
}

impl<'a> Names<'a> {
    /// `path` is the path in the document, `go_path` the same with the fields' proper names.
    fn walk(&mut self, ty: &'a GoType, patched: &Value, actual: &Value, path: &mut String, go_path: &mut String) {
        let lengths = (path.len(), go_path.len());
        let types = self.types;
        let mut child = |key: &str, value: &Value| {
            pointer::push(path, key);
            let (name, inner) = match types.step(ty, key) {
                TypeStep::Field(name, inner) => (name, Some(inner)),
                TypeStep::Inside(inner) => (key, Some(inner)),
                TypeStep::Free => (key, None),
                TypeStep::Nowhere => {
                    self.lose(path, LossReason::Unknown, value, None);
                    (key, None)
                }
            };
            pointer::push(go_path, name);
            if name != key {
                self.lose(path, LossReason::OtherCase, value, actual.pointer(go_path));
                self.spelled.push(go_path.clone());
            }
            if let Some(inner) = inner {
                self.walk(inner, value, actual, path, go_path);
            }
            path.truncate(lengths.0);
            go_path.truncate(lengths.1);
        };
        match patched {
            Value::Object(entries) => entries.iter().for_each(|(key, value)| child(key, value)),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(index, value)| child(&index.to_string(), value));
            }
            _ => {}
        }
    }

    fn lose(&mut self, path: &str, reason: LossReason, plain: &Value, actual: Option<&Value>) {
        let loss = Loss { path: path.to_owned(), reason, plain: Some(plain.clone()), actual: actual.cloned() };
        self.losses.insert(path.to_owned(), loss);
    }
}
