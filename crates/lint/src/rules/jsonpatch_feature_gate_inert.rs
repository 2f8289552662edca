//! A patch that adds a feature gate which switches nothing (any more).

use hcoplan_planner::release::Phase;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-feature-gate-inert",
    group: Group::Jsonpatch,
    severity: Severity::Info,
    predicts: Prediction::Alert {
        name: "UnsupportedHCOModification",
        runbook: "https://kubevirt.io/monitoring/runbooks/UnsupportedHCOModification.html",
    },
    fix: FixKind::Safe,
    summary: "a jsonpatch adds a feature gate that switches nothing in this release",
    ..Rule::BASE
};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for applied in cx.applied().filter(|a| a.kind() == "KubeVirt") {
        let Some(gates) = applied.gates() else {
            continue;
        };
        for gate in &gates.added {
            // What is there twice is `jsonpatch-duplicate-feature-gate`.
            if gates.twice.contains(gate) {
                continue;
            }
            let Some((severity, why, applicability)) = inert(cx, gate) else {
                continue;
            };
            let appends = applied.operation.value().is_some_and(|v| v == gate.as_str());
            let fix = cx.without_operation(applied.patch, applied.index, applicability);
            let version = &cx.release().kubevirt().version;
            out.report(
                Finding::new(&RULE, format!("the feature gate {gate} switches nothing in KubeVirt {version}: {why}"))
                    .severity(severity)
                    .at(applied.text_place(gate))
                    .label("switches nothing, and counts for the alert")
                    .help(if appends { "remove the operation" } else { "leave the gate out" })
                    .fixes(fix.filter(|_| appends)),
            );
        }
    }
}

/// How bad it is that a gate switches nothing, why that is so, and whether it can go without a question: what
/// was wanted is there anyway.
fn inert(cx: &Context<'_>, gate: &str) -> Option<(Severity, &'static str, Applicability)> {
    let kubevirt = cx.release().kubevirt();
    let phase = kubevirt.feature_gates.get(gate)?;
    let unread = kubevirt.gates_without_effect.iter().any(|g| g == gate);
    match phase {
        Phase::Ga => Some((Severity::Info, "the feature is always on", Applicability::Safe)),
        Phase::Discontinued => Some((Severity::Warning, "the feature was discontinued", Applicability::Unsafe)),
        _ if unread => Some((Severity::Info, "nothing reads it any more", Applicability::Unsafe)),
        _ => None,
    }
}
