//! Facts about the release's KubeVirt: its feature gates and its webhook's checks.

use crate::prelude::*;
use crate::release::Phase;

/// `kubevirt.json`. Source: KubeVirt `pkg/virt-config/featuregate` and
/// `pkg/virt-operator/webhooks` at the version that the release deploys.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KubeVirtFacts {
    /// KubeVirt's version: `v1.9.0`.
    pub version: String,
    /// Whether a beta gate is on unless it is disabled.
    pub beta_gates_are_on: bool,
    /// Gates that KubeVirt registers but never reads.
    pub(super) gates_without_effect: Vec<String>,
    /// Gates with those that KubeVirt accepts in their place.
    #[serde(default)]
    pub(super) gate_alternatives: BTreeMap<String, Vec<String>>,
    /// The checks of the webhook for updates of the KubeVirt object, in order.
    pub update_checks: Vec<String>,
    /// Behaviours of its webhooks for virtual machines that other versions lack.
    #[serde(default)]
    pub admission: Vec<String>,
    /// The preferred architectures of the cluster preferences that KubeVirt deploys
    /// (`common-clusterpreferences-bundle.yaml`). `None` if preferences have no `preferredArchitecture`: before v1.7.
    #[serde(default)]
    pub preferred_architectures: Option<BTreeMap<String, String>>,
    /// The cipher names that `tlsConfiguration` may hold.
    pub cipher_names: Vec<String>,
    /// Every registered gate.
    pub(super) feature_gates: BTreeMap<String, Phase>,
}

impl KubeVirtFacts {
    /// Whether a gate is on that a KubeVirt object lists, or disables.
    pub fn is_on(&self, gate: &str, is_listed: bool, is_disabled: bool) -> bool {
        let by_default = match self.feature_gates.get(gate) {
            Some(Phase::Ga) => true,
            Some(Phase::Beta) => self.beta_gates_are_on && !is_disabled,
            _ => false,
        };
        is_listed || by_default
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::release::{Phase, Release};

    #[test]
    fn each_release_deploys_the_described_kubevirt() {
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let deployed = &release.tables().components["KUBEVIRT_VERSION"];
            assert_eq!(&release.kubevirt().version, deployed, "{name}");
        }
    }

    /// `gates.json` has the gates that KubeVirt's `pkg/virt-config/featuregate` registers, by version.
    #[test]
    fn gates_match_those_that_kubevirt_registers() {
        const RECORDED: &str = include_str!("../../../../testdata/machines/gates.json");
        let recorded: BTreeMap<String, BTreeMap<String, Phase>> = serde_json::from_str(RECORDED).expect("valid");
        for name in Release::known_names() {
            let release = Release::known(name).expect("known");
            let facts = release.kubevirt();
            let mut known = facts.feature_gates.clone();
            let registered = recorded.get(&facts.version).unwrap_or_else(|| panic!("{name}: not recorded"));
            // v1.7 and v1.8 read it from the list, and don't register it.
            known.retain(|gate, _| gate != "ObjectGraph" || registered.contains_key(gate));
            assert_eq!(&known, registered, "{name}");
        }
    }

    #[test]
    fn beta_gates_match_those_that_hco_disables() {
        let release = Release::known("1.19").expect("known");
        let gates = &release.kubevirt().feature_gates;
        let beta: Vec<&String> =
            gates.iter().filter(|(_, phase)| **phase == Phase::Beta).map(|(name, _)| name).collect();
        let listed = release.tables().kubevirt_feature_gates.beta.as_ref();
        let mut listed: Vec<&String> = listed.expect("1.19 has them").iter().collect();
        listed.sort();
        assert_eq!(beta, listed);
    }
}
