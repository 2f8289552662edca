//! KubeVirt's `developerConfiguration.featureGates` and, from 1.19 on, `disabledFeatureGates`.

use super::{Context, Renderer};
use crate::release::GateCondition;

/// The gates that HCO enables, in the operator's order (1.19: sorted).
pub(super) fn enabled<'a>(cx: &Context<'a>) -> Vec<&'a str> {
    let gates = &cx.release.tables().kubevirt_feature_gates;
    let mut out: Vec<&str> = gates.always.iter().map(String::as_str).collect();
    if !emulation(cx) {
        out.extend(gates.unless_emulation.iter().map(String::as_str));
    }
    let conditional = gates.conditional.iter().filter(|g| is_met(cx, &g.when));
    out.extend(conditional.map(|g| g.gate.as_str()));
    if gates.sorted {
        out.sort();
    }
    out
}

/// The beta gates that are not enabled; `None` before 1.19.
pub(super) fn disabled<'a>(cx: &Context<'a>, enabled: &[&str]) -> Option<Vec<&'a str>> {
    let beta = cx.release.tables().kubevirt_feature_gates.beta.as_ref()?;
    let beta = beta.iter().map(String::as_str);
    let mut out: Vec<_> = beta.filter(|g| !enabled.contains(g)).collect();
    out.sort();
    Some(out)
}

/// Whether the operator runs with software emulation (`KVM_EMULATION`).
pub(super) fn emulation(cx: &Context<'_>) -> bool {
    let value = cx.env("KVM_EMULATION").map(str::to_ascii_lowercase);
    matches!(value.as_deref(), Some("1" | "t" | "true"))
}

fn is_met(cx: &Context<'_>, condition: &GateCondition) -> bool {
    let field = |path: &str| cx.hc.get(path);
    match condition {
        GateCondition::FeatureGate { feature_gate, when_unset } => cx.hc.gates.is_enabled(feature_gate, *when_unset),
        GateCondition::Not { not } => !is_met(cx, not),
        GateCondition::Annotation { annotation, equals } => cx.hc.annotation_is(annotation, equals),
        GateCondition::WorkloadArchitecture { architecture } => {
            cx.topology.workload_architectures.contains(architecture)
        }
        GateCondition::NonEmpty { non_empty } => {
            field(non_empty).and_then(|v| v.as_array()).is_some_and(|a| !a.is_empty())
        }
        GateCondition::Set { set } => field(set).is_some(),
        GateCondition::TrueOrUnset { true_or_unset } => {
            field(true_or_unset).and_then(serde_json::Value::as_bool) != Some(false)
        }
        // The Deployment is ready when the operator renders; the webhook has no status.
        GateCondition::StatusConditionTrue { .. } => cx.renderer == Renderer::Operator && !cx.never_ready,
        GateCondition::All { all } => all.iter().all(|c| is_met(cx, c)),
    }
}
