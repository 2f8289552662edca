//! The one table of KubeVirt's feature gates in a release: phase, what sets each, and what KubeVirt accepts instead.

use super::{FeatureGate, GateCondition, Phase, Release};

/// A feature gate of KubeVirt in a release.
#[derive(Debug, Clone, Copy)]
pub struct KubeVirtGate<'r> {
    /// Its name, as KubeVirt writes it.
    pub name: &'r str,
    /// Its phase.
    pub phase: Phase,
    /// Whether KubeVirt registers it and nothing reads it.
    pub is_unread: bool,
    release: &'r Release,
    /// Gates that KubeVirt accepts instead.
    pub alternatives: &'r [String],
}

/// What decides about a gate of KubeVirt.
#[derive(Debug, Clone, Copy)]
pub enum GateSetter<'r> {
    /// HCO always lists it.
    Always,
    /// A gate of HCO.
    Gate(&'r FeatureGate),
    /// A gate of HCO, when it is off.
    GateOff(&'r FeatureGate),
    /// A field of the HyperConverged, by its path.
    Field(&'r str),
    /// An annotation of the HyperConverged and its value.
    Annotation(&'r str, &'r str),
    /// The architectures of the nodes, or the state of an operand.
    Cluster,
}

impl Release {
    /// A gate of KubeVirt by name; `None` if KubeVirt doesn't register it.
    pub fn kubevirt_gate(&self, name: &str) -> Option<KubeVirtGate<'_>> {
        let (name, phase) = self.kubevirt().feature_gates.get_key_value(name)?;
        Some(self.described(name, *phase))
    }

    /// All gates of KubeVirt, sorted.
    pub fn kubevirt_gates(&self) -> impl Iterator<Item = KubeVirtGate<'_>> {
        self.kubevirt().feature_gates.iter().map(|(name, phase)| self.described(name, *phase))
    }

    fn described<'r>(&'r self, name: &'r str, phase: Phase) -> KubeVirtGate<'r> {
        let facts = self.kubevirt();
        let alternatives = facts.gate_alternatives.get(name).map_or(&[][..], Vec::as_slice);
        let is_unread = facts.gates_without_effect.iter().any(|gate| gate == name);
        KubeVirtGate { name, phase, is_unread, release: self, alternatives }
    }
}

impl<'r> KubeVirtGate<'r> {
    /// What decides about it.
    pub fn setter(&self) -> Option<GateSetter<'r>> {
        let (name, tables) = (self.name, self.release.tables());
        let rules = &tables.kubevirt_feature_gates;
        let own = |name: &str| tables.feature_gates.iter().find(|gate| gate.name == *name);
        if let Some(replaced) = tables.replaced_gates.get(name) {
            return own(replaced).map(GateSetter::Gate);
        }
        // Nothing decides about a feature that is always on, although HCO may list its gate.
        if self.is_always_on() {
            return None;
        }
        if rules.always.iter().chain(&rules.unless_emulation).any(|gate| gate == name) {
            return Some(GateSetter::Always);
        }
        let conditional = rules.conditional.iter().find(|conditional| conditional.gate == name)?;
        Some(match &conditional.when {
            GateCondition::FeatureGate { feature_gate, .. } => GateSetter::Gate(own(feature_gate)?),
            GateCondition::Not { not } => match &**not {
                GateCondition::FeatureGate { feature_gate, .. } => GateSetter::GateOff(own(feature_gate)?),
                _ => return None,
            },
            GateCondition::Annotation { annotation, equals } => GateSetter::Annotation(annotation, equals),
            GateCondition::NonEmpty { non_empty: path }
            | GateCondition::Set { set: path }
            | GateCondition::TrueOrUnset { true_or_unset: path } => GateSetter::Field(path),
            GateCondition::WorkloadArchitecture { .. }
            | GateCondition::StatusConditionTrue { .. }
            | GateCondition::All { .. } => GateSetter::Cluster,
        })
    }

    /// The gate of HCO that switches it on.
    pub fn switch(&self) -> Option<&'r FeatureGate> {
        match self.setter() {
            Some(GateSetter::Gate(own)) => Some(own),
            _ => None,
        }
    }

    /// Whether KubeVirt has the feature without being asked.
    pub fn is_always_on(&self) -> bool {
        self.phase == Phase::Ga
    }

    /// Whether it is on if the KubeVirt object says nothing.
    pub fn is_on_by_default(&self) -> bool {
        self.release.kubevirt().is_on(self.name, false, false)
    }

    /// Whether listing it as enabled has an effect.
    pub fn is_worth_listing(&self) -> bool {
        !self.is_unread && !self.is_on_by_default() && self.phase != Phase::Discontinued
    }
}

#[cfg(test)]
mod tests {
    use crate::release::Release;

    #[test]
    fn describes_each_gate_that_hco_sets() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let rules = &release.tables().kubevirt_feature_gates;
            let listed = rules.always.iter().chain(rules.conditional.iter().map(|c| &c.gate));
            for gate in listed {
                // HCO lists some gates that its KubeVirt doesn't register.
                if let Some(gate) = release.kubevirt_gate(gate) {
                    assert!(gate.setter().is_some() || gate.is_always_on(), "{name} {}", gate.name);
                }
            }
            for (gate, alternatives) in &release.kubevirt().gate_alternatives {
                for known in alternatives.iter().chain([gate]) {
                    assert!(release.kubevirt_gate(known).is_some(), "{name} {known}");
                }
            }
            for (gate, own) in &release.tables().replaced_gates {
                let switch = release.kubevirt_gate(gate).and_then(|gate| gate.switch());
                assert_eq!(switch.map(|gate| &gate.name), Some(own), "{name} {gate}");
            }
        }
    }
}
