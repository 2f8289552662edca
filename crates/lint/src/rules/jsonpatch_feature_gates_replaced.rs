//! A patch that takes feature gates away which HCO needs.

use serde_json::{Value, json};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-feature-gates-replaced",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent("the operator accepts it, and virtual machines that need a lost gate are refused"),
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "a jsonpatch takes feature gates away that HCO renders",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let Some(gates) = applied.gates() else {
            continue;
        };
        let operation = applied.operation;
        let whole = operation.path == gates.list && matches!(operation.op, Op::Add | Op::Replace);
        let result = applied.patch.result().and_then(|r| r.pointer(gates.list));
        let is_left = |gate: &str| {
            let left = result.and_then(Value::as_array);
            left.is_some_and(|left| left.iter().any(|g| g == gate))
        };
        let lost = gates.lost.iter().map(String::as_str);
        let lost: Vec<&str> = lost.filter(|g| !is_left(g)).collect();
        let needed = |gate: &&str| applied.kind() != "KubeVirt" || cx.release().kubevirt().listing_matters(gate);
        let missed: Vec<&str> = lost.iter().copied().filter(needed).collect();
        if missed.is_empty() && !(whole && lost.is_empty()) {
            continue;
        }
        let kind = applied.kind();
        let place = match operation.spans.value {
            Some(value) if whole => applied.patch.place(value),
            _ => applied.path_place(),
        };
        let finding =
            if missed.is_empty() {
                Finding::new(
                    &RULE,
                    format!(
                        "the patch writes all of {kind}'s feature gates, and will lack those that the next release adds"
                    ),
                )
                .severity(Severity::Info)
                .label("a copy of what HCO renders")
            } else {
                Finding::new(&RULE, format!("{kind} loses {}, which HCO had switched on", some(&missed)))
                    .label(if whole { "replaces HCO's feature gates" } else { "takes a feature gate away" })
            };
        let help = if whole {
            "add the gates that are missing with /-, one operation for each"
        } else {
            "leave HCO's gates where they are: its own are switched in spec.featureGates, and \
             others are added with /-"
        };
        let fix = appended(cx, &applied, gates.list, &gates.added);
        out.report(finding.at(place).help(help).fixes(fix));
    }
}

/// The most gates that are named.
const MOST_NAMED: usize = 4;

fn some(gates: &[&str]) -> String {
    match gates.get(..MOST_NAMED).filter(|_| gates.len() > MOST_NAMED + 1) {
        Some(first) => format!("{} and {} more", first.join(", "), gates.len() - MOST_NAMED),
        None => and(gates),
    }
}

/// An operation for each gate that is new, in the place of the one that takes others away.
fn appended(cx: &Context<'_>, applied: &Applied<'_, '_>, list: &str, added: &[String]) -> Option<Fix> {
    if added.is_empty() {
        return cx.drop_operation(applied);
    }
    let path = format!("{list}/-");
    let one = |gate: &String| {
        let value = json!(gate);
        format!(r#"{{"op": "add", "path": "{path}", "value": {value}}}"#)
    };
    let text: Vec<String> = added.iter().map(one).collect();
    let span = applied.operation.spans.whole.range();
    let (text, edits) = applied.patch.edited(&[(span, text.join(", "))])?;
    cx.result_of(applied.patch, &text)?;
    Some(Fix {
        title: format!("add {} at the end of the list", and(added)),
        applicability: Applicability::Suggestion,
        edits,
    })
}
