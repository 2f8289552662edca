//! An operation that can't be applied to the operand.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(failed) = cx.patch_failure() else {
        return;
    };
    let failure = failed.failure;
    let (explained, help) = match failure.kind {
        FailureKind::MissingPath | FailureKind::MissingField => {
            ("the path doesn't exist", "first add the object or list that the path is in, or correct the path")
        }
        FailureKind::Index => ("the element doesn't exist", "write the index of an element, or `-` to append one"),
        FailureKind::NilDereference => ("the operator's patch library panics on it", "correct the path"),
        _ => return,
    };
    let mut annotations = cx.patch_annotations().iter();
    let Some(patch) = annotations.find(|p| p.target.name == failed.annotation) else {
        return;
    };
    let operations = patch.operations();
    let operation = failure.operation.and_then(|i| operations.get(i));
    if operation.is_some_and(|o| o.op == Op::Test) {
        return;
    }
    let what = operation.map_or("patch".to_owned(), |o| format!("operation {}", o.op.as_str()));
    let who = match failed.incident {
        Incident::Rejection => "HCO's validating webhook rejects the HyperConverged",
        _ => "the HyperConverged is accepted, but HCO's reconcile fails",
    };
    let message = format!("the {what} can't be applied to {}; {who}: {}", patch.target.kind, failure.message);
    let mut finding = cx.finding(message).at(cx.patch_place(failed.annotation, failure)).label(explained).help(help);
    if let Some(operation) = operation.filter(|_| failure.kind == FailureKind::MissingField) {
        let op = operation.spans.op.range();
        let title = "write add: it sets a field whether it is there or not";
        let edit = patch.annotation.edit_part(op.start + 1..op.end - 1, "add");
        let fix = |edit| suggestion(title.to_owned(), vec![edit]);
        finding = finding.remedy(title, edit.map(fix));
    }
    if let Some((pointer, name, fix)) = operation.and_then(|operation| meant(cx, patch, operation)) {
        finding = finding.remedy(format!("{} has no {pointer}: did you mean {name}?", patch.target.kind), fix);
    } else if let (Some(Op::Remove), Some(index)) = (operation.map(|o| o.op), failure.operation)
        && failure.kind != FailureKind::Index
    {
        let fix = cx.without_operation(patch, index, Applicability::Unsafe);
        finding = finding.remedy("remove the operation: what it removes isn't there", fix);
    } else if failure.kind == FailureKind::MissingPath {
        finding = finding.fixes(operation.and_then(|operation| with_parents(cx, patch, operation)));
    }
    out.explain(failed.incident, finding);
}

/// A fix that adds the missing objects and lists around a value together with it.
fn with_parents(cx: &Context<'_>, patch: &PatchAnnotation<'_>, operation: &Operation) -> Option<Fix> {
    cx.operand_type(patch, &operation.path).filter(|_| operation.op == Op::Add)?;
    let (path, value) = (operation.spans.path.range(), operation.spans.value?.range());
    let mut added = operation.value()?;
    let parents: Vec<usize> = operation.path.match_indices('/').map(|(at, _)| at).collect();
    parents.into_iter().skip(2).rev().find_map(|end| {
        let parent = &operation.path[..end];
        let step = jsonpatch::segments(&operation.path[end..]).into_iter().next()?;
        added = if step == "-" || is_digits(&step) { json!([added]) } else { json!({&*step: added}) };
        let changes = [(path.start + 1..path.end - 1, parent.to_owned()), (value.clone(), added.to_string())];
        let fix = suggestion(format!("add {parent} together with the value"), patch.edited(&changes)?.1);
        cx.planned_with(&fix).is_some_and(|plan| plan.succeeds()).then_some(fix)
    })
}

/// The first segment of an operation's path that the operand's type doesn't have, with the similar field.
fn meant<'c>(
    cx: &'c Context<'_>,
    patch: &PatchAnnotation<'_>,
    operation: &Operation,
) -> Option<(String, &'c str, Option<Fix>)> {
    let types = cx.release().go_types();
    let ends = operation.path.match_indices('/').map(|(at, _)| at).skip(1).chain([operation.path.len()]);
    ends.map(|end| &operation.path[..end]).find_map(|pointer| {
        let (parent, key) = pointer.rsplit_once('/')?;
        let ty = cx.operand_type(patch, parent)?;
        if !matches!(types.step(ty, key), TypeStep::Nowhere) {
            return None;
        }
        let name = nearest(key, types.field_names(ty))?;
        // Another operation may fail, too.
        let is_gone = |fix: &Fix| cx.planned_with(fix).is_some_and(|p| p.admission.message != cx.admission().message);
        Some((pointer.to_owned(), name, patch.renamed(operation, pointer, name).filter(is_gone)))
    })
}
