//! Feature gates of HCO and of KubeVirt.

use super::TEXTS;
use crate::prelude::*;
use hcoplan_planner::release::{GateSetter, KubeVirtGate};

/// HCO's gates of all releases, sorted.
pub fn gates() -> Vec<String> {
    let mut names = BTreeSet::new();
    for release in Release::known_names().filter_map(Release::known) {
        names.extend(release.tables().feature_gates.iter().map(|gate| gate.name.clone()));
    }
    names.into_iter().collect()
}

/// The effect of a gate of HCO; `None` if it has none.
pub fn gate_effect(name: &str) -> Option<&'static str> {
    TEXTS.gates.get(name).map(String::as_str)
}

/// The name and state of a gate of HCO, else of CDI or KubeVirt, in a release; `None` if none has it. Ignores case, except
/// that a name as KubeVirt writes it is KubeVirt's.
pub fn gate_in(release: &Release, name: &str) -> Option<(String, String)> {
    let matches = |known: &str| known.eq_ignore_ascii_case(name);
    let tables = release.tables();
    let exact = release.kubevirt_gate(name);
    if let Some(gate) = tables.feature_gates.iter().find(|g| exact.is_none() && matches(&g.name)) {
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
    if let Some(gate) = tables.cdi_feature_gates.iter().find(|gate| matches(gate)) {
        return Some((gate.clone(), "a gate of CDI, which HCO always switches on".to_owned()));
    }
    let Some(gate) = exact.or_else(|| release.kubevirt_gates().find(|gate| matches(gate.name))) else {
        let listed = &tables.kubevirt_feature_gates;
        let gate = listed.always.iter().chain(&listed.unless_emulation).find(|gate| matches(gate))?;
        return Some((gate.clone(), "a gate that HCO lists in the KubeVirt, which has no code for it".to_owned()));
    };
    let state = if gate.is_unread {
        "which nothing reads any more".to_owned()
    } else {
        format!("{}; {}", kubevirt_phase(&gate), switch_text(&gate))
    };
    let instead = match gate.alternatives {
        [] => String::new(),
        others => format!("; KubeVirt also accepts {}", others.join(" or ")),
    };
    Some((gate.name.to_owned(), format!("a gate of KubeVirt, {state}{instead}")))
}

/// The meaning of a phase for a gate of KubeVirt.
fn kubevirt_phase(gate: &KubeVirtGate<'_>) -> &'static str {
    match gate.phase {
        Phase::Beta if !gate.is_on_by_default() => "beta (off unless it is listed)",
        Phase::Beta => "beta (HCO switches it off unless something switches it on)",
        Phase::Deprecated => "deprecated (works while it is listed)",
        Phase::Discontinued => "removed: listing it does nothing",
        phase => phase.as_str(),
    }
}

/// What sets a gate of KubeVirt, as text.
pub fn switch_text(gate: &KubeVirtGate<'_>) -> String {
    match gate.setter() {
        _ if matches!(gate.phase, Phase::Ga | Phase::Discontinued) && gate.switch().is_none() => {
            "nothing switches it".to_owned()
        }
        Some(GateSetter::Gate(own)) if gate.is_always_on() => {
            format!("a field of the KubeVirt, which HCO's gate {} sets, decides about its feature", own.name)
        }
        Some(GateSetter::Gate(own)) => format!("HCO's gate {} switches it", own.name),
        Some(GateSetter::GateOff(own)) => format!("HCO's gate {} switches it off", own.name),
        Some(GateSetter::Always) => "HCO always switches it on".to_owned(),
        Some(GateSetter::Field(path)) => format!("HCO's field spec.{path} switches it on"),
        Some(GateSetter::Annotation(name, value)) => format!("HCO's annotation {name}: \"{value}\" switches it on"),
        Some(GateSetter::Cluster) => "HCO switches it on where the cluster needs it".to_owned(),
        None => {
            "HCO has no switch for it; only a jsonpatch of the KubeVirt could set it, which is unsupported".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `gates.json` has the gates that each version of KubeVirt registers, with their states.
    #[test]
    fn each_recorded_gate_has_its_state_its_switch_and_its_alternatives() {
        const RECORDED: &str = include_str!("../../../../testdata/machines/gates.json");
        let recorded: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_str(RECORDED).expect("valid");
        for release in Release::known_names().filter_map(Release::known) {
            for (name, state) in &recorded[&release.kubevirt().version] {
                let (shown, text) = gate_in(&release, name).expect("a gate of KubeVirt");
                let place = format!("{} {name}: {text}", release.name());
                assert_eq!(&shown, name, "{place}");
                let gate = release.kubevirt_gate(name).expect("a gate of KubeVirt");
                if gate.is_unread {
                    continue;
                }
                let words = match &**state {
                    "GA" => "always on",
                    "discontinued" => "removed",
                    state => state,
                };
                assert!(text.contains(words), "{place}");
                let switches = [
                    "HCO's gate ",
                    "HCO's field spec.",
                    "HCO's annotation ",
                    "HCO always ",
                    "HCO switches ",
                    "nothing ",
                    "HCO has no switch",
                ];
                assert!(switches.iter().any(|switch| text.contains(switch)), "{place}");
                assert!(gate.alternatives.iter().all(|other| text.contains(other)), "{place}");
            }
        }
    }
}
