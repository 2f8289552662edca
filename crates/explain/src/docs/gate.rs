//! Feature gates of HCO and of KubeVirt.

use hcoplan_planner::release::{Phase, Release};

use super::TEXTS;

/// HCO's gates of all releases, sorted.
pub fn gates() -> Vec<String> {
    let releases = Release::known_names().filter_map(Release::known);
    let names = releases.flat_map(|r| r.tables().feature_gates.iter().map(|g| g.name.clone()).collect::<Vec<_>>());
    let mut out: Vec<String> = names.collect();
    out.sort();
    out.dedup();
    out
}

/// The effect of a gate of HCO; `None` if it has none.
pub fn gate_effect(name: &str) -> Option<&'static str> {
    TEXTS.gates.get(name).map(String::as_str)
}

/// The name and state of a gate of HCO, else of KubeVirt, in a release; `None` if neither has it. Ignores case.
pub fn gate_in(release: &Release, name: &str) -> Option<(String, String)> {
    let matches = |known: &str| known.eq_ignore_ascii_case(name);
    let tables = release.tables();
    if let Some(gate) = tables.feature_gates.iter().find(|g| matches(&g.name)) {
        let mut out = gate.phase.as_str().to_owned();
        let switched = tables.switched_by(&gate.name);
        if !switched.is_empty() {
            out.push_str(&format!("; decides about {} of KubeVirt", switched.join(", ")));
        }
        if let Some(effect) = tables.gate_effects.get(&gate.name) {
            out.push_str(&format!("; {effect}"));
        }
        return Some((gate.name.clone(), out));
    }
    let (gate, phase) = release.kubevirt().feature_gates.iter().find(|(g, _)| matches(g))?;
    let is_unread = release.kubevirt().gates_without_effect.contains(gate);
    let state = if is_unread {
        "which nothing reads any more".to_owned()
    } else {
        format!("{}; {}", kubevirt_phase(*phase), switch_text(release, gate, *phase))
    };
    Some((gate.clone(), format!("a gate of KubeVirt, {state}")))
}

/// The meaning of a phase for a gate of KubeVirt.
fn kubevirt_phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Deprecated => "deprecated (works while it is listed)",
        Phase::Discontinued => "removed: listing it does nothing",
        phase => phase.as_str(),
    }
}

/// The switch of a gate of KubeVirt as text.
fn switch_text(release: &Release, gate: &str, phase: Phase) -> String {
    if matches!(phase, Phase::Ga | Phase::Discontinued) {
        return "nothing switches it".to_owned();
    }
    match release.tables().switch_of(gate) {
        Some(own) => format!("HCO's gate {} switches it", own.name),
        None if release.tables().kubevirt_feature_gates.always.iter().any(|g| g == gate) => {
            "HCO always switches it on".to_owned()
        }
        None => {
            "HCO has no switch for it; only a jsonpatch of the KubeVirt could set it, which is unsupported".to_owned()
        }
    }
}
