//! A field in another case.

use hcoplan_kubernetes::go::TypeStep;
use hcoplan_planner::jsonpatch::Loss;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-case-mismatch",
    group: Group::Jsonpatch,
    severity: Severity::Warning,
    predicts: Prediction::Silent("the operator finds the field, and nobody else does"),
    fix: FixKind::Safe,
    claims: Claim::HasEffect,
    summary: "a jsonpatch operation spells a field in another case",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let other_case = |l: &&Loss| l.reason == Reason::OtherCase;
        for loss in applied.effect.lost.iter().filter(other_case) {
            let Some((parent, key)) = loss.path.rsplit_once('/') else {
                continue;
            };
            let types = cx.release().go_types();
            let ty = cx.operand_type(applied.patch, parent);
            let Some(TypeStep::Field(name, _)) = ty.map(|ty| types.step(ty, key)) else {
                continue;
            };
            let place = applied.named_location(&loss.path);
            out.report(
                Finding::new(&RULE, format!("{key} is {name} in {}", applied.kind()))
                    .at(place)
                    .label("found by the operator, in any case")
                    .help(format!("write {name}"))
                    .fixes(spelled(cx, &applied, &loss.path, name)),
            );
        }
    }
}

/// The field's own spelling.
fn spelled(cx: &Context<'_>, applied: &Applied<'_, '_>, pointer: &str, name: &str) -> Option<Fix> {
    let (patch, operation) = (applied.patch, applied.operation);
    let span = patch.named_span(operation, pointer)?.range();
    let quoted = patch.text.get(span.clone())?.starts_with('"');
    let range = if quoted { span.start + 1..span.end - 1 } else { span };
    let (text, edits) = patch.edited(&[(range, name.to_owned())])?;
    let result = cx.result_of(patch, &text)?;
    let same = patch.result() == Some(&result);
    Some(Fix {
        title: format!("write {name}"),
        applicability: if same { Applicability::Safe } else { Applicability::Unsafe },
        edits,
    })
}
