//! What each operation of a patch did, and where that is not what it says.
//!
//! The patch is applied one operation at a time through the whole pipeline, so that an
//! operation's effect is the difference that it makes. Beside it is what RFC 6902 alone
//! would have made of the operand: the patched document decoded into a fresh object.

use std::collections::BTreeMap;

use hcoplan_kubernetes::go::{GoType, GoTypes, TypeStep};
use serde_json::Value;

use super::decode::Operation;
use super::document::Document;
use super::reach::PatchScope;
use super::{Failure, as_document, blame, merge};

/// How many operations of a patch are examined one by one. What each does is seen by applying it
/// to all that those before it left, which takes the square of their number.
pub const MOST_EXAMINED: usize = 250;

/// How much the documents that the examined operations leave may hold together, as [`Node::size`] counts it: each is
/// examined as a whole, and an operation of a few bytes may double it.
///
/// [`Node::size`]: super::node::Node::size
const MOST_EXAMINED_BYTES: usize = 8 << 20;

/// What a patch did.
#[derive(Debug, Clone, PartialEq)]
pub struct Effects {
    /// One for every operation that applied, in order; of those that are examined: [`MOST_EXAMINED`] at most, fewer
    /// of a large document.
    pub operations: Vec<Effect>,
    /// Why the next one did not; then the operator applies none of them.
    pub failure: Option<Failure>,
}

/// What one operation did.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Its index in the patch.
    pub index: usize,
    /// What it changed in the operand; empty when it has no effect.
    pub changed: Vec<Change>,
    /// Where the operand is not what RFC 6902 would have made of it, because of this operation.
    pub lost: Vec<Loss>,
}

/// A place of the operand and its values. Objects are compared key by key, lists of one length
/// element by element, other lists as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// JSON pointer in the operand.
    pub path: String,
    /// `None` where there was nothing.
    pub before: Option<Value>,
    /// `None` where there is nothing.
    pub after: Option<Value>,
}

/// Why the operand is not what RFC 6902 would have made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// What was removed, or not mentioned in a replaced parent, stays.
    Kept,
    /// A list's element took over what the element before it at that index had.
    Inherited,
    /// The operand's Go type has no such key.
    Unknown,
    /// The key was written in another case; the operator finds it, a schema does not.
    OtherCase,
}

/// A place where the operand is not what RFC 6902 would have made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// JSON pointer; for [`Reason::Unknown`] and [`Reason::OtherCase`] as written.
    pub path: String,
    /// Why.
    pub reason: Reason,
    /// What RFC 6902 would have left there.
    pub plain: Option<Value>,
    /// What the operator leaves there.
    pub actual: Option<Value>,
}

/// Applies operations (decoded and held to `spec`) to an operand one by one. `operand` is the
/// whole object as it is rendered.
pub fn effects(types: &GoTypes, ty: &GoType, operand: &Value, operations: &[Operation]) -> Effects {
    effects_in(types, ty, operand, operations, &PatchScope::of(operations))
}

/// [`effects`] of operations that lead no further than `reach`.
pub(super) fn effects_in(
    types: &GoTypes,
    ty: &GoType,
    operand: &Value,
    operations: &[Operation],
    reach: &PatchScope,
) -> Effects {
    let base = as_document(types, ty, reach.take(types, ty, operand));
    let mut patched = Document::new(&base);
    let mut made = Effects { operations: Vec::new(), failure: None };
    let mut before = base.clone();
    let mut known = BTreeMap::new();
    let examined = operations.iter().take(MOST_EXAMINED);
    let mut bytes = 0;
    for (index, operation) in examined.enumerate() {
        if let Err(failure) = patched.apply(operation, index) {
            made.failure = Some(failure);
            break;
        }
        bytes += patched.root().size().0;
        if bytes > MOST_EXAMINED_BYTES {
            break;
        }
        let after = match merge(types, ty, &base, patched.root()) {
            Ok(after) => after,
            Err(error) => {
                made.failure = Some(blame(types, ty, &base, operations, error));
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
        made.operations.push(Effect { index, changed, lost });
        (before, known) = (after, losses);
    }
    made
}

/// The places in which two documents differ.
pub fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(Some(before), Some(after), &mut String::new(), &mut changes);
    changes
}

fn compare(before: Option<&Value>, after: Option<&Value>, path: &mut String, changes: &mut Vec<Change>) {
    let length = path.len();
    match (before, after) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                push_key(path, key);
                compare(old.get(key), new.get(key), path, changes);
                path.truncate(length);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                push_key(path, &index.to_string());
                compare(Some(old), Some(new), path, changes);
                path.truncate(length);
            }
        }
        (before, after) if before == after => {}
        (before, after) => changes.push(Change { path: path.clone(), before: before.cloned(), after: after.cloned() }),
    }
}

fn push_key(path: &mut String, key: &str) {
    path.push('/');
    for c in key.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            c => path.push(c),
        }
    }
}

/// Every place where the operator's result is not the plain one, by path.
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
    for Change { path, before: plain, after: actual } in differences {
        let below = |name: &String| {
            let rest = path.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if spelled.iter().any(below) {
            continue;
        }
        let reason = if in_list(found_in, &path) { Reason::Inherited } else { Reason::Kept };
        let loss = Loss { path: path.clone(), reason, plain, actual };
        found.insert(path, loss);
    }
    found
}

/// Whether a pointer leads through a list's element.
fn in_list(document: &Value, pointer: &str) -> bool {
    let mut at = document;
    for key in super::segments(pointer) {
        let below = match at {
            Value::Array(_) => return true,
            Value::Object(entries) => entries.get(&key),
            _ => None,
        };
        match below {
            Some(below) => at = below,
            None => return false,
        }
    }
    false
}

/// Looks for keys that the operand's type does not have, or not in that case.
struct Names<'a> {
    types: &'a GoTypes,
    losses: &'a mut BTreeMap<String, Loss>,
    /// Paths of the fields that are spelled otherwise in the document.
    spelled: Vec<String>,
}

impl<'a> Names<'a> {
    /// `path` is the document's, `go_path` the same with the fields' own names.
    fn walk(&mut self, ty: &'a GoType, patched: &Value, actual: &Value, path: &mut String, go_path: &mut String) {
        let lengths = (path.len(), go_path.len());
        let types = self.types;
        let mut child = |key: &str, value: &Value| {
            push_key(path, key);
            let (name, inner) = match types.step(ty, key) {
                TypeStep::Field(name, inner) => (name, Some(inner)),
                TypeStep::Inside(inner) => (key, Some(inner)),
                TypeStep::Free => (key, None),
                TypeStep::Nowhere => {
                    self.lose(path, Reason::Unknown, value, None);
                    (key, None)
                }
            };
            push_key(go_path, name);
            if name != key {
                self.lose(path, Reason::OtherCase, value, actual.pointer(go_path));
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

    fn lose(&mut self, path: &str, reason: Reason, plain: &Value, actual: Option<&Value>) {
        let loss = Loss { path: path.to_owned(), reason, plain: Some(plain.clone()), actual: actual.cloned() };
        self.losses.insert(path.to_owned(), loss);
    }
}
