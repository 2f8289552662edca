//! The effects of a jsonpatch annotation, operation by operation, compared with RFC 6902.

use crate::prelude::*;
use crate::why::input::Input;
use crate::why::plan_input::PlanInput;
use hcoplan_kubernetes::go::{GoType, GoTypes};
use hcoplan_planner::jsonpatch::{ANNOTATIONS, ChangedPlace, Effects, Loss, LossReason, Op, Operation};
use hcoplan_yaml::ScalarPlaces;

/// A jsonpatch annotation and its effects.
#[derive(Debug)]
pub struct PatchShown {
    /// The annotation.
    pub annotation: &'static str,
    /// Its operations in order, up to the first that fails.
    pub operations: Vec<OperationEffect>,
    /// Why HCO applies none of them, with the location.
    pub failure: Option<(String, Option<Location>)>,
}

/// The largest document in bytes that is patched.
const MAX_PATCHED_BYTES: usize = 1 << 20;

/// The effect of an operation.
#[derive(Debug)]
pub struct OperationEffect {
    /// `remove /spec/a`
    pub text: String,
    /// Its location.
    pub place: Option<Location>,
    /// Its changes to the operand as HCO applies it.
    pub changed: Vec<ChangedPlace>,
    /// Where the result of RFC 6902 differs: its value, then HCO's.
    pub plain: Vec<ChangedPlace>,
    /// Why RFC 6902 rejects it.
    pub plain_rejection: Option<String>,
    /// What to write for the intended effect.
    pub remedies: Vec<Remedy>,
}

/// What to write instead of an operation whose effect differs from RFC 6902.
#[derive(Debug)]
pub struct Remedy {
    /// A description.
    pub text: String,
    /// An operation that has the effect, as a trial shows.
    pub operation: Option<String>,
    /// The rule whose page explains it.
    pub rule: &'static str,
}

/// The effects of the annotation of an operand's kind; `None` without one.
pub fn patch_shown(plan_input: &PlanInput<'_>, plan: &Plan, kind: &str) -> Option<PatchShown> {
    let target = ANNOTATIONS.iter().find(|a| a.kind == kind)?;
    let path = Path::annotation(target.name);
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
pub fn applied(document: &Value, changes: &[ChangedPlace]) -> Value {
    let mut out = document.clone();
    for change in changes {
        let Some((parent, _)) = change.path.rsplit_once('/') else {
            out = change.after.clone().unwrap_or_default();
            continue;
        };
        let last = jsonpatch::segments(&change.path).pop().unwrap_or_default();
        match (out.pointer_mut(parent), &change.after) {
            (Some(Value::Object(map)), Some(value)) => {
                map.insert(last, value.clone());
            }
            (Some(Value::Object(map)), None) => {
                map.remove(&last);
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

/// The operand that is patched.
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

/// The operand as an independent implementation of RFC 6902 patches it.
struct Rfc6902Document {
    document: Value,
    /// Differences from earlier operations.
    known: Vec<ChangedPlace>,
}

impl Rfc6902Document {
    fn new(before: &Value) -> Self {
        Self { document: before.clone(), known: Vec::new() }
    }

    /// Applies an operation; returns why it can't be applied. An operation can double a document, and the library has
    /// no limit.
    fn apply(&mut self, operation: &str) -> Option<String> {
        if size(&self.document) > MAX_PATCHED_BYTES {
            return Some("the document is too big".to_owned());
        }
        match serde_json::from_str::<json_patch::Patch>(&format!("[{operation}]")) {
            // A patch that fails leaves the document as it is.
            Ok(patch) => json_patch::patch(&mut self.document, &patch).err().map(|error| error.kind.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// New differences from HCO's result, and values for which the operand has no field.
    fn differences(&mut self, operand: &Operand<'_>, actual: &Value, lost: &[Loss]) -> Vec<ChangedPlace> {
        let mut plain = self.document.clone();
        operand.types.normalise(&mut plain, operand.ty);
        let mut actual = actual.clone();
        operand.types.normalise(&mut actual, operand.ty);
        let all = jsonpatch::changes(&plain, &actual);
        let unknown = lost.iter().filter(|l| l.reason == LossReason::Unknown);
        let unknown = unknown.map(|l| ChangedPlace { path: l.path.clone(), before: l.plain.clone(), after: None });
        let mut new: Vec<ChangedPlace> = unknown.collect();
        new.extend(all.iter().filter(|c| !self.known.contains(c)).cloned());
        self.known = all;
        new
    }
}

/// A document's approximate size in bytes.
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

/// What to write instead, one remedy for each difference of the operation's effect.
fn remedies(operand: &Operand<'_>, operations: &[Operation], index: usize, lost: &[Loss]) -> Vec<Remedy> {
    let mut out: Vec<Remedy> = Vec::new();
    let Some(operation) = operations.get(index) else {
        return out;
    };
    for loss in lost {
        let remedy = match loss.reason {
            LossReason::Kept if matches!(operation.op, Op::Remove | Op::Move) => {
                let clearing = clearing(operand, operations, index, &loss.path);
                let text = match clearing {
                    Some(_) => format!("HCO keeps a field that a patch removes: write null to clear {}", loss.path),
                    None => format!(
                        "HCO keeps a field that a patch removes, and no patch can clear {}: set the intended value",
                        loss.path
                    ),
                };
                Remedy { text, operation: clearing, rule: "jsonpatch-remove-has-no-effect" }
            }
            LossReason::Kept => Remedy {
                text: "HCO merges an object into the existing one: set every key to remove to null, or to another value if it \
                       can't be null"
                    .to_owned(),
                operation: None,
                rule: "jsonpatch-object-merges",
            },
            LossReason::Inherited => Remedy {
                text: "HCO merges a list by index: an element keeps the fields of the previous element at its index, so write all \
                       fields of each element"
                    .to_owned(),
                operation: None,
                rule: "jsonpatch-struct-list-merges",
            },
            LossReason::Unknown => Remedy {
                text: format!("the operand has no field {}: HCO drops it", loss.path),
                operation: None,
                rule: "jsonpatch-unknown-field",
            },
            LossReason::OtherCase => Remedy {
                text: format!("{} differs from the field's name in case: HCO sets the field with the other case", loss.path),
                operation: None,
                rule: "jsonpatch-case-mismatch",
            },
        };
        if !out.iter().any(|r| r.rule == remedy.rule && remedy.operation.is_none()) {
            out.push(remedy);
        }
    }
    out
}

/// The operation that clears a field with null, if a trial shows that it does.
fn clearing(operand: &Operand<'_>, operations: &[Operation], index: usize, path: &str) -> Option<String> {
    let pointer = Value::from(path);
    let text = format!(r#"{{"op": "replace", "path": {pointer}, "value": null}}"#);
    let clear = jsonpatch::decode(&format!("[{text}]")).ok()?.pop()?;
    let mut tried = operations.get(..index)?.to_vec();
    tried.push(clear);
    let effects = operand.effects(&tried);
    let changed = &effects.operations.get(index)?.changed;
    changed.iter().any(|c| c.path == path && c.after.is_none()).then_some(text)
}
