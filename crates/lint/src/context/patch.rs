//! The jsonpatch annotations and their effects.

use super::Context;
use super::prelude::*;
use std::cell::OnceCell;
use std::ops::Range;

use hcoplan_kubernetes::go::{GoType, GoTypes, TypeStep};
use hcoplan_planner::jsonpatch::{self, ANNOTATIONS, Effect, Effects, Failure, Operation, Patched, only_spec};
use hcoplan_yaml::{ScalarPlaces, pointer};

use super::Annotation;
use super::gate_change::PatchedGates;
use crate::Incident;
use crate::suggestion::suggestion;

/// A jsonpatch annotation of the HyperConverged.
#[derive(Debug)]
pub struct PatchAnnotation<'a> {
    /// The annotation's operand.
    pub target: jsonpatch::Annotation,
    /// The annotation.
    pub annotation: Annotation<'a>,
    /// Its value.
    pub text: &'a str,
    decoded: Result<Vec<Operation>, Failure>,
    patched: Option<Patched>,
    effects: OnceCell<Option<Effects>>,
    places: OnceCell<ScalarPlaces>,
    pub(super) gates: OnceCell<Vec<Option<PatchedGates>>>,
}

/// A patch that can't be applied, with its consequence.
#[derive(Debug, Clone, Copy)]
pub struct PatchFailure<'a> {
    /// The failing annotation.
    pub annotation: &'static str,
    /// The failure.
    pub failure: &'a Failure,
    /// The resulting incident.
    pub incident: Incident,
}

/// An applied operation of a patch with its effect.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'c, 'a> {
    /// The annotation.
    pub patch: &'c PatchAnnotation<'a>,
    /// Its index in the annotation.
    pub index: usize,
    /// The operation.
    pub operation: &'c Operation,
    /// Its effect.
    pub effect: &'c Effect,
}

/// Identifies an operation: the annotation's name and the index in it.
pub(super) type OperationId = (&'static str, usize);

impl<'a> Context<'a> {
    /// The annotations of known operands, with the operand without and with them.
    pub fn patched_operands(&self) -> impl Iterator<Item = (&PatchAnnotation<'a>, &Value, &Value)> {
        self.patch_annotations().iter().filter_map(|patch| Some((patch, patch.rendered()?, patch.result()?)))
    }

    /// The jsonpatch annotations, in the order in which the operator renders the operands.
    pub fn patch_annotations(&self) -> &[PatchAnnotation<'a>] {
        self.known.patches.get_or_init(|| {
            let known = ANNOTATIONS.iter().filter_map(|target| {
                let annotation = self.annotation(target.name)?;
                let text = annotation.text()?;
                // Of a new object: in an existing one the first reconcile stored the patched values, which would look
                // rendered by HCO.
                let patched = &self.plan_as_new().patched;
                let patched = patched.iter().find(|p| p.kind == target.kind).cloned();
                Some(PatchAnnotation {
                    target: *target,
                    annotation,
                    text,
                    decoded: jsonpatch::decode(text),
                    patched,
                    effects: OnceCell::new(),
                    places: OnceCell::new(),
                    gates: OnceCell::new(),
                })
            });
            known.collect()
        })
    }

    /// The operations applied to rendered operands, in order; none of an annotation that fails or whose operand isn't
    /// rendered.
    pub fn applied(&self) -> impl Iterator<Item = Applied<'_, 'a>> {
        let patches = self.patch_annotations().iter();
        patches.flat_map(|patch| {
            let effects = patch.effects.get_or_init(|| self.effects_of(patch, patch.operations()));
            let effects = effects.as_ref().map(|e| &e.operations[..]).unwrap_or_default().iter();
            effects.filter_map(move |effect| {
                Some(Applied { patch, index: effect.index, operation: patch.operations().get(effect.index)?, effect })
            })
        })
    }

    /// The annotation that causes a rejection or a reconcile error.
    pub fn patch_failure(&self) -> Option<PatchFailure<'a>> {
        let plan = self.plan();
        let rejected = plan.admission.patch.as_ref();
        let failed = plan.reconcile_error.as_ref().and_then(|e| e.patch.as_ref());
        let (found, incident) = match (rejected, failed) {
            (Some(rejected), _) => (rejected, Incident::Rejection),
            (None, Some(failed)) => (failed, Incident::ReconcileError),
            (None, None) => return None,
        };
        let (annotation, failure) = (found.0, &found.1);
        Some(PatchFailure { annotation, failure, incident })
    }

    /// The location of a patch's failure.
    pub fn patch_place(&self, annotation: &str, failure: &Failure) -> Location {
        match (self.annotation(annotation), failure.span) {
            (Some(annotation), Some(span)) if annotation.text() != Some("") => annotation.part_location(span.range()),
            (Some(annotation), _) => annotation.value_place(),
            (None, _) => self.whole_location(),
        }
    }

    /// The operand patched with another text; `None` if that can't be applied or the operand isn't rendered.
    pub fn result_of(&self, patch: &PatchAnnotation<'_>, text: &str) -> Option<Value> {
        let before = patch.rendered()?;
        let (types, ty) = self.types_of(patch)?;
        let name = patch.target.name;
        let mut after = jsonpatch::patch(types, ty, before, name, text).ok()?;
        types.normalise_operand(&mut after, ty);
        Some(after)
    }

    /// A suggestion of changes in an annotation's text (ranges of bytes), if the operand is as meant with them.
    pub fn patched(
        &self,
        patch: &PatchAnnotation<'_>,
        title: impl Into<String>,
        changes: &[(Range<usize>, String)],
        is_meant: impl Fn(&Value) -> bool,
    ) -> Option<Fix> {
        let (text, edits) = patch.edited(changes)?;
        is_meant(&self.result_of(patch, &text)?).then(|| suggestion(title, edits))
    }

    /// Whether an annotation with another text has the same result.
    pub fn keeps_result(&self, patch: &PatchAnnotation<'_>, text: &str) -> bool {
        self.result_of(patch, text).as_ref() == patch.result()
    }

    /// The type of an operand's field at a pointer; `None` if there is no such field, or it accepts any type.
    pub fn operand_type(&self, patch: &PatchAnnotation<'_>, pointer: &str) -> Option<&'a GoType> {
        let (types, mut ty) = self.types_of(patch)?;
        for segment in jsonpatch::segments(pointer) {
            ty = match types.step(ty, &segment) {
                TypeStep::Field(_, inner) | TypeStep::Inside(inner) => inner,
                TypeStep::Free | TypeStep::Nowhere => return None,
            };
        }
        Some(ty.target())
    }

    /// The release's types, and that of the operand.
    pub fn types_of(&self, patch: &PatchAnnotation<'_>) -> Option<(&'a GoTypes, &'a GoType)> {
        let types = self.release().go_types();
        Some((types, types.of_kind(patch.target.api_version, patch.target.kind)?))
    }

    /// The operand's CustomResourceDefinition.
    pub fn operand_schema(&self, patch: &PatchAnnotation<'_>) -> Option<&'a Schema> {
        let target = &patch.target;
        self.release().schema_of(target.api_version, target.kind)
    }

    /// The effects of other operations in an annotation; `None` if its operand isn't rendered.
    pub fn effects_of(&self, patch: &PatchAnnotation<'_>, operations: &[Operation]) -> Option<Effects> {
        let before = patch.rendered()?;
        let (types, ty) = self.types_of(patch)?;
        Some(jsonpatch::effects(types, ty, before, operations))
    }
}

impl<'a> PatchAnnotation<'a> {
    /// Its operations; empty if the text can't be decoded.
    pub fn operations(&self) -> &[Operation] {
        self.decoded.as_deref().unwrap_or_default()
    }

    /// Why the text can't be decoded, or writes to a forbidden path.
    pub fn malformed(&self) -> Option<Failure> {
        match &self.decoded {
            Ok(operations) => only_spec(operations).err(),
            Err(failure) => Some(failure.clone()),
        }
    }

    /// The operand without this annotation; `None` if it isn't rendered or the patch fails.
    pub fn rendered(&self) -> Option<&Value> {
        self.patched.as_ref().map(|p| &*p.before)
    }

    /// The patched operand.
    pub fn result(&self) -> Option<&Value> {
        self.patched.as_ref().map(|p| &*p.after)
    }

    /// Its text with parts replaced (ranges of bytes, not overlapping), and the edits of the file; `None` if the
    /// notation doesn't allow it.
    pub fn edited(&self, changes: &[(Range<usize>, String)]) -> Option<(String, Vec<Edit>)> {
        let mut ordered: Vec<_> = changes.iter().collect();
        ordered.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = self.text.to_owned();
        for (range, new) in ordered {
            text.get(range.clone())?;
            text.replace_range(range.clone(), new);
        }
        let edits = changes.iter().map(|(range, new)| self.annotation.edit_part(range.clone(), new));
        Some((text, edits.collect::<Option<_>>()?))
    }

    /// Its text without some operations, and the edits of the file; `None` if the notation doesn't allow it.
    pub fn without(&self, indices: &[usize]) -> Option<(String, Vec<Edit>)> {
        let cuts = jsonpatch::removal_ranges(self.text, indices)?.into_iter();
        let cuts: Vec<_> = cuts.map(|range| (range, String::new())).collect();
        self.edited(&cuts)
    }

    /// A suggestion that replaces a span of its text, inside quotes.
    pub fn rewritten(&self, span: Span, new: &str) -> Option<Fix> {
        let mut range = span.range();
        if self.text.get(range.clone())?.starts_with('"') {
            range = range.start + 1..range.end.checked_sub(1)?;
        }
        Some(suggestion(format!("write {new}"), self.edited(&[(range, new.to_owned())])?.1))
    }

    /// A suggestion that gives what an operation names another name.
    pub fn renamed(&self, operation: &Operation, pointer: &str, name: &str) -> Option<Fix> {
        self.rewritten(self.named_span(operation, pointer)?, name)
    }

    /// The location of a span of its text.
    pub fn place(&self, span: Span) -> Location {
        let places = self.places.get_or_init(|| self.annotation.places());
        self.annotation.location(places.locate(span.range()))
    }

    /// The location of an operation's path.
    pub fn path_place(&self, operation: &Operation) -> Location {
        self.place(operation.spans.path)
    }

    /// The effects of its operations, in order; `None` if they weren't applied or computed yet.
    pub(super) fn effects(&self) -> Option<&[Effect]> {
        let effects = self.effects.get()?.as_ref()?;
        Some(&effects.operations)
    }

    /// The location in an operation for an operand's path (a JSON pointer): the segment of its path, the key in its
    /// value, else its path.
    pub fn named_location(&self, operation: &Operation, pointer: &str) -> Location {
        let found = self.named_span(operation, pointer);
        self.place(found.unwrap_or(operation.spans.path))
    }

    /// The same as a range of the text, keys with quotes; `None` if only the whole path can be marked.
    fn named_span(&self, operation: &Operation, pointer: &str) -> Option<Span> {
        let wanted = jsonpatch::segments(pointer);
        let path = operation.segments();
        let leads = path.iter().zip(&wanted).all(|(p, w)| same_step(p, w));
        match wanted.len().checked_sub(path.len()) {
            _ if !leads || wanted.is_empty() => None,
            None | Some(0) => operation.segment_span(self.text, wanted.len() - 1),
            Some(_) => {
                let part = operation.part(self.text, &wanted[path.len()..])?;
                Some(part.key.unwrap_or(part.value))
            }
        }
    }
}

/// Whether a written segment may match an operand's: `-` and negative indexes match any element.
pub(super) fn same_step(written: &str, step: &str) -> bool {
    let some_element = written.starts_with('-') && is_digits(step);
    written == step || some_element
}

impl Applied<'_, '_> {
    pub(super) fn id(&self) -> OperationId {
        (self.patch.target.name, self.index)
    }

    /// Whether it writes: all operations but `test`.
    pub fn writes(&self) -> bool {
        self.operation.op != Op::Test
    }

    /// The operand's kind.
    pub fn kind(&self) -> &'static str {
        self.patch.target.kind
    }

    /// The location in the operation for an operand's path.
    pub fn named_location(&self, pointer: &str) -> Location {
        self.patch.named_location(self.operation, pointer)
    }

    /// The location of its path.
    pub fn path_place(&self) -> Location {
        self.patch.path_place(self.operation)
    }

    /// Whether it removes a value that HCO adds again.
    pub fn keeps_removed(&self) -> bool {
        let path = &self.operation.path;
        let mut lost = self.effect.lost.iter();
        self.operation.op == Op::Remove && lost.any(|l| l.path == *path && l.plain.is_none() && l.actual.is_some())
    }

    /// The last earlier operation that wrote the same path.
    pub fn conflict(&self) -> Option<usize> {
        if !self.writes() || self.keeps_removed() || is_index(&self.operation.path) {
            return None;
        }
        let before = self.patch.operations().get(..self.index)?;
        before.iter().rposition(|earlier| {
            let writes = !matches!(earlier.op, Op::Test | Op::Remove);
            writes && same_place(earlier, &self.operation.path)
        })
    }

    /// Whether another operation of its patch writes another value to the same path: which is meant is open.
    pub fn is_contested(&self, cx: &Context<'_>) -> bool {
        let contested = cx.known.contested.get_or_init(|| {
            let both = |later: Applied<'_, '_>| {
                let earlier = later.conflict()?;
                let is_other = later.patch.operations()[earlier].value() != later.operation.value();
                is_other.then_some([later.id(), (later.patch.target.name, earlier)])
            };
            cx.applied().filter_map(both).flatten().collect()
        });
        contested.contains(&self.id())
    }

    /// Whether a list's element inherited the value of another one.
    pub fn inherits(&self) -> bool {
        let mut lost = self.effect.lost.iter();
        lost.any(|l| l.reason == jsonpatch::LossReason::Inherited)
    }
}

/// Whether a path ends with a list's index, which may mean different elements.
fn is_index(path: &str) -> bool {
    let last = last_part(path, '/');
    is_digits(last.strip_prefix('-').unwrap_or(last))
}

/// Whether an operation wrote a path, a child of it, or an object with it.
fn same_place(earlier: &Operation, path: &str) -> bool {
    match path.strip_prefix(&earlier.path) {
        Some(rest) if rest.starts_with('/') => earlier.value().is_some_and(|value| value.pointer(rest).is_some()),
        _ => pointer::is_within(&earlier.path, path),
    }
}
