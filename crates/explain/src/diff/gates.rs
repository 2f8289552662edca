//! Finds changes of gate lists without effect: a graduated gate is no longer listed, and a beta gate is on without
//! being listed.

use crate::diff::semantic::{NoiseKind, ObjectChange};
use crate::prelude::*;
use hcoplan_planner::lifecycle::is_upgrade;
use hcoplan_planner::machines::Cluster;

const LISTS: [&str; 2] = ["featureGates", "disabledFeatureGates"];

/// Marks entries of both lists whose feature keeps its state.
pub(super) fn mark_noise(before: &Release, after: &Release, objects: &mut [ObjectChange]) {
    // HCO lists these gates of CDI itself; one that it no longer lists has graduated.
    let lists = |release: &Release, gate: &str| release.tables().cdi_feature_gates.iter().any(|g| g == gate);
    for field in objects.iter_mut().filter(|c| c.id.kind == "CDI").flat_map(|c| &mut c.fields) {
        let step = &mut field.step;
        let (older, newer) = if is_upgrade(before, after) { (before, after) } else { (after, before) };
        let gate = step.before.as_ref().xor(step.after.as_ref()).and_then(Value::as_str);
        let is_gate = step.label.starts_with("spec.config.featureGates[");
        if gate.is_some_and(|gate| is_gate && lists(older, gate) && !lists(newer, gate)) {
            step.noise = Some(NoiseKind::Release);
        }
    }
    for change in objects.iter_mut().filter(|c| c.id.kind == "KubeVirt") {
        let (Some(old), Some(new)) = (&change.before, &change.after) else {
            continue;
        };
        let was = enabled(before, old);
        let is = enabled(after, new);
        for field in &mut change.fields {
            let step = &mut field.step;
            let gates = gates_of(&step.label, step.before.as_ref(), step.after.as_ref());
            let is_read = |gate: &String| {
                let known = [before, after].map(|release| release.kubevirt_gate(gate));
                !known.iter().flatten().any(|known| known.is_unread)
            };
            if !gates.is_empty() && gates.iter().all(|gate| !is_read(gate) || was.contains(gate) == is.contains(gate)) {
                step.noise = Some(NoiseKind::Release);
            }
        }
    }
}

/// The gates that a step is about; empty if it isn't about gates.
fn gates_of(label: &str, before: Option<&Value>, after: Option<&Value>) -> Vec<String> {
    let prefix = "spec.configuration.developerConfiguration.";
    if !LISTS.iter().any(|list| is_within(label, &format!("{prefix}{list}"))) {
        return Vec::new();
    }
    let values = [before, after].into_iter().flatten();
    let gates = values.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    gates.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The feature gates that are in both of a KubeVirt's lists, which its webhook rejects.
pub fn in_both_lists(kubevirt: &Value) -> Vec<&str> {
    let gates = &kubevirt["spec"]["configuration"]["developerConfiguration"];
    let [on, off] = LISTS.map(|list| texts(&gates[list]).collect::<Vec<_>>());
    on.into_iter().filter(|gate| off.contains(gate)).collect()
}

/// The enabled features of a KubeVirt object.
pub(super) fn enabled(release: &Release, kubevirt: &Value) -> BTreeSet<String> {
    let cluster = Cluster { release, kubevirt };
    // What KubeVirt no longer has isn't switched on, although nothing checks it any more.
    let gates =
        release.kubevirt_gates().filter(|gate| gate.phase != Phase::Discontinued && cluster.has_gate(gate.name));
    gates.map(|gate| gate.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use hcoplan_kubernetes::Object;
    use serde_json::json;

    use super::*;
    use crate::diff::compare_objects;

    #[test]
    fn ignores_a_graduated_gate() {
        let (old, new) = ("1.17", "1.19");
        let release = |name| Release::known(name).expect("known");
        let kubevirt = |gates: Value, off: Value| {
            Object::new(json!({
                "apiVersion": "kubevirt.io/v1", "kind": "KubeVirt",
                "metadata": {"name": "k", "namespace": "n"},
                "spec": {"configuration": {"developerConfiguration": {
                    "featureGates": gates, "disabledFeatureGates": off}}},
            }))
        };
        let shown = |before: Object, after: Object| -> Vec<String> {
            let mut found = compare_objects(&release(new), &[before], &[after]);
            let changes = Arc::make_mut(&mut found.objects);
            mark_noise(&release(old), &release(new), changes);
            let fields = found.objects.iter().flat_map(|o| &o.fields);
            let real = fields.filter(|f| f.step.noise.is_none());
            real.map(|f| f.step.label.clone()).collect()
        };
        let list = "spec.configuration.developerConfiguration.featureGates";
        // Alpha in 1.17; beta in 1.19 and therefore on by default.
        let listed = kubevirt(json!(["DeclarativeHotplugVolumes"]), json!([]));
        let left_out = kubevirt(json!([]), json!([]));
        assert_eq!(shown(listed.clone(), left_out), Vec::<String>::new());
        let disabled = kubevirt(json!([]), json!(["DeclarativeHotplugVolumes"]));
        assert_eq!(shown(listed, disabled).len(), 2);
        let alpha = kubevirt(json!(["AlignCPUs"]), json!([]));
        let without = kubevirt(json!([]), json!([]));
        assert_eq!(shown(alpha, without), [format!("{list}[AlignCPUs]")]);
    }
}
