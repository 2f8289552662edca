//! A field that the operand doesn't have.

use hcoplan_planner::jsonpatch::Loss;
use hcoplan_yaml::{Path, Segment};

use super::prelude::*;
use crate::schema_path;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-unknown-field",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent("the field is dropped, and UnsupportedHCOModification fires"),
    fix: FixKind::Suggested,
    summary: "a jsonpatch operation writes a field that the operand doesn't have",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let unknown = |l: &&Loss| l.reason == Reason::Unknown;
        // What another release has is `jsonpatch-path-not-in-release`.
        let nowhere = |l: &&Loss| cx.release_with(applied.patch, &l.path).is_none();
        for loss in applied.effect.lost.iter().filter(unknown).filter(nowhere) {
            report(cx, &applied, &loss.path, "the operator drops it", out);
        }
        for change in &applied.effect.changed {
            let pointer = &change.path;
            let dropped = change.after.as_ref().and_then(|v| pruned(cx, &applied, pointer, v));
            if let Some(pointer) = dropped {
                report(cx, &applied, &pointer, "the API server drops it", out);
            }
        }
    }
}

/// The pointer to what the operand's CustomResourceDefinition doesn't have of a value.
fn pruned(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str, value: &serde_json::Value) -> Option<String> {
    let schema = cx.operand_schema(applied.patch)?;
    // A scalar with a place of its own stays: nothing has to be tried out.
    let is_scalar = !value.is_object() && !value.is_array();
    if is_scalar && schema.field(&schema_path(pointer)).is_some() {
        return None;
    }
    let mut document = applied.patch.rendered()?.clone();
    let (parent, key) = pointer.rsplit_once('/')?;
    let key = jsonpatch::segments(&format!("/{key}")).pop()?;
    // Lists are replaced as a whole, so that the parent is an object or an element is there.
    match document.pointer_mut(parent)? {
        serde_json::Value::Object(entries) => {
            entries.insert(key, value.clone());
        }
        serde_json::Value::Array(items) => {
            *items.get_mut(key.parse::<usize>().ok()?)? = value.clone();
        }
        _ => return None,
    }
    let gone = schema.prune(&mut document);
    let mut paths = gone.iter().map(|p| p.path.to_pointer());
    paths.find(|p| p == pointer || p.starts_with(&format!("{pointer}/")))
}

fn report(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str, label: &'static str, out: &mut Sink) {
    let kind = applied.kind();
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    let finding =
        Finding::new(&RULE, format!("{kind} has no field {pointer}")).at(applied.named_location(pointer)).label(label);
    out.report(match meant(cx, applied, parent, key) {
        Some(Meant::Name(name)) => {
            finding.help(format!("did you mean {name}?")).fixes(renamed(applied, pointer, &name))
        }
        Some(Meant::Place(path)) => finding.help(format!("{kind} has {key} at {path}")),
        None => finding.help("remove the operation, or use the HyperConverged's own field"),
    });
}

/// What the author probably meant.
enum Meant {
    /// A field of this name at the same place.
    Name(String),
    /// The field at another place: its path.
    Place(Path),
}

fn meant(cx: &Context<'_>, applied: &Applied<'_, '_>, parent: &str, key: &str) -> Option<Meant> {
    let types = cx.release().go_types();
    if let Some(ty) = cx.operand_type(applied.patch, parent) {
        let by_type = types.field_of_type(ty, key);
        let name = by_type.or_else(|| nearest(key, types.field_names(ty)));
        if let Some(name) = name {
            return Some(Meant::Name(name.to_owned()));
        }
    }
    let mut elsewhere = cx.operand_schema(applied.patch)?.all_fields();
    let spec = Segment::Key("spec".to_owned());
    let wanted = Segment::Key(key.to_owned());
    elsewhere.retain(|p| p.0.last() == Some(&wanted) && p.0.first() == Some(&spec));
    match <[Path; 1]>::try_from(elsewhere) {
        Ok([only]) => Some(Meant::Place(only)),
        Err(_) => None,
    }
}

/// The other name in the key's place.
fn renamed(applied: &Applied<'_, '_>, pointer: &str, name: &str) -> Option<Fix> {
    let span = applied.patch.named_span(applied.operation, pointer)?.range();
    let quoted = applied.patch.text.get(span.clone())?.starts_with('"');
    let range = if quoted { span.start + 1..span.end - 1 } else { span };
    let (_, edits) = applied.patch.edited(&[(range, name.to_owned())])?;
    Some(Fix { title: format!("write {name}"), applicability: Applicability::Suggestion, edits })
}
