//! Checks volumes, access credentials and firmware of an instance.
//!
//! Source: `validateVolumes`, `validateAccessCredentials`, `validateFirmware` and
//! `validateVirtualMachineInstanceSpecVolumeDisks` of `vmi-create-admitter.go`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, dangling, is_on, text, whole};
use super::tables::count;

/// Sources that a machine may have once.
const SINGLE: [(&str, &str); 3] =
    [("serviceAccount", "serviceAccount"), ("downwardMetrics", "downwardMetric"), ("memoryDump", "memory dump")];

/// Maximum size of cloud-init's data inside the object, in bytes.
const MAX_DATA: usize = 2048;

impl Checker<'_> {
    pub(super) fn volumes(&mut self) {
        let all = self.name("volumes");
        for (i, _, other) in self.repeated("volumes") {
            let message = format!("{all}[{i}] and {all}[{other}] must not have the same Name.");
            let reason = Reason::Duplicate(self.path(&format!("volumes[{other}]")));
            self.reject(&format!("volumes[{i}].name"), reason, message);
        }
        for (path, volume) in self.each("volumes[]") {
            self.volume(&path, volume);
        }
        for (source, what) in SINGLE {
            let found = self.each(&format!("volumes[].{source}"));
            if let [_, (second, _), ..] = &found[..] {
                let message = format!("{all} must have max one {what} volume set");
                self.reject(second, Reason::NotExactlyOne, message);
            }
        }
    }

    fn volume(&mut self, path: &str, volume: &Value) {
        for source in ["cloudInitNoCloud", "cloudInitConfigDrive"] {
            if !volume[source].is_null() {
                self.cloud_init(&format!("{path}.{source}"), &volume[source], source);
                break;
            }
        }
        let host = &volume["hostDisk"];
        if text(&host["type"]) == "Disk" && whole(&host["capacity"]) != 0 {
            let at = |field: &str| format!("{path}.hostDisk.{field}");
            let [capacity, kind] = ["capacity", "type"].map(|f| self.name(&at(f)));
            let message = format!("{capacity} is allowed to pass only with {kind} equal to 'DiskOrCreate'");
            self.reject(&at("capacity"), Reason::Contradicts(self.path(&at("type"))), message);
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

    pub(super) fn access_credentials(&mut self) {
        let volumes = self.list("volumes");
        for (path, credential) in self.each("accessCredentials[]") {
            let name = self.name(&path);
            for kind in ["sshPublicKey", "userPassword"] {
                let credentials = &credential[kind];
                if credentials.is_null() {
                    continue;
                }
                let at = |field: &str| format!("{path}.{kind}.{field}");
                let method = &credentials["propagationMethod"];
                for (method_name, volume) in [("noCloud", "cloudInitNoCloud"), ("configDrive", "cloudInitConfigDrive")]
                {
                    let exists = volumes.iter().any(|v| !v[volume].is_null());
                    if !method[method_name].is_null() && !exists {
                        let message = format!(
                            "{name} requires a {method_name} volume to exist when the {method_name} propagationMethod \
                             is in use."
                        );
                        self.reject(&at("propagationMethod"), Reason::Needs(self.path("volumes")), message);
                    }
                }
            }
        }
    }

    pub(super) fn firmware(&mut self) {
        const LOADER: &str = "domain.firmware.bootloader";
        self.acpi_tables();
        let efi = self.get("domain.firmware.bootloader.efi");
        let is_secure = !efi.is_null() && efi["secureBoot"] != false;
        let is_exempt = self.cluster.admits("tdx-without-smm") && self.has("domain.launchSecurity.tdx");
        if is_secure && !is_on(self.get("domain.features.smm")) && !is_exempt {
            let domain = self.name("domain");
            let message =
                format!("{domain} has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.");
            let at = format!("{LOADER}.efi");
            let at = if efi["secureBoot"] == true { format!("{at}.secureBoot") } else { at };
            self.reject(&at, Reason::Needs(self.path("domain.features.smm.enabled")), message);
        }
    }

    fn acpi_tables(&mut self) {
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

    /// Checks the devices of an instance's volumes; a machine's volume without a disk gets one.
    pub(super) fn shown_volumes(&mut self) {
        let [disks, shares] =
            ["disks", "filesystems"].map(|devices| self.by_name(&format!("domain.devices.{devices}")));
        for (path, source) in self.each("volumes[].containerPath") {
            let path = path.strip_suffix(".containerPath").unwrap_or(&path);
            let name = text(&super::checker::at(self.spec, path)["name"]);
            let (disk, share) = (disks.contains_key(name), shares.contains_key(name));
            if disk {
                let message = format!("ContainerPath volume '{name}' must be mapped to a filesystem, not a disk");
                self.reject(path, Reason::Contradicts(self.path("domain.devices.disks")), message);
            }
            if !share {
                let message = format!(
                    "ContainerPath volume '{name}' must have a matching filesystem defined in \
                     spec.domain.devices.filesystems"
                );
                self.reject(path, Reason::Needs(self.path("domain.devices.filesystems")), message);
            }
            if share {
                // The controller reports this, and creates no pod.
                let message = "VMI has ContainerPath volumes but the ContainerPathVolumes feature gate is disabled";
                self.needs_gate("ContainerPathVolumes", &format!("{path}.containerPath"), message);
            }
            let reserved = ["/var/run/kubevirt", "/var/run/libvirt"];
            if let Some(prefix) = reserved.iter().find(|p| text(&source["path"]).starts_with(**p)) {
                let message = format!("ContainerPath volume '{name}' uses reserved path prefix '{prefix}'");
                self.reject(&format!("{path}.containerPath.path"), Reason::OutOfRange, message);
            }
        }
    }

    /// Checks file systems shared with the guest.
    pub(super) fn filesystems(&mut self) {
        const CONFIG: [&str; 4] = ["configMap", "secret", "downwardAPI", "serviceAccount"];
        const STORED: [&str; 2] = ["persistentVolumeClaim", "dataVolume"];
        let volumes = self.by_name("volumes");
        for (path, share) in self.each("domain.devices.filesystems[]") {
            let Some((_, volume)) = volumes.get(text(&share["name"])) else {
                continue;
            };
            let virtiofs = format!("{path}.virtiofs");
            if count(volume, &STORED) > 0 {
                let message = "virtiofs is not allowed: virtiofs feature gate is not enabled for PVC";
                self.needs_gate("EnableVirtioFsStorageVolumes", &virtiofs, message);
            } else if count(volume, &CONFIG) > 0 {
                let message = "virtiofs is not allowed: virtiofs feature gate is not enabled for config volumes";
                self.needs_gate("EnableVirtioFsConfigVolumes", &virtiofs, message);
            }
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
