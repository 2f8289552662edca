//! Checks displays and launch security of an instance.
//!
//! Source: `vmi-create-admitter.go`, `amd64.go`, and `pkg/dra/admitter`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, is_on};

impl Checker<'_> {
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
    }

    pub(super) fn launch_security(&mut self) {
        const SECURITY: &str = "domain.launchSecurity";
        let security = self.get(SECURITY);
        let architecture = self.text("architecture");
        match architecture {
            _ if security.is_null() => {}
            "amd64" | "s390x" => drop(self.rows(&format!("launch-security-{architecture}"))),
            "" => {}
            _ => {
                let message = format!("No launchSecurity support for architecture: {architecture}");
                self.reject(SECURITY, Reason::Architecture(architecture.to_owned()), message);
            }
        }
    }
}
