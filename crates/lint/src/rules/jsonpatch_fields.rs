//! Operations on fields that the operand doesn't have, has in another case, or has outside of its spec.

use std::slice;

use hcoplan_explain::why::applied as with_changes;
use hcoplan_kubernetes::schema::Schema;
use hcoplan_planner::jsonpatch::{ChangedPlace, LossReason};

use super::prelude::*;
use crate::schema_path;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&JSONPATCH_CASE_MISMATCH, |cx, out| each_lost(cx, out, LossReason::OtherCase, case_mismatch)),
    always(&JSONPATCH_FROM_OUTSIDE_SPEC, from_outside_spec),
    always(&JSONPATCH_PATH_NOT_IN_RELEASE, |cx, out| each_lost(cx, out, LossReason::Unknown, path_not_in_release)),
    always(&JSONPATCH_UNKNOWN_FIELD, |cx, out| {
        each_lost(cx, out, LossReason::Unknown, unknown_field);
        each_pruned(cx, out);
    }),
];

/// The values that an operation writes and the operand loses for a given reason, by pointer.
fn each_lost(
    cx: &Context<'_>,
    out: &mut Sink,
    reason: LossReason,
    find: fn(&Context<'_>, &Applied<'_, '_>, &str) -> Option<Finding>,
) {
    for applied in cx.applied() {
        let lost = applied.effect.lost.iter().filter(|loss| loss.reason == reason);
        out.report_all(lost.filter_map(|loss| find(cx, &applied, &loss.path)));
    }
}

fn case_mismatch(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str) -> Option<Finding> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let (patch, types) = (applied.patch, cx.release().go_types());
    let TypeStep::Field(name, _) = types.step(cx.operand_type(patch, parent)?, key) else {
        return None;
    };
    let fix = patch.renamed(applied.operation, pointer, name).and_then(|fix| cx.safe_where_objects_stay(fix));
    let finding = cx
        .finding(format!("the field of {} is {name}, not {key}: HCO accepts both", applied.kind()))
        .at(applied.named_location(pointer))
        .label("found by the operator, in any case");
    Some(finding.remedy(format!("write {name}"), fix))
}

fn from_outside_spec(cx: &Context<'_>, out: &mut Sink) {
    for patch in cx.patch_annotations() {
        for operation in patch.operations() {
            let (Some(from), Some(span)) = (&operation.from, operation.spans.from) else {
                continue;
            };
            if from.starts_with("/spec/") {
                continue;
            }
            let op = operation.op.as_str();
            let message = format!("the operation {op} reads {from} of {}, outside its spec", patch.target.kind);
            let label = match operation.op {
                Op::Move => "read, and not taken away",
                _ => "read before the operand is created",
            };
            let finding = cx.finding(message).at(patch.place(span)).label(label);
            out.report(finding.help("set the intended value with add"));
        }
    }
}

fn path_not_in_release(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str) -> Option<Finding> {
    let other = cx.release_with(applied.patch, pointer)?;
    let (kind, release) = (applied.kind(), cx.release().label());
    let message = format!("{kind} has no field {pointer} in {release}: it has it in {}", other.label());
    let help = if Release::place(other.name()) > Release::place(cx.release().name()) {
        format!("keep it for clusters that run {} or later", other.label())
    } else {
        "remove it, or use the HyperConverged's own field".to_owned()
    };
    let finding = cx.finding(message).at(applied.named_location(pointer));
    Some(finding.label("the operator drops it").help(help))
}

fn unknown_field(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str) -> Option<Finding> {
    // `jsonpatch-path-not-in-release` reports fields of other releases.
    if cx.release_with(applied.patch, pointer).is_some() {
        return None;
    }
    dropped(cx, applied, pointer, "the operator drops it")
}

/// Values that the operator keeps and the API server prunes.
fn each_pruned(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let changes = applied.effect.changed.iter();
        let pruned = changes.filter_map(|change| pruned(cx, &applied, change));
        out.report_all(pruned.filter_map(|pointer| dropped(cx, &applied, &pointer, "the API server drops it")));
    }
}

/// The pointer of the part of a value that the operand's CustomResourceDefinition doesn't have.
fn pruned(cx: &Context<'_>, applied: &Applied<'_, '_>, change: &ChangedPlace) -> Option<String> {
    let (pointer, value) = (&change.path, change.after.as_ref()?);
    let schema = cx.operand_schema(applied.patch)?;
    // Speed: a scalar at a known field is kept.
    let is_scalar = !value.is_object() && !value.is_array();
    if is_scalar && schema.field(&schema_path(pointer)).is_some() {
        return None;
    }
    let mut document = with_changes(applied.patch.rendered()?, slice::from_ref(change));
    let gone = schema.prune(&mut document);
    let mut paths = gone.iter().map(|p| p.path.to_pointer());
    paths.find(|p| p == pointer || p.starts_with(&format!("{pointer}/")))
}

fn dropped(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str, label: &'static str) -> Option<Finding> {
    let (kind, patch) = (applied.kind(), applied.patch);
    let (parent, key) = pointer.rsplit_once('/')?;
    let message = format!("{kind} has no field {pointer}");
    let finding = cx.finding(message).at(applied.named_location(pointer)).label(label);
    let types = cx.release().go_types();
    let of_type = cx.operand_type(patch, parent);
    let name = of_type.and_then(|ty| types.field_of_type(ty, key).or_else(|| nearest(key, types.field_names(ty))));
    if let Some(name) = name {
        let fix = patch.renamed(applied.operation, pointer, name);
        return Some(finding.remedy(format!("did you mean {name}?"), fix));
    }
    let is = |segment: Option<&Segment>, name: &str| matches!(segment, Some(Segment::Key(key)) if key == name);
    let elsewhere = |schema: Option<&Schema>| -> Vec<Path> {
        let mut all = schema.map(Schema::all_fields).unwrap_or_default();
        all.retain(|p| is(p.0.last(), key) && is(p.0.first(), "spec"));
        all
    };
    Some(finding.help(match (&elsewhere(cx.operand_schema(patch))[..], &elsewhere(cx.schema())[..]) {
        ([only], _) => format!("{kind} has {key} at {only}"),
        (_, [only]) => format!("set {only} of the HyperConverged"),
        _ => "remove the operation, or correct its path".to_owned(),
    }))
}
