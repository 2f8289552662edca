//! A feature gate that is switched on and off at once.

use serde_json::Value;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    name: "jsonpatch-feature-gate-in-disabled-list",
    group: Group::Jsonpatch,
    severity: Severity::Error,
    predicts: Prediction::Silent(
        "the operators accept it, and KubeVirt's webhook refuses the change of the KubeVirt: the \
         upgrade is stuck",
    ),
    fix: FixKind::Suggested,
    claims: Claim::HasEffect,
    summary: "a jsonpatch adds a feature gate that is also among the disabled ones",
    ..Rule::BASE
};

const DISABLED: &str = "/spec/configuration/developerConfiguration/disabledFeatureGates";

/// The gate whose operation HCO removes from the annotation when it upgrades.
const REMOVED_BY_HCO: &str = "Template";

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let checks = &cx.release().kubevirt().update_checks;
    if !checks.iter().any(|c| c == "gates-in-both-lists") {
        return;
    }
    for patch in cx.patch_annotations() {
        let (Some(rendered), Some(result)) = (patch.rendered(), patch.result()) else {
            continue;
        };
        if patch.target.kind != "KubeVirt" {
            continue;
        }
        let before = in_both(rendered);
        let conflicts = in_both(result).into_iter().filter(|g| !before.contains(g));
        for gate in conflicts {
            report(cx, patch, rendered, gate, out);
        }
    }
}

fn report(cx: &Context<'_>, patch: &PatchAnnotation<'_>, rendered: &Value, gate: &str, out: &mut Sink) {
    let message = format!(
        "KubeVirt's webhook will refuse the KubeVirt: feature gate \"{gate}\" exists on both \
         \"FeatureGates\" and \"DisabledFeatureGates\""
    );
    let adds = |a: &Applied<'_, '_>| a.gates().is_some_and(|g| g.added.iter().any(|a| a == gate));
    let by_hco = names(rendered, DISABLED).any(|g| g == gate);
    let finding = Finding::new(&RULE, message);
    let mut of_this = cx.applied().filter(|a| a.patch.target == patch.target);
    let Some(applied) = of_this.find(adds) else {
        // The other way round: the patch disables a gate that HCO switches on.
        let applied = cx.changed_by(patch, DISABLED);
        let place = applied.map_or_else(|| patch.annotation.value_place(), |a| a.path_place());
        let finding = finding.at(place).label("HCO switches this gate on");
        let help = "leave the gate out, or switch it off in the HyperConverged";
        out.report(finding.help(help).fixes(applied.and_then(|a| cx.drop_operation(&a))));
        return;
    };
    let operation = applied.operation;
    let appends = operation.op == Op::Add && operation.path == format!("{}/-", crate::KUBEVIRT_GATES);
    let dropped = gate == REMOVED_BY_HCO && appends && by_hco;
    let finding = finding
        .at(applied.text_place(gate))
        .label(if by_hco { "HCO has disabled this gate" } else { "the same patch disables this gate" })
        .fixes(cx.drop_operation(&applied));
    out.report(if dropped {
        finding.severity(Severity::Warning).help(
            "remove the operation: HCO takes it out of the cluster's HyperConverged when it \
         upgrades, and git puts it back",
        )
    } else {
        finding.help("remove the operation, before the upgrade where this is one")
    });
}

/// The gates that are in both of KubeVirt's lists.
fn in_both(kubevirt: &Value) -> Vec<&str> {
    let disabled: Vec<&str> = names(kubevirt, DISABLED).collect();
    let mut both: Vec<&str> = names(kubevirt, crate::KUBEVIRT_GATES).filter(|g| disabled.contains(g)).collect();
    both.dedup();
    both
}

fn names<'v>(kubevirt: &'v Value, list: &str) -> impl Iterator<Item = &'v str> {
    let list = kubevirt.pointer(list).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}
