//! Feature gates that jsonpatch annotations add to or remove from operands.

use hcoplan_explain::diff::in_both_lists;

use super::prelude::*;
use crate::KUBEVIRT_GATES;

pub(super) static RULES: &[RegisteredRule] = &[
    always(&JSONPATCH_DUPLICATE_FEATURE_GATE, duplicates),
    always(&JSONPATCH_FEATURE_GATE_IN_DISABLED_LIST, in_disabled_list),
    always(&JSONPATCH_FEATURE_GATE_INERT, |cx, out| each_added(cx, out, inert)),
    always(&JSONPATCH_FEATURE_GATES_REPLACED, replaced),
    always(&JSONPATCH_UNKNOWN_FEATURE_GATE, |cx, out| each_added(cx, out, unknown)),
];

/// The gates that operations add to KubeVirt; `jsonpatch-duplicate-feature-gate` reports existing ones.
fn each_added(cx: &Context<'_>, out: &mut Sink, find: fn(&Context<'_>, &Applied<'_, '_>, &str) -> Option<Finding>) {
    for applied in cx.applied().filter(|a| a.kind() == "KubeVirt") {
        let Some(gates) = applied.gates() else {
            continue;
        };
        let new = gates.added.iter().filter(|gate| !gates.twice.contains(gate));
        out.report_all(new.filter_map(|gate| find(cx, &applied, gate)));
    }
}

/// Whether an operation only adds a gate.
fn appends(applied: &Applied<'_, '_>, gate: &str) -> bool {
    applied.operation.value().is_some_and(|value| value == gate)
}

fn inert(cx: &Context<'_>, applied: &Applied<'_, '_>, gate: &str) -> Option<Finding> {
    let known = cx.release().kubevirt_gate(gate)?;
    // If the feature is enabled anyway, removing the operation is safe.
    let (severity, why, applicability) = match known.phase {
        Phase::Ga => (Severity::Info, "the feature is always on", Applicability::Safe),
        Phase::Discontinued => (Severity::Warning, "the feature was discontinued", Applicability::Unsafe),
        _ if known.is_unread => (Severity::Info, "its feature was removed", Applicability::Unsafe),
        _ => return None,
    };
    let message = format!("the feature gate {gate} has no effect in KubeVirt {}: {why}", cx.kubevirt().version);
    let finding = cx
        .finding(message)
        .severity(severity)
        .at(applied.text_place(gate))
        .label("has no effect, and counts for the alert");
    Some(without(cx, finding, applied, gate, applicability))
}

/// Adds help and fix that remove a gate from an operation.
fn without(
    cx: &Context<'_>,
    finding: Finding,
    applied: &Applied<'_, '_>,
    gate: &str,
    applicability: Applicability,
) -> Finding {
    if !appends(applied, gate) {
        return finding.help("leave the gate out");
    }
    finding.remedy("remove the operation", cx.without_operation(applied.patch, applied.index, applicability))
}

fn unknown(cx: &Context<'_>, applied: &Applied<'_, '_>, gate: &str) -> Option<Finding> {
    if cx.release().kubevirt_gate(gate).is_some() {
        return None;
    }
    let message = format!("KubeVirt {} has no feature gate {gate}", cx.kubevirt().version);
    let finding = cx.finding(message).at(applied.text_place(gate)).label("ignored");
    let [_, later] = cx.other_releases(|release| release.kubevirt_gate(gate).is_some());
    if let Some(first) = later.first() {
        let release = first.display_name();
        let help = format!("the KubeVirt of {release} is the first that has it: remove the operation until then");
        return Some(finding.help(help));
    }
    Some(match nearest(gate, cx.release().kubevirt_gates().map(|known| known.name)) {
        Some(meant) => {
            let fix = applied.text_span(gate).and_then(|span| applied.patch.rewritten(span, meant));
            finding.remedy(format!("did you mean {meant}?"), fix)
        }
        None => finding.help("remove it, or write the gate's name as KubeVirt does"),
    })
}

/// One finding for all gates of an operand that HCO renders anyway and that are added by separate operations.
fn duplicates(cx: &Context<'_>, out: &mut Sink) {
    let mut alike: BTreeMap<&str, Vec<(Applied<'_, '_>, &str)>> = BTreeMap::new();
    for applied in cx.applied() {
        let Some(gates) = applied.gates() else {
            continue;
        };
        for gate in &gates.twice {
            let rendered = applied.patch.rendered().is_some_and(|r| has(r, gates.list, gate));
            if rendered && appends(&applied, gate) {
                alike.entry(applied.kind()).or_default().push((applied, gate));
            } else {
                let finding = duplicate(cx, &applied, gate, rendered);
                out.report(without(cx, finding, &applied, gate, Applicability::Safe));
            }
        }
    }
    for (kind, twice) in alike {
        let Some(((applied, gate), rest)) = twice.split_first() else {
            continue;
        };
        let mut finding = duplicate(cx, applied, gate, true);
        if rest.is_empty() {
            out.report(without(cx, finding, applied, gate, Applicability::Safe));
            continue;
        }
        let mut gates: Vec<&str> = twice.iter().map(|(_, gate)| *gate).collect();
        gates.dedup();
        finding.message = already_rendered(kind, &gates);
        finding = with_related(finding, rest.iter().map(|(other, gate)| other.text_place(gate)), "so does this one");
        let indices: BTreeSet<usize> = twice.iter().map(|(applied, _)| applied.index).collect();
        let fix = without_all(cx, applied.patch, &indices);
        out.report(finding.remedy("remove the operations", fix));
    }
}

fn already_rendered(kind: &str, gates: &[&str]) -> String {
    let them = if gates.len() == 1 { "it" } else { "them" };
    format!("the patch adds {} to {kind}'s feature gates, where HCO renders {them} already", and(gates))
}

fn duplicate(cx: &Context<'_>, applied: &Applied<'_, '_>, gate: &str, rendered: bool) -> Finding {
    let kind = applied.kind();
    let message = if rendered {
        already_rendered(kind, &[gate])
    } else {
        format!("{gate} is added to {kind}'s feature gates twice")
    };
    let finding = cx.finding(message).at(applied.text_place(gate));
    finding.label("changes nothing, and counts for the alert")
}

/// Removes these operations from the annotation, or the annotation with the last one.
fn without_all(cx: &Context<'_>, patch: &PatchAnnotation<'_>, indices: &BTreeSet<usize>) -> Option<Fix> {
    let count = indices.len();
    if count == patch.operations().len() {
        return cx.without_annotation(patch, Applicability::Safe);
    }
    let indices: Vec<usize> = indices.iter().copied().collect();
    let (_, edits) = patch.without(&indices)?;
    Some(safe(format!("remove {count} operations"), edits))
}

fn replaced(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied() {
        let Some(gates) = applied.gates() else {
            continue;
        };
        let (kind, operation) = (applied.kind(), applied.operation);
        let whole = operation.path == gates.list && matches!(operation.op, Op::Add | Op::Replace);
        let is_left = |gate: &str| applied.patch.result().is_some_and(|r| has(r, gates.list, gate));
        let lost: Vec<&str> = gates.lost.iter().map(String::as_str).filter(|g| !is_left(g)).collect();
        let is_worth = |gate: &str| cx.release().kubevirt_gate(gate).is_some_and(|known| known.is_worth_listing());
        let needed = |gate: &&str| kind != "KubeVirt" || is_worth(gate);
        let missed: Vec<&str> = lost.iter().copied().filter(needed).collect();
        if missed.is_empty() && !(whole && lost.is_empty()) {
            continue;
        }
        let finding = if missed.is_empty() {
            let message = format!(
                "the patch writes all of {kind}'s feature gates, and will lack those that the next release adds"
            );
            cx.finding(message).info().label("a copy of what HCO renders")
        } else {
            cx.finding(format!(
                "the patch removes {} from {kind}'s feature gates, which HCO switches on",
                list(&missed, MAX_NAMED)
            ))
            .label(if whole { "replaces HCO's feature gates" } else { "removes a feature gate" })
        };
        let help = if whole {
            "add the gates that are missing with /-, one operation for each"
        } else {
            "leave HCO's gates where they are: its own are switched in spec.featureGates, and \
             others are added with /-"
        };
        let place = match operation.spans.value {
            Some(value) if whole => applied.patch.place(value),
            _ => applied.path_place(),
        };
        out.report(finding.at(place).remedy(help, appended(cx, &applied, gates.list, &gates.added)));
    }
}

/// Maximum number of gates named.
const MAX_NAMED: usize = 4;

/// Replaces the operation by one for each new gate.
fn appended(cx: &Context<'_>, applied: &Applied<'_, '_>, list: &str, added: &[String]) -> Option<Fix> {
    if added.is_empty() {
        return cx.drop_operation(applied);
    }
    let gates: Vec<Json> = added.iter().map(|gate| json!(gate)).collect();
    let title = format!("add {} at the end of the list with /-, and leave HCO's gates", and(added));
    cx.appended(applied, list, &gates, title)
}

const DISABLED: &str = "/spec/configuration/developerConfiguration/disabledFeatureGates";

/// The gate that HCO removes from the annotation during an upgrade.
const REMOVED_BY_HCO: &str = "Template";

fn in_disabled_list(cx: &Context<'_>, out: &mut Sink) {
    let checks = &cx.kubevirt().update_checks;
    if !checks.iter().any(|c| c == "gates-in-both-lists") {
        return;
    }
    for (patch, rendered, result) in cx.patched_operands().filter(|(patch, ..)| patch.target.kind == "KubeVirt") {
        let before = in_both_lists(rendered);
        let mut new = in_both_lists(result);
        new.dedup();
        new.retain(|gate| !before.contains(gate));
        out.report_all(new.into_iter().map(|gate| conflict(cx, patch, rendered, gate)));
    }
}

fn conflict(cx: &Context<'_>, patch: &PatchAnnotation<'_>, rendered: &Json, gate: &str) -> Finding {
    let message = format!(
        "KubeVirt's webhook will reject the KubeVirt: feature gate \"{gate}\" exists on both \
         \"FeatureGates\" and \"DisabledFeatureGates\""
    );
    let finding = cx.finding(message);
    let mut of_this = cx.applied().filter(|a| a.patch.target == patch.target);
    let Some(applied) = of_this.find(|a| a.gates().is_some_and(|g| g.added.iter().any(|a| a == gate))) else {
        // The opposite: the patch disables a gate that HCO enables.
        let applied = cx.changed_by(patch, DISABLED);
        let place = applied.map_or_else(|| patch.annotation.value_place(), |a| a.path_place());
        let finding = finding.at(place).label("HCO switches this gate on");
        let help = "leave the gate out, or switch it off in the HyperConverged";
        return finding.help(help).fixes(applied.and_then(|a| cx.drop_operation(&a)));
    };
    let by_hco = has(rendered, DISABLED, gate);
    let finding = finding
        .at(applied.text_place(gate))
        .label(if by_hco { "HCO has disabled this gate" } else { "the same patch disables this gate" })
        .fixes(cx.drop_operation(&applied));
    let operation = applied.operation;
    let is_appended = operation.op == Op::Add && operation.path == format!("{KUBEVIRT_GATES}/-");
    if gate == REMOVED_BY_HCO && is_appended && by_hco {
        return finding.warning().help(
            "remove the operation: HCO takes it out of the cluster's HyperConverged when it \
             upgrades, and git puts it back",
        );
    }
    finding.help("remove the operation, in an upgrade before it")
}

fn has(operand: &Json, list: &str, gate: &str) -> bool {
    texts(operand.pointer(list)).any(|name| name == gate)
}
