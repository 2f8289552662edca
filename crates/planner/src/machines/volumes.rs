//! Volumes, access credentials and firmware of an instance.
//!
//! Source: `validateVolumes`, `validateAccessCredentials`, `validateFirmware` and
//! `validateVirtualMachineInstanceSpecVolumeDisks` of `vmi-create-admitter.go`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, is_on, list, text, whole};
use super::disks::path_problem;
use super::tables::{count, unsupported};

/// Where a volume can come from.
pub(super) const SOURCES: [&str; 16] = [
    "persistentVolumeClaim",
    "sysprep",
    "cloudInitNoCloud",
    "cloudInitConfigDrive",
    "containerDisk",
    "ephemeral",
    "emptyDisk",
    "hostDisk",
    "dataVolume",
    "configMap",
    "secret",
    "downwardAPI",
    "serviceAccount",
    "downwardMetrics",
    "memoryDump",
    "containerPath",
];

/// Fields of a source without which it is rejected, and the server's words.
const REQUIRED: [(&str, &str, &str); 5] = [
    ("dataVolume", "name", "DataVolume 'name' must be set"),
    ("hostDisk", "path", "{at} is required for hostDisk volume"),
    ("configMap", "name", "{at} is a required field"),
    ("secret", "secretName", "{at} is a required field"),
    ("serviceAccount", "serviceAccountName", "{at} is a required field"),
];

/// Sources of which a machine can have one.
const SINGLE: [(&str, &str); 3] =
    [("serviceAccount", "serviceAccount"), ("downwardMetrics", "downwardMetric"), ("memoryDump", "memory dump")];

/// The most bytes that cloud-init's data may have inside the object.
const MOST_DATA: usize = 2048;

impl Checker<'_> {
    pub(super) fn volumes(&mut self) {
        let all = self.name("volumes");
        for (i, _, other) in self.repeated("volumes") {
            let words = format!("{all}[{i}] and {all}[{other}] must not have the same Name.");
            let reason = Reason::Duplicate(self.path(&format!("volumes[{other}]")));
            self.reject(&format!("volumes[{i}].name"), reason, words);
        }
        for (path, volume) in self.each("volumes[]") {
            self.volume(&path, volume);
        }
        for (source, what) in SINGLE {
            let found = self.each(&format!("volumes[].{source}"));
            if let [_, (second, _), ..] = &found[..] {
                let words = format!("{all} must have max one {what} volume set");
                self.reject(second, Reason::NotExactlyOne, words);
            }
        }
        if !self.list("utilityVolumes").is_empty() {
            let words = "cannot create VMI with utility volumes in spec, utility volumes can only be added via hotplug";
            self.reject("utilityVolumes", Reason::Removed, words);
        }
    }

    fn volume(&mut self, path: &str, volume: &Value) {
        if count(volume, &SOURCES) != 1 {
            let words = format!("{} must have exactly one source type set", self.name(path));
            self.reject(path, Reason::NotExactlyOne, words);
        }
        for (source, field, words) in REQUIRED {
            if !volume[source].is_null() && text(&volume[source][field]).is_empty() {
                let words = words.replace("{at}", &self.name(&format!("{path}.{source}.{field}")));
                self.reject(&format!("{path}.{source}"), Reason::Missing, words);
            }
        }
        for source in ["cloudInitNoCloud", "cloudInitConfigDrive"] {
            if !volume[source].is_null() {
                self.cloud_init(&format!("{path}.{source}"), &volume[source], source);
                break;
            }
        }
        let host = &volume["hostDisk"];
        if !host.is_null() && text(&host["type"]).is_empty() {
            let at = format!("{path}.hostDisk.type");
            let words = format!("{} has invalid value '', allowed are 'Disk' or 'DiskOrCreate'", self.name(&at));
            self.reject(&at, unsupported(&["Disk", "DiskOrCreate"]), words);
        }
        if text(&host["type"]) == "Disk" && whole(&host["capacity"]) != 0 {
            let at = |field: &str| format!("{path}.hostDisk.{field}");
            let [capacity, kind] = ["capacity", "type"].map(|f| self.name(&at(f)));
            let words = format!("{capacity} is allowed to pass only with {kind} equal to 'DiskOrCreate'");
            self.reject(&at("capacity"), Reason::Contradicts(self.path(&at("type"))), words);
        }
        let inner = text(&volume["containerDisk"]["path"]);
        if let Some(problem) = path_problem(inner).filter(|_| !inner.is_empty()) {
            let words = format!("{}.containerDisk {problem}", self.name(path));
            self.reject(&format!("{path}.containerDisk.path"), Reason::Malformed, words);
        }
    }

    fn cloud_init(&mut self, path: &str, data: &Value, kind: &str) {
        let name = self.name(path);
        let mut sources = 0;
        for (part, secret, several) in [
            ("user", "secretRef", "only one userdatasource"),
            ("network", "networkDataSecretRef", "only one networkdata source"),
        ] {
            let [inline, encoded] = [format!("{part}Data"), format!("{part}DataBase64")];
            let written = [text(&data[&inline]), text(&data[&encoded]), text(&data[secret]["name"])];
            let set = written.iter().filter(|w| !w.is_empty()).count();
            sources += set;
            // Of both, the plain one is measured.
            let decoded = decoded_len(written[1]);
            if decoded.is_none() {
                let at = format!("{name}.{encoded}");
                let words = format!("{at}.{kind}.{encoded} is not a valid base64 value.");
                self.reject(&format!("{path}.{encoded}"), Reason::Malformed, words);
            }
            if set > 1 {
                let words = format!("{name} must have {several} set.");
                self.reject(path, Reason::NotExactlyOne, words);
            }
            let (len, field) = match written[0].len() {
                0 => (decoded.unwrap_or(0), &encoded),
                len => (len, &inline),
            };
            if len > MOST_DATA {
                let reference = if part == "user" { "UserDataSecretRef" } else { "NetworkDataSecretRef" };
                let words = format!(
                    "{name} {part}data exceeds {MOST_DATA} byte limit. Should use {reference} for larger data."
                );
                self.reject(&format!("{path}.{field}"), Reason::OutOfRange, words);
            }
        }
        if sources == 0 {
            let words = format!("{name} must have at least one userdatasource or one networkdatasource set.");
            self.reject(path, Reason::NotExactlyOne, words);
        }
    }

    pub(super) fn access_credentials(&mut self) {
        const KEY_METHODS: [&str; 3] = ["noCloud", "configDrive", "qemuGuestAgent"];
        for (path, credential) in self.each("accessCredentials[]") {
            let name = self.name(&path);
            let kinds: [(&str, &[&str]); 2] = [("sshPublicKey", &KEY_METHODS), ("userPassword", &["qemuGuestAgent"])];
            for (kind, methods) in kinds {
                let given = &credential[kind];
                if given.is_null() {
                    continue;
                }
                let at = |field: &str| format!("{path}.{kind}.{field}");
                let method = &given["propagationMethod"];
                for (method_name, volume) in [("noCloud", "cloudInitNoCloud"), ("configDrive", "cloudInitConfigDrive")]
                {
                    let is_there = !self.each(&format!("volumes[].{volume}")).is_empty();
                    if !method[method_name].is_null() && !is_there {
                        let words = format!(
                            "{name} requires a {method_name} volume to exist when the {method_name} propagationMethod \
                             is in use."
                        );
                        self.reject(&at("propagationMethod"), Reason::Needs(self.path("volumes")), words);
                    }
                }
                let agent = &method["qemuGuestAgent"];
                if kind == "sshPublicKey" && !agent.is_null() && list(&agent["users"]).is_empty() {
                    let words = format!("{name} requires at least one user to be present in the users list");
                    self.reject(&at("propagationMethod.qemuGuestAgent.users"), Reason::Missing, words);
                }
                if given["source"]["secret"].is_null() {
                    let words = format!("{name} must have exactly one source set");
                    self.reject(&at("source"), Reason::NotExactlyOne, words);
                }
                if count(method, methods) != 1 {
                    let words = format!("{name} must have exactly one propagationMethod set");
                    self.reject(&at("propagationMethod"), Reason::NotExactlyOne, words);
                }
            }
            if count(credential, &["sshPublicKey", "userPassword"]) != 1 {
                let words = format!("{name} must have exactly one access credential type set");
                self.reject(&path, Reason::NotExactlyOne, words);
            }
        }
    }

    pub(super) fn firmware(&mut self) {
        const LOADER: &str = "domain.firmware.bootloader";
        if self.has(&format!("{LOADER}.efi")) && self.has(&format!("{LOADER}.bios")) {
            let words =
                format!("{} has both EFI and BIOS configured, but they are mutually exclusive.", self.name(LOADER));
            self.reject(LOADER, Reason::NotExactlyOne, words);
        }
        self.kernel_boot();
        self.acpi_tables();
        let efi = self.get("domain.firmware.bootloader.efi");
        let is_secure = !efi.is_null() && efi["secureBoot"] != false;
        let is_exempt = self.cluster.admits("tdx-without-smm") && self.has("domain.launchSecurity.tdx");
        if is_secure && !is_on(self.get("domain.features.smm")) && !is_exempt {
            let domain = self.name("domain");
            let words =
                format!("{domain} has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.");
            let at = format!("{LOADER}.efi");
            let at = if efi["secureBoot"] == true { format!("{at}.secureBoot") } else { at };
            self.reject(&at, Reason::Needs(self.path("domain.features.smm.enabled")), words);
        }
    }

    fn kernel_boot(&mut self) {
        const BOOT: &str = "domain.firmware.kernelBoot";
        let boot = self.get(BOOT);
        let container = &boot["container"];
        let at = format!("{BOOT}.container");
        if container.is_null() {
            if !text(&boot["kernelArgs"]).is_empty() {
                let words = "kernel arguments cannot be provided without an external kernel";
                self.reject(&format!("{BOOT}.kernelArgs"), Reason::Needs(self.path(&at)), words);
            }
            return;
        }
        let name = self.name(&at);
        if text(&container["image"]).is_empty() {
            self.reject(&at, Reason::Missing, format!("{name} must be defined with an image"));
        }
        let paths = ["kernelPath", "initrdPath"].map(|field| (field, text(&container[field])));
        if paths.iter().all(|(_, path)| path.is_empty()) {
            let words = format!("{name} must be defined with at least one of the following: kernelPath, initrdPath");
            self.reject(&at, Reason::Missing, words);
        }
        for (field, path) in paths {
            if let Some(problem) = path_problem(path).filter(|_| !path.is_empty()) {
                self.reject(&format!("{at}.{field}"), Reason::Malformed, format!("{name}.{field} {problem}"));
            }
        }
    }

    fn acpi_tables(&mut self) {
        const ACPI: &str = "domain.firmware.acpi";
        let acpi = self.get(ACPI);
        if acpi.is_null() {
            return;
        }
        let names = ["slicNameRef", "msdmNameRef"].map(|field| (field, text(&acpi[field])));
        if names.iter().all(|(_, name)| name.is_empty()) {
            let words = "ACPI was set but no SLIC nor MSDM volume reference was set";
            self.reject(ACPI, Reason::Missing, words);
        }
        for (field, name) in names.into_iter().filter(|(_, name)| !name.is_empty()) {
            let volumes = self.list("volumes");
            let volume = volumes.iter().find(|v| text(&v["name"]) == name);
            let problem = match volume {
                Some(volume) if !volume["secret"].is_null() => continue,
                Some(_) => "refers to Volume of unsupported type.",
                None => "does not have a matching Volume.",
            };
            let known = volumes.iter().map(|v| text(&v["name"]).to_owned()).collect();
            let words = format!("{} {problem}", self.name("acpi"));
            self.reject(&format!("{ACPI}.{field}"), Reason::Dangling(name.to_owned(), known), words);
        }
    }

    /// What an instance's volumes are shown by; a machine's volume without a disk gets one.
    pub(super) fn shown_volumes(&mut self) {
        for (path, source) in self.each("volumes[].containerPath") {
            let path = path.strip_suffix(".containerPath").unwrap_or(&path);
            let name = text(&super::checker::at(self.spec, path)["name"]);
            let shown_by = |devices: &str| self.list(devices).iter().any(|d| text(&d["name"]) == name);
            let (disk, share) = (shown_by("domain.devices.disks"), shown_by("domain.devices.filesystems"));
            if disk {
                let words = format!("ContainerPath volume '{name}' must be mapped to a filesystem, not a disk");
                self.reject(path, Reason::Contradicts(self.path("domain.devices.disks")), words);
            }
            if !share {
                let words = format!(
                    "ContainerPath volume '{name}' must have a matching filesystem defined in \
                     spec.domain.devices.filesystems"
                );
                self.reject(path, Reason::Needs(self.path("domain.devices.filesystems")), words);
            }
            if share {
                // The controller says so, and makes no pod.
                let words = "VMI has ContainerPath volumes but the ContainerPathVolumes feature gate is disabled";
                self.needs_gate("ContainerPathVolumes", &format!("{path}.containerPath"), words);
            }
            let reserved = ["/var/run/kubevirt", "/var/run/libvirt"];
            if let Some(prefix) = reserved.iter().find(|p| text(&source["path"]).starts_with(**p)) {
                let words = format!("ContainerPath volume '{name}' uses reserved path prefix '{prefix}'");
                self.reject(&format!("{path}.containerPath.path"), Reason::OutOfRange, words);
            }
        }
    }

    /// File systems that are shared with the guest.
    pub(super) fn filesystems(&mut self) {
        const CONFIG: [&str; 4] = ["configMap", "secret", "downwardAPI", "serviceAccount"];
        const STORED: [&str; 2] = ["persistentVolumeClaim", "dataVolume"];
        for (path, share) in self.each("domain.devices.filesystems[]") {
            let volume = self.list("volumes").iter().rfind(|v| v["name"] == share["name"]);
            let Some(volume) = volume else {
                continue;
            };
            let virtiofs = format!("{path}.virtiofs");
            if count(volume, &STORED) > 0 {
                let words = "virtiofs is not allowed: virtiofs feature gate is not enabled for PVC";
                self.needs_gate("EnableVirtioFsStorageVolumes", &virtiofs, words);
            } else if count(volume, &CONFIG) > 0 {
                let words = "virtiofs is not allowed: virtiofs feature gate is not enabled for config volumes";
                self.needs_gate("EnableVirtioFsConfigVolumes", &virtiofs, words);
            }
        }
    }
}

/// How many bytes a base64 text holds; `None` when it isn't one. Go skips line breaks.
fn decoded_len(text: &str) -> Option<usize> {
    let bytes: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    let padding = bytes.iter().rev().take_while(|b| **b == b'=').count();
    let data = bytes.get(..bytes.len() - padding)?;
    let is_base64 = bytes.len().is_multiple_of(4)
        && padding <= 2
        && data.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    is_base64.then(|| bytes.len() / 4 * 3 - padding)
}
