//! Checks probes, displays, launch security and Hyper-V features of an instance.
//!
//! Source: `vmi-create-admitter.go`, `hyperv.go`, `amd64.go`, and `pkg/dra/admitter`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, at, is_on, text};

impl Checker<'_> {
    pub(super) fn names(&mut self) {
        const ACCOUNT: &str = "serviceAccountName";
        let account = self.text(ACCOUNT);
        if account.is_empty() {
            return;
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
        let on_pod = !self.each("networks[].pod").is_empty();
        for probe in ["readinessProbe", "livenessProbe"] {
            let value = self.get(probe);
            if value.is_null() {
                continue;
            }
            let name = self.name(probe);
            for handler in ["httpGet", "tcpSocket"] {
                if !value[handler].is_null() && !on_pod {
                    let message = format!("{name}.{handler} is only allowed if the Pod Network is attached");
                    self.reject(&format!("{probe}.{handler}"), Reason::Needs(self.path("networks")), message);
                }
            }
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
        const GRAPHICS: &str = "domain.devices.autoattachGraphicsDevice";
        let is_gate_off = !self.cluster.has_gate("VideoConfig");
        if self.has("domain.devices.video") && *self.get(GRAPHICS) == false && !is_gate_off {
            let message = "Video configuration is not allowed when autoattachGraphicsDevice is set to false";
            self.reject("domain.devices.video", Reason::Contradicts(self.path(GRAPHICS)), message);
        }
    }

    fn resource_claims(&mut self) {
        for (i, name, other) in self.repeated("resourceClaims") {
            let reason = Reason::Duplicate(self.path(&format!("resourceClaims[{other}]")));
            let message = format!("duplicate resourceClaims name \"{name}\"");
            self.reject(&format!("resourceClaims[{i}].name"), reason, message);
        }
        self.rows("resource-claims");
    }

    /// Checks devices from resource claims instead of device plugins.
    pub(super) fn claimed_devices(&mut self) {
        if self.cluster.admits("validates-resource-claims") {
            self.resource_claims();
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
}

/// The name of the element that a field is in.
fn name_of_element<'v>(spec: &'v Value, path: &str) -> &'v Value {
    let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
    &at(spec, parent)["name"]
}
