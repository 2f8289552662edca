//! Checks probes, displays, launch security and Hyper-V features of an instance.
//!
//! Source: `vmi-create-admitter.go`, `hyperv.go`, `amd64.go`, and `pkg/dra/admitter`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, at, is_on, label_problems, number, text};
use super::tables::count;
use hcoplan_kubernetes::label::subdomain_problems;

impl Checker<'_> {
    pub(super) fn names(&mut self) {
        let host = self.text("hostname");
        let problems = label_problems(host);
        if !host.is_empty() && !problems.is_empty() {
            let (name, problems) = (self.name("hostname"), problems.join(", "));
            let message = format!("{name} does not conform to the kubernetes DNS_LABEL rules : {problems}");
            self.reject("hostname", Reason::Malformed, message);
        }
        let domain = self.text("subdomain");
        let problems = subdomain_problems(domain);
        if !domain.is_empty() && !problems.is_empty() {
            let name = self.name("subdomain");
            let problems = problems.join(", ");
            let message = format!("{name} does not conform to the kubernetes DNS_SUBDOMAIN rules : {problems}");
            self.reject("subdomain", Reason::Malformed, message);
        }
        const ACCOUNT: &str = "serviceAccountName";
        let account = self.text(ACCOUNT);
        let problems = subdomain_problems(account);
        if account.is_empty() {
            return;
        }
        if !problems.is_empty() {
            let message =
                format!("{} is not a valid service account name: {}", self.name(ACCOUNT), problems.join("; "));
            self.reject(ACCOUNT, Reason::Malformed, message);
        }
        let volumes = self.each("volumes[].serviceAccount.serviceAccountName");
        if let Some((path, other)) = volumes.iter().find(|(_, other)| text(other) != account) {
            let message = format!(
                "spec.serviceAccountName \"{account}\" and serviceAccount volume \"{}\" must reference the same service \
                 account",
                text(other)
            );
            self.reject(ACCOUNT, Reason::Contradicts(self.path(path)), message);
        }
    }

    pub(super) fn probes(&mut self) {
        const HANDLERS: [&str; 4] = ["httpGet", "tcpSocket", "exec", "guestAgentPing"];
        let on_pod = !self.each("networks[].pod").is_empty();
        for probe in ["readinessProbe", "livenessProbe"] {
            let value = self.get(probe);
            if value.is_null() {
                continue;
            }
            let name = self.name(probe);
            match count(value, &HANDLERS) {
                1 => {}
                0 => {
                    let message = format!(
                        "either {name}.tcpSocket, {name}.exec or {name}.httpGet must be set if a {name} is specified"
                    );
                    self.reject(probe, Reason::NotExactlyOne, message);
                }
                _ => {
                    let message = format!("{name} must have exactly one probe type set");
                    self.reject(probe, Reason::NotExactlyOne, message);
                }
            }
            for handler in ["httpGet", "tcpSocket"] {
                if !value[handler].is_null() && !on_pod {
                    let message = format!("{name}.{handler} is only allowed if the Pod Network is attached");
                    self.reject(&format!("{probe}.{handler}"), Reason::Needs(self.path("networks")), message);
                }
            }
        }
        if self.text("startStrategy") == "Paused" && self.has("livenessProbe") {
            let [strategy, probe] = ["startStrategy", "livenessProbe"].map(|p| self.name(p));
            let message = format!(
                "either {strategy} or {probe} should be provided.Pausing VMI with LivenessProbe is not supported"
            );
            self.reject("startStrategy", Reason::Contradicts(self.path("livenessProbe")), message);
        }
    }

    pub(super) fn displays(&mut self) {
        let has_ramfb = |gpu: &Value| {
            let display = &gpu["virtualGPUOptions"]["display"];
            is_on(display) && (display["ramFB"].is_null() || display["ramFB"]["enabled"] == true)
        };
        let gpus: Vec<(String, &Value)> =
            self.each("domain.devices.gpus[]").into_iter().filter(|(_, gpu)| has_ramfb(gpu)).collect();
        if let [_, (second, _), ..] = &gpus[..] {
            let message = "configuring multiple displays with ramfb is not valid ";
            self.reject(second, Reason::NotExactlyOne, message);
        }
        if self.has("domain.devices.sound") && self.text("domain.devices.sound.name").is_empty() {
            self.reject("domain.devices.sound", Reason::Missing, "Sound device requires a name field.");
        }
        const GRAPHICS: &str = "domain.devices.autoattachGraphicsDevice";
        let is_gate_off = !self.cluster.has_gate("VideoConfig");
        if self.has("domain.devices.video") && *self.get(GRAPHICS) == false && !is_gate_off {
            let message = "Video configuration is not allowed when autoattachGraphicsDevice is set to false";
            self.reject("domain.devices.video", Reason::Contradicts(self.path(GRAPHICS)), message);
        }
        let is_supplemental = self.text("domain.ioThreadsPolicy") == "supplementalPool";
        if is_supplemental && number(self.get("domain.ioThreads.supplementalPoolThreadCount")) < 1 {
            let needed = self.path("domain.ioThreads.supplementalPoolThreadCount");
            let message = "the number of iothreads needs to be set and positive for the dedicated policy";
            self.reject("domain.ioThreadsPolicy", Reason::Needs(needed), message);
        }
    }

    fn resource_claims(&mut self) {
        for (i, name, other) in self.repeated("resourceClaims") {
            let reason = Reason::Duplicate(self.path(&format!("resourceClaims[{other}]")));
            let message = format!("duplicate resourceClaims name \"{name}\"");
            self.reject(&format!("resourceClaims[{i}].name"), reason, message);
        }
        const SOURCES: [&str; 2] = ["resourceClaimName", "resourceClaimTemplateName"];
        for (path, claim) in self.each("resourceClaims[]") {
            let name = text(&claim["name"]);
            let at = format!("{path}.name");
            let shown = self.name(&at);
            let problems = label_problems(name);
            if name.is_empty() {
                self.reject(&at, Reason::Missing, format!("{shown} is a required field"));
            } else if !problems.is_empty() {
                let problems = problems.join(", ");
                let message = format!("{shown} does not conform to the kubernetes DNS_LABEL rules: {problems}");
                self.reject(&at, Reason::Malformed, message);
            }
            let message = match count(claim, &SOURCES) {
                0 => Some("must specify one of: resourceClaimName, resourceClaimTemplateName"),
                1 => None,
                _ => Some("at most one of resourceClaimName or resourceClaimTemplateName may be specified"),
            };
            if let Some(message) = message {
                self.reject(&path, Reason::NotExactlyOne, message);
            }
            for source in SOURCES.into_iter().filter(|s| !claim[*s].is_null()) {
                for message in subdomain_problems(text(&claim[source])) {
                    self.reject(&format!("{path}.{source}"), Reason::Malformed, message);
                }
            }
        }
    }

    /// Checks devices from resource claims instead of device plugins.
    pub(super) fn claimed_devices(&mut self) {
        if self.cluster.admits("validates-resource-claims") {
            self.resource_claims();
        }
        for (devices, what, gate) in
            [("gpus", "GPU", "GPUsWithDRA"), ("hostDevices", "HostDevice", "HostDevicesWithDRA")]
        {
            for (path, device) in self.each(&format!("domain.devices.{devices}[]")) {
                let at = format!("vmi.spec.domain.devices.{devices}");
                let is_claimed = count(device, &["claimName", "requestName"]) > 0;
                match (text(&device["deviceName"]).is_empty(), is_claimed) {
                    (true, false) => {
                        let message = format!(
                            "{at} contains {what}s without deviceName or claimRequest; each {what} must specify either a \
                             deviceName or a claimRequest"
                        );
                        self.reject(&path, Reason::Missing, message);
                    }
                    (false, true) => {
                        let message = format!("{at} contains {what}s with both deviceName and claimRequest");
                        self.reject(&path, Reason::NotExactlyOne, message);
                    }
                    (true, true) => {
                        let message = format!("{at} contains DRA enabled {what}s but feature gate is not enabled");
                        self.needs_gate(gate, &path, message);
                    }
                    (false, false) => {}
                }
            }
        }
    }

    pub(super) fn launch_security(&mut self) {
        const SECURITY: &str = "domain.launchSecurity";
        const EFI: &str = "domain.firmware.bootloader.efi";
        let security = self.get(SECURITY);
        let architecture = self.text("architecture");
        match architecture {
            _ if security.is_null() => return,
            "amd64" => {}
            "s390x" => {
                let message = "SecureExecution feature gate is not enabled in kubevirt-config";
                self.needs_gate("SecureExecution", SECURITY, message);
                return;
            }
            "" => return,
            _ => {
                let message = format!("No launchSecurity support for architecture: {architecture}");
                self.reject(SECURITY, Reason::Architecture(architecture.to_owned()), message);
                return;
            }
        }
        let types = ["sev", "snp", "tdx"].into_iter().filter(|t| !security[*t].is_null()).collect::<Vec<_>>();
        let [kind] = types[..] else {
            self.reject(SECURITY, Reason::NotExactlyOne, "One and only one launchSecurity type can be set");
            return;
        };
        let at = format!("{SECURITY}.{kind}");
        let gate = if kind == "tdx" { "WorkloadEncryptionTDX" } else { "WorkloadEncryptionSEV" };
        if self.needs_gate(gate, &at, format!("{gate} feature gate is not enabled in kubevirt-config")) {
            return;
        }
        let shown = kind.to_ascii_uppercase();
        if kind == "tdx" && is_on(self.get("domain.features.smm")) {
            let with = self.path("domain.features.smm");
            self.reject(&at, Reason::Contradicts(with), "TDX does not work along with SMM");
        }
        let efi = self.get(EFI);
        if efi.is_null() {
            self.reject(&at, Reason::Needs(self.path(EFI)), format!("{shown} requires OVMF (UEFI)"));
        } else {
            let at_efi = |field: &str| Reason::Contradicts(self.path(&format!("{EFI}.{field}")));
            let (secure, persistent) = (at_efi("secureBoot"), at_efi("persistent"));
            if kind != "tdx" && efi["secureBoot"] != false {
                self.reject(&at, secure, format!("{shown} does not work along with SecureBoot"));
            }
            if kind != "sev" && efi["persistent"] == true {
                self.reject(&at, persistent, format!("{shown} does not work along with Persistent EFI variables"));
            }
        }
        let is_paused = self.text("startStrategy") == "Paused";
        if kind == "sev" && !security["sev"]["attestation"].is_null() && !is_paused {
            let message = "SEV attestation requires VMI StartStrategy 'Paused'";
            self.reject(&format!("{at}.attestation"), Reason::Needs(self.path("startStrategy")), message);
        }
        for (path, _) in self.each("domain.devices.interfaces[].bootOrder") {
            let name = text(name_of_element(self.spec, &path));
            let message = format!("{shown} does not work with bootable NICs: {name}");
            self.reject(&path, Reason::Contradicts(self.path(&at)), message);
        }
    }

    /// Checks that Hyper-V features don't miss a required one; unset ones are enabled automatically.
    pub(super) fn hyperv(&mut self) {
        const HYPERV: &str = "domain.features.hyperv";
        const NEEDS: [(&str, &str); 5] = [
            ("evmcs", "vapic"),
            ("ipi", "vpindex"),
            ("tlbflush", "vpindex"),
            ("synictimer", "synic"),
            ("synic", "vpindex"),
        ];
        let hyperv = self.get(HYPERV);
        if hyperv.is_null() {
            return;
        }
        for (feature, needed) in NEEDS {
            if hyperv[feature]["enabled"] == true && hyperv[needed]["enabled"] == false {
                let at = |name: &str| format!("{HYPERV}.{name}");
                // KubeVirt's message repeats the field.
                let doubled = self.name(HYPERV);
                let shown = |name: &str| format!("{doubled}.{HYPERV}.{name}");
                let message = format!("'{}' requires '{}', which was disabled.", shown(feature), shown(needed));
                self.reject(&at(feature), Reason::Contradicts(self.path(&at(needed))), message);
            }
        }
        if self.has("domain.features.hypervPassthrough") {
            let message = "Cannot explicitly set hyperV features if HypervPassthrough is being used. Please use either \
                         HyperV or HypervPassthrough.";
            self.reject(HYPERV, Reason::NotExactlyOne, message);
        }
    }
}

/// The name of the element that a field is in.
fn name_of_element<'v>(spec: &'v Value, path: &str) -> &'v Value {
    let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
    &at(spec, parent)["name"]
}
