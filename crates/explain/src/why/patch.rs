//! What a jsonpatch annotation does, operation by operation, beside what RFC 6902 says.

use hcoplan_diagnostics::source::Location;
use hcoplan_kubernetes::go::{GoType, GoTypes};
use hcoplan_planner::jsonpatch::{self, ANNOTATIONS, Change, Effects, Loss, Op, Operation, Reason};
use hcoplan_planner::plan::Plan;
use hcoplan_yaml::{Path, ScalarPlaces};
use serde_json::Value;

use super::input::Input;
use super::plan_input::PlanInput;

/// A jsonpatch annotation and what it does.
#[derive(Debug, Clone)]
pub struct PatchShown {
    /// The annotation.
    pub annotation: &'static str,
    /// Its operations, in order, as far as they apply.
    pub operations: Vec<OperationEffect>,
    /// Why HCO applies none of them, with the place.
    pub failure: Option<(String, Option<Location>)>,
}

/// A document that holds more is patched no further.
const MOST_PLAIN_BYTES: usize = 1 << 20;

/// What an operation does.
#[derive(Debug, Clone)]
pub struct OperationEffect {
    /// `remove /spec/a`
    pub text: String,
    /// Where it is.
    pub place: Option<Location>,
    /// What it changes in the operand as HCO applies it.
    pub changed: Vec<Change>,
    /// Where RFC 6902 would have left something else: its value, then HCO's.
    pub plain: Vec<Change>,
    /// Why RFC 6902 would have rejected it.
    pub plain_rejection: Option<String>,
    /// What to write to get what was meant.
    pub remedies: Vec<Remedy>,
}

/// What to write instead of an operation that does something else than it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// In words.
    pub text: String,
    /// An operation that was tried out and does it.
    pub operation: Option<String>,
    /// The rule that knows more.
    pub rule: &'static str,
}

/// What the annotation of an operand's kind does; `None` where there is none.
pub fn patch_shown(plan_input: &PlanInput<'_>, plan: &Plan, kind: &str) -> Option<PatchShown> {
    let target = ANNOTATIONS.iter().find(|a| a.kind == kind)?;
    let path = Path::dotted("metadata.annotations").key(target.name);
    let node = plan_input.document.root.at(&path)?;
    let text = node.as_str()?;
    let places = ScalarPlaces::of(plan_input.document, node);
    let place = |span: hcoplan_diagnostics::source::Span| plan_input.document.location(places.locate(span.range()));
    let mut shown = PatchShown { annotation: target.name, operations: Vec::new(), failure: None };
    let decoded = jsonpatch::decode(text).and_then(|operations| {
        jsonpatch::only_spec(&operations)?;
        Ok(operations)
    });
    let operations = match decoded {
        Ok(operations) => operations,
        Err(failure) => {
            shown.failure = Some((failure.message, failure.span.map(place)));
            return Some(shown);
        }
    };
    let patched = plan.patched.iter().find(|p| p.kind == kind);
    let before = match patched {
        Some(patched) => patched.before.as_ref().clone(),
        None => {
            let without = plan_input.without(&[&Input::Written(path)]);
            without.operand(kind)?.clone()
        }
    };
    let types = plan_input.release.go_types();
    let ty = types.of_kind(target.api_version, kind)?;
    let operand = Operand { types, ty, before };
    let effects = operand.effects(&operations);
    let mut plain = Rfc6902Document::new(&operand.before);
    let mut actual = operand.before.clone();
    for effect in &effects.operations {
        let Some(operation) = operations.get(effect.index) else {
            continue;
        };
        actual = applied(&actual, &effect.changed);
        let raw = text.get(operation.spans.whole.range()).unwrap_or_default();
        let rejection = plain.apply(raw);
        shown.operations.push(OperationEffect {
            text: described(operation),
            place: Some(place(operation.spans.whole)),
            changed: effect.changed.clone(),
            plain: plain.differences(&operand, &actual, &effect.lost),
            plain_rejection: rejection,
            remedies: remedies(&operand, &operations, effect.index, &effect.lost),
        });
    }
    shown.failure = effects.failure.map(|f| (f.message, f.span.map(place)));
    let examined = effects.operations.len();
    if let Some(next) = operations.get(examined).filter(|_| shown.failure.is_none()) {
        let count = operations.len();
        let message = format!("of the {count} operations, only the first {examined} are examined");
        shown.failure = Some((message, Some(place(next.spans.whole))));
    }
    Some(shown)
}

/// A document with changes made to it.
pub fn applied(document: &Value, changes: &[Change]) -> Value {
    let mut out = document.clone();
    for change in changes {
        let segments = jsonpatch::segments(&change.path);
        let Some((last, parents)) = segments.split_last() else {
            out = change.after.clone().unwrap_or_default();
            continue;
        };
        let parent = parents.iter().try_fold(&mut out, |value, key| match value {
            Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
            other => other.get_mut(key),
        });
        match (parent, &change.after) {
            (Some(Value::Object(map)), Some(value)) => {
                map.insert(last.clone(), value.clone());
            }
            (Some(Value::Object(map)), None) => {
                map.remove(last);
            }
            (Some(Value::Array(items)), Some(value)) => {
                let index = last.parse().ok();
                if let Some(item) = index.and_then(|i: usize| items.get_mut(i)) {
                    *item = value.clone();
                }
            }
            _ => {}
        }
    }
    out
}

/// An operand that is patched.
struct Operand<'a> {
    types: &'a GoTypes,
    ty: &'a GoType,
    before: Value,
}

impl Operand<'_> {
    fn effects(&self, operations: &[Operation]) -> Effects {
        jsonpatch::effects(self.types, self.ty, &self.before, operations)
    }
}

/// What RFC 6902 makes of the operand, by another implementation than ours.
struct Rfc6902Document {
    document: Value,
    /// Differences that are known from an earlier operation.
    known: Vec<Change>,
}

impl Rfc6902Document {
    fn new(before: &Value) -> Self {
        Self { document: before.clone(), known: Vec::new() }
    }

    /// Applies an operation; says why it can't be. An operation can double a document, and the library has no limit.
    fn apply(&mut self, operation: &str) -> Option<String> {
        if size(&self.document) > MOST_PLAIN_BYTES {
            return Some("the document is too big".to_owned());
        }
        let patch = serde_json::from_str(&format!("[{operation}]"));
        let patch: json_patch::Patch = match patch {
            Ok(patch) => patch,
            Err(error) => return Some(error.to_string()),
        };
        let mut document = self.document.clone();
        match json_patch::patch(&mut document, &patch) {
            Ok(()) => {
                self.document = document;
                None
            }
            Err(error) => Some(error.kind.to_string()),
        }
    }

    /// Where it is not what HCO leaves, apart from what is known; what is known to have no place
    /// in the operand is added.
    fn differences(&mut self, operand: &Operand<'_>, actual: &Value, lost: &[Loss]) -> Vec<Change> {
        let mut plain = self.document.clone();
        operand.types.normalise(&mut plain, operand.ty);
        let mut actual = actual.clone();
        operand.types.normalise(&mut actual, operand.ty);
        let all = jsonpatch::changes(&plain, &actual);
        let unplaced = lost.iter().filter(|l| l.reason == Reason::Unknown);
        let unplaced = unplaced.map(|l| Change { path: l.path.clone(), before: l.plain.clone(), after: None });
        let mut new: Vec<Change> = unplaced.collect();
        new.extend(all.iter().filter(|c| !self.known.contains(c)).cloned());
        self.known = all;
        new
    }
}

/// About how many bytes a document holds, strings and keys included.
fn size(document: &Value) -> usize {
    let inside: usize = match document {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(entries) => entries.iter().map(|(key, value)| key.len() + size(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + inside
}

fn described(operation: &Operation) -> String {
    let op = operation.op.as_str();
    match (&operation.op, &operation.from) {
        (Op::Move | Op::Copy, Some(from)) => format!("{op} {from} to {}", operation.path),
        _ => format!("{op} {}", operation.path),
    }
}

/// What to write instead, one remedy for each way in which the operation fails to do what it says.
fn remedies(operand: &Operand<'_>, operations: &[Operation], index: usize, lost: &[Loss]) -> Vec<Remedy> {
    let mut out: Vec<Remedy> = Vec::new();
    let Some(operation) = operations.get(index) else {
        return out;
    };
    for loss in lost {
        let remedy = match loss.reason {
            Reason::Kept if matches!(operation.op, Op::Remove | Op::Move) => {
                let clearing = clearing(operand, operations, index, &loss.path);
                let text = match clearing {
                    Some(_) => format!("HCO keeps what a patch takes away: write null to clear {}", loss.path),
                    None => format!(
                        "HCO keeps what a patch takes away, and no patch can clear {}: set the \
                         value that is meant",
                        loss.path
                    ),
                };
                Remedy { text, operation: clearing, rule: "jsonpatch-remove-has-no-effect" }
            }
            Reason::Kept => Remedy {
                text: "HCO merges an object into the one that was there: name every key that is to \
                       go with null, and set those that take none"
                    .to_owned(),
                operation: None,
                rule: "jsonpatch-object-merges",
            },
            Reason::Inherited => Remedy {
                text: "HCO merges a list by index: an element keeps what the one before it at its \
                       index had, so give each element all of its fields"
                    .to_owned(),
                operation: None,
                rule: "jsonpatch-struct-list-merges",
            },
            Reason::Unknown => Remedy {
                text: format!("the operand has no field {}: HCO drops it", loss.path),
                operation: None,
                rule: "jsonpatch-unknown-field",
            },
            Reason::OtherCase => Remedy {
                text: format!("{} is another field by its letters' case: HCO finds the one that it means", loss.path),
                operation: None,
                rule: "jsonpatch-case-mismatch",
            },
        };
        let same = |r: &Remedy| r.rule == remedy.rule && remedy.operation.is_none();
        if !out.iter().any(same) {
            out.push(remedy);
        }
    }
    out
}

/// The operation that clears a place with null, if one does: tried out.
fn clearing(operand: &Operand<'_>, operations: &[Operation], index: usize, path: &str) -> Option<String> {
    let pointer = Value::from(path);
    let text = format!(r#"{{"op": "replace", "path": {pointer}, "value": null}}"#);
    let clear = jsonpatch::decode(&format!("[{text}]")).ok()?.pop()?;
    let mut tried = operations.get(..index)?.to_vec();
    tried.push(clear);
    let effects = operand.effects(&tried);
    let changed = &effects.operations.get(index)?.changed;
    let cleared = |c: &Change| c.path == path && c.after.is_none();
    changed.iter().any(cleared).then_some(text)
}
