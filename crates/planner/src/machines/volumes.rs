//! Checks cloud-init's data and the firmware's volumes of an instance.
//!
//! Source: `validateVolumes` and `validateFirmware` of `vmi-create-admitter.go`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, dangling, text};

/// Maximum size of cloud-init's data inside the object, in bytes.
const MAX_DATA: usize = 2048;

impl Checker<'_> {
    pub(super) fn volumes(&mut self) {
        for (path, volume) in self.each("volumes[]") {
            for source in ["cloudInitNoCloud", "cloudInitConfigDrive"] {
                if !volume[source].is_null() {
                    self.cloud_init(&format!("{path}.{source}"), &volume[source], source);
                    break;
                }
            }
        }
    }

    fn cloud_init(&mut self, path: &str, data: &Value, kind: &str) {
        let name = self.name(path);
        let mut sources = 0;
        for (part, secret, only_one) in [
            ("user", "secretRef", "only one userdatasource"),
            ("network", "networkDataSecretRef", "only one networkdata source"),
        ] {
            let [inline, encoded] = [format!("{part}Data"), format!("{part}DataBase64")];
            let written = [text(&data[&inline]), text(&data[&encoded]), text(&data[secret]["name"])];
            let set = written.iter().filter(|w| !w.is_empty()).count();
            sources += set;
            // If both are set, the plain one's length counts.
            let decoded = decoded_len(written[1]);
            if decoded.is_none() {
                let at = format!("{name}.{encoded}");
                let message = format!("{at}.{kind}.{encoded} is not a valid base64 value.");
                self.reject(&format!("{path}.{encoded}"), Reason::Malformed, message);
            }
            if set > 1 {
                let message = format!("{name} must have {only_one} set.");
                self.reject(path, Reason::NotExactlyOne, message);
            }
            let (len, field) = match written[0].len() {
                0 => (decoded.unwrap_or(0), &encoded),
                len => (len, &inline),
            };
            if len > MAX_DATA {
                let reference = if part == "user" { "UserDataSecretRef" } else { "NetworkDataSecretRef" };
                let message =
                    format!("{name} {part}data exceeds {MAX_DATA} byte limit. Should use {reference} for larger data.");
                self.reject(&format!("{path}.{field}"), Reason::OutOfRange, message);
            }
        }
        if sources == 0 {
            let message = format!("{name} must have at least one userdatasource or one networkdatasource set.");
            self.reject(path, Reason::NotExactlyOne, message);
        }
    }

    pub(super) fn acpi_tables(&mut self) {
        const ACPI: &str = "domain.firmware.acpi";
        let acpi = self.get(ACPI);
        if acpi.is_null() {
            return;
        }
        let names = ["slicNameRef", "msdmNameRef"].map(|field| (field, text(&acpi[field])));
        for (field, name) in names.into_iter().filter(|(_, name)| !name.is_empty()) {
            let volumes = self.list("volumes");
            let volume = volumes.iter().find(|v| text(&v["name"]) == name);
            let problem = match volume {
                Some(volume) if !volume["secret"].is_null() => continue,
                Some(_) => "refers to Volume of unsupported type.",
                None => "does not have a matching Volume.",
            };
            let reason = dangling(name, volumes.iter().map(|v| text(&v["name"])));
            let message = format!("{} {problem}", self.name("acpi"));
            self.reject(&format!("{ACPI}.{field}"), reason, message);
        }
    }
}

/// The decoded length of a base64 text in bytes; `None` if it is invalid. Go skips line breaks.
fn decoded_len(text: &str) -> Option<usize> {
    let bytes: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    let data = bytes.get(..bytes.len() - padding)?;
    let is_base64 = bytes.len().is_multiple_of(4)
        && padding <= 2
        && data.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    is_base64.then(|| bytes.len() / 4 * 3 - padding)
}
