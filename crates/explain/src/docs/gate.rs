//! Feature gates of HCO and of KubeVirt.

use hcoplan_planner::release::{Phase, Release};

use super::WORDS;

/// HCO's gates of all releases, sorted.
pub fn gates() -> Vec<String> {
    let releases = Release::known_names().filter_map(Release::known);
    let names = releases.flat_map(|r| r.tables().feature_gates.iter().map(|g| g.name.clone()).collect::<Vec<_>>());
    let mut out: Vec<String> = names.collect();
    out.sort();
    out.dedup();
    out
}

/// What a gate of HCO switches; `None` of one that switches nothing.
pub fn gate_words(name: &str) -> Option<&'static str> {
    WORDS.gates.get(name).map(String::as_str)
}

/// The gate's name and its state in a release: of HCO's own, else of KubeVirt's. `None` where neither has it. Case
/// doesn't count.
pub fn gate_in(release: &Release, name: &str) -> Option<(String, String)> {
    let is_it = |known: &str| known.eq_ignore_ascii_case(name);
    let tables = release.tables();
    if let Some(gate) = tables.feature_gates.iter().find(|g| is_it(&g.name)) {
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
    let (gate, phase) = release.kubevirt().feature_gates.iter().find(|(g, _)| is_it(g))?;
    let unread = release.kubevirt().gates_without_effect.contains(gate);
    let said = if unread {
        "which nothing reads any more".to_owned()
    } else {
        format!("{}; {}", of_kubevirt(*phase), switch(release, gate, *phase))
    };
    Some((gate.clone(), format!("a gate of KubeVirt, {said}")))
}

/// What a phase means for a gate of KubeVirt.
fn of_kubevirt(phase: Phase) -> &'static str {
    match phase {
        Phase::Deprecated => "deprecated (works while it is listed)",
        Phase::Discontinued => "gone: listing it does nothing",
        phase => phase.as_str(),
    }
}

/// What switches a gate of KubeVirt.
fn switch(release: &Release, gate: &str, phase: Phase) -> String {
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
