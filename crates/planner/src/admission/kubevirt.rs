//! KubeVirt's webhook for updates of the KubeVirt object.
//!
//! Source: KubeVirt `pkg/virt-operator/webhooks`, the update admitter. `updateChecks` lists the checks of a release.
//! Not modelled: dry runs of pods with the placements, which ask the API server.

use crate::prelude::*;
use crate::release::KubeVirtFacts;
use hcoplan_kubernetes::duration::{self, Duration};
use hcoplan_kubernetes::tree::pointed;

/// One reason for a rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperandRejection {
    /// The check's name in `updateChecks`.
    pub check: &'static str,
    /// The webhook's message.
    pub message: String,
    /// JSON pointer in the KubeVirt.
    pub pointer: String,
}

const CONFIGURATION: &str = "/spec/configuration";
const SELF_SIGNED: &str = "/spec/certificateRotateStrategy/selfSigned";
const GATES: &str = "/spec/configuration/developerConfiguration/featureGates";
const DISABLED_GATES: &str = "/spec/configuration/developerConfiguration/disabledFeatureGates";

/// All reasons why the webhook rejects the update from `old` to `new`, in its order.
pub fn kubevirt_rejections(facts: &KubeVirtFacts, old: &Value, new: &Value) -> Vec<OperandRejection> {
    let mut update = Update { facts, old, new, found: Vec::new() };
    for check in &facts.update_checks {
        match check.as_str() {
            "customize-components" => update.customize_components(),
            "certificates" => update.certificates(),
            "guest-memory-overhead" => update.guest_memory_overhead(),
            "virt-template" => update.virt_template(),
            "role-aggregation" => update.role_aggregation(),
            "migration-downtime" => update.migration_downtime(),
            "tls" => update.tls(),
            "seccomp" => update.seccomp(),
            "infra-replicas" => update.infra_replicas(),
            "gates-in-both-lists" => update.gates_in_both_lists(),
            _ => {}
        }
    }
    update.found
}

struct Update<'a> {
    facts: &'a KubeVirtFacts,
    old: &'a Value,
    new: &'a Value,
    found: Vec<OperandRejection>,
}

impl<'a> Update<'a> {
    fn reject(&mut self, check: &'static str, pointer: impl Into<String>, message: impl Into<String>) {
        self.found.push(OperandRejection { check, message: message.into(), pointer: pointer.into() });
    }

    /// The value at `pointer`; `null` counts as absent.
    fn at(&self, pointer: &str) -> Option<&'a Value> {
        pointed(self.new, pointer).filter(|v| !v.is_null())
    }

    fn text(&self, pointer: &str) -> Option<&'a str> {
        self.at(pointer)?.as_str()
    }

    fn list(&self, pointer: &str) -> &'a [Value] {
        elements(self.at(pointer)).as_slice()
    }

    fn changed(&self, pointer: &str) -> bool {
        pointed(self.old, pointer).filter(|v| !v.is_null()) != self.at(pointer)
    }

    /// Whether a feature is enabled: by a gate, always (GA), or as a beta that isn't disabled.
    fn is_on(&self, gate: &str) -> bool {
        let is_in = |list| self.list(list).iter().any(|g| g == gate);
        self.facts.is_on(gate, is_in(GATES), is_in(DISABLED_GATES))
    }

    fn customize_components(&mut self) {
        const PATCHES: &str = "/spec/customizeComponents/patches";
        for (i, patch) in self.list(PATCHES).iter().enumerate() {
            let text = text(patch.get("patch"));
            if serde_json::from_str::<Value>(text).is_err() {
                let message = format!("patch {text:?} is not valid JSON");
                self.reject("customize-components", format!("{PATCHES}/{i}/patch"), message);
            }
        }
    }

    fn certificates(&mut self) {
        const DAY: Duration = Duration::from_seconds(24 * 60 * 60);
        const WEEK: Duration = Duration::from_seconds(7 * 24 * 60 * 60);
        let Some(certificates) = self.at(SELF_SIGNED) else {
            return;
        };
        let has = |key: &str| certificates.get(key).is_some_and(|v| !v.is_null());
        let read = |path: &str| {
            let text = pointed(certificates, path)?.as_str()?;
            duration::parse(text).ok()
        };
        let deprecated = ["caRotateInterval", "certRotateInterval", "caOverlapInterval"];
        let one_fifth = |of: Duration| Duration(of.0 / 5);
        let ca = read("/caRotateInterval").or_else(|| read("/ca/duration"));
        let ca = ca.unwrap_or(WEEK);
        let ca_before = read("/caOverlapInterval").or_else(|| read("/ca/renewBefore"));
        let server = read("/certRotateInterval").or_else(|| read("/server/duration"));
        let server = server.unwrap_or(DAY);
        let server_before = read("/server/renewBefore").unwrap_or(one_fifth(server));
        let is_mixed = deprecated.into_iter().any(has) && (has("ca") || has("server"));
        let rows = [
            (
                is_mixed,
                "",
                "caRotateInterval, certRotateInterval and caOverlapInterval are deprecated and \
                 conflict with CertConfig defined rotation parameters",
            ),
            (
                ca < ca_before.unwrap_or(one_fifth(ca)),
                "/ca/duration",
                "CA RenewBefore cannot exceed Duration \
                 (spec.certificateRotationStrategy.selfSigned.ca.duration < \
                 spec.certificateRotationStrategy.selfSigned.ca.renewBefore)",
            ),
            (
                server < server_before,
                "/server/duration",
                "Cert RenewBefore cannot exceed Duration \
                 (spec.certificateRotationStrategy.selfSigned.server.duration < \
                 spec.certificateRotationStrategy.selfSigned.server.renewBefore)",
            ),
            (
                server > ca,
                "/server/duration",
                "Certificate duration cannot exceed CA \
                 (spec.certificateRotationStrategy.selfSigned.server.duration > \
                 spec.certificateRotationStrategy.selfSigned.ca.duration)",
            ),
        ];
        for (rejected, below, message) in rows {
            if rejected {
                self.reject("certificates", format!("{SELF_SIGNED}{below}"), message);
            }
        }
    }

    fn guest_memory_overhead(&mut self) {
        let pointer = format!("{CONFIGURATION}/additionalGuestMemoryOverheadRatio");
        let Some(ratio) = self.text(&pointer) else {
            return;
        };
        let message = match ratio.parse::<f64>() {
            Ok(number) if number < 1.0 => {
                format!("ratio provided, {ratio}, cannot be smaller than 1.0")
            }
            Ok(_) => return,
            Err(_) => format!(
                "ratio provided, {ratio}, cannot be parsed into float: strconv.ParseFloat: parsing \
                 {ratio:?}: invalid syntax"
            ),
        };
        self.reject("guest-memory-overhead", pointer, message);
    }

    fn virt_template(&mut self) {
        let pointer = format!("{CONFIGURATION}/virtTemplateDeployment/enabled");
        if self.at(&pointer) == Some(&Value::Bool(true)) && !self.is_on("Template") {
            let message = "VirtTemplateDeployment cannot be enabled without enabling the Template \
                           feature gate";
            self.reject("virt-template", pointer, message);
        }
    }

    fn role_aggregation(&mut self) {
        let pointer = format!("{CONFIGURATION}/roleAggregationStrategy");
        let is_manual = self.text(&pointer).is_some_and(|s| s != "AggregateToDefault");
        if is_manual && !self.is_on("OptOutRoleAggregation") {
            let message = "RoleAggregationStrategy cannot be set to Manual without enabling the \
                           OptOutRoleAggregation feature gate";
            self.reject("role-aggregation", pointer, message);
        }
    }

    fn migration_downtime(&mut self) {
        let pointer = format!("{CONFIGURATION}/migrations/maxDowntimeMs");
        let set = self.at(&pointer).is_some() && self.changed(&pointer);
        if set && !self.is_on("MigrationStallDetection") {
            let message = "maxDowntimeMs cannot be modified without enabling the \
                           MigrationStallDetection feature gate";
            self.reject("migration-downtime", pointer, message);
        }
    }

    fn tls(&mut self) {
        let pointer = format!("{CONFIGURATION}/tlsConfiguration");
        if !self.changed(&pointer) {
            return;
        }
        let ciphers = self.list(&format!("{pointer}/ciphers"));
        let version = self.text(&format!("{pointer}/minTLSVersion"));
        if matches!(version.unwrap_or_default(), "" | "VersionTLS13") {
            if !ciphers.is_empty() {
                let message = "You cannot specify ciphers when \
                               spec.configuration.tlsConfiguration.minTLSVersion is empty or \
                               VersionTLS13";
                self.reject("tls", format!("{pointer}/ciphers"), message);
            }
            return;
        }
        for (i, cipher) in ciphers.iter().enumerate() {
            let name = text(cipher);
            if !self.facts.cipher_names.iter().any(|known| known == name) {
                let message = format!("{name} is not a valid cipher");
                self.reject("tls", format!("{pointer}/ciphers/{i}"), message);
            }
        }
    }

    fn seccomp(&mut self) {
        let pointer = format!("{CONFIGURATION}/seccompConfiguration");
        if !self.changed(&pointer) {
            return;
        }
        let profile = format!("{pointer}/virtualMachineInstanceProfile");
        if self.at(&profile).is_none() {
            return;
        }
        let custom = format!("{profile}/customProfile");
        let shown = |pointer: &str| pointer.trim_start_matches('/').replace('/', ".");
        let local = format!("{custom}/localhostProfile");
        let default = format!("{custom}/runtimeDefaultProfile");
        if self.at(&custom).is_none() {
            self.reject("seccomp", &custom, format!("{} needs to be set", shown(&custom)));
        } else if self.at(&local).is_some() && self.at(&default) == Some(&Value::Bool(true)) {
            let (a, b) = (shown(&local), shown(&default));
            self.reject("seccomp", &local, format!("{a} cannot be set when {b} is set"));
        }
    }

    fn infra_replicas(&mut self) {
        const REPLICAS: &str = "/spec/infra/replicas";
        if self.at(REPLICAS).is_some_and(|r| *r == 0) {
            self.reject("infra-replicas", REPLICAS, "infra replica count can't be 0");
        }
    }

    fn gates_in_both_lists(&mut self) {
        let disabled = self.list(DISABLED_GATES);
        for gate in self.list(GATES).iter().filter(|g| disabled.contains(g)) {
            let gate = text(gate);
            let message = format!(
                "feature gate \"{gate}\" exists on both \"FeatureGates\" and \
                 \"DisabledFeatureGates\""
            );
            self.reject("gates-in-both-lists", GATES, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Release;
    use serde_json::json;

    /// The webhook's messages for a release after a change of a KubeVirt.
    fn rejected(release: &str, change: impl Fn(&mut Value)) -> Vec<String> {
        let release = Release::known(release).expect("known");
        let old = json!({"spec": {
            "certificateRotateStrategy": {"selfSigned": {}},
            "configuration": {
                "migrations": {},
                "developerConfiguration": {"disabledFeatureGates": ["OptOutRoleAggregation"]},
            },
        }});
        let mut new = old.clone();
        change(&mut new);
        let found = kubevirt_rejections(release.kubevirt(), &old, &new);
        found.into_iter().map(|r| r.message).collect()
    }

    #[test]
    fn each_check_has_a_message() {
        let set = |path: &'static str, value: Value| {
            move |kubevirt: &mut Value| {
                let (parent, key) = path.rsplit_once('/').expect("a pointer");
                kubevirt.pointer_mut(parent).expect("rendered")[key] = value.clone();
            }
        };
        let cases: [(&str, Value, [&str; 2]); 9] = [
            ("/spec/infra", json!({"replicas": 0}), ["1.16", "infra replica count can't be 0"]),
            (
                "/spec/configuration/tlsConfiguration",
                json!({"minTLSVersion": "VersionTLS13", "ciphers": ["TLS_AES_128_GCM_SHA256"]}),
                [
                    "1.17",
                    "You cannot specify ciphers when spec.configuration.tlsConfiguration.minTLSVersion is empty or VersionTLS13",
                ],
            ),
            (
                "/spec/configuration/tlsConfiguration",
                json!({"minTLSVersion": "VersionTLS12", "ciphers": ["AES"]}),
                ["1.18", "AES is not a valid cipher"],
            ),
            (
                "/spec/configuration/roleAggregationStrategy",
                json!("Manual"),
                [
                    "1.19",
                    "RoleAggregationStrategy cannot be set to Manual without enabling the OptOutRoleAggregation feature gate",
                ],
            ),
            (
                "/spec/configuration/migrations/maxDowntimeMs",
                json!(500),
                ["1.19", "maxDowntimeMs cannot be modified without enabling the MigrationStallDetection feature gate"],
            ),
            (
                "/spec/configuration/seccompConfiguration",
                json!({"virtualMachineInstanceProfile": {}}),
                [
                    "1.16",
                    "spec.configuration.seccompConfiguration.virtualMachineInstanceProfile.customProfile needs to be set",
                ],
            ),
            (
                "/spec/configuration/additionalGuestMemoryOverheadRatio",
                json!("0.5"),
                ["1.16", "ratio provided, 0.5, cannot be smaller than 1.0"],
            ),
            (
                "/spec/certificateRotateStrategy/selfSigned/server",
                json!({"duration": "999h", "renewBefore": "1h"}),
                [
                    "1.18",
                    "Certificate duration cannot exceed CA (spec.certificateRotationStrategy.selfSigned.server.duration > spec.certificateRotationStrategy.selfSigned.ca.duration)",
                ],
            ),
            (
                "/spec/customizeComponents",
                json!({"patches": [{"patch": "{a"}]}),
                ["1.19", "patch \"{a\" is not valid JSON"],
            ),
        ];
        for (path, value, [release, message]) in cases {
            assert_eq!(rejected(release, set(path, value)), [message], "{path}");
        }
    }
}
