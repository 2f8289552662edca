//! Checks disks of an instance and their volumes.
//!
//! Source: `pkg/storage/admitters/disks.go`, and `validateBootOrder` of `vmi-create-admitter.go`.

use std::collections::{HashMap, HashSet};

use hcoplan_yaml::Path;
use serde_json::Value;

use super::Reason;
use super::checker::{Checker, dangling, list, number, text};

const TARGETS: [&str; 3] = ["disk", "lun", "cdrom"];
const SMALLEST_BLOCK: i64 = 512;
const LARGEST_BLOCK: i64 = 2_097_152;

/// The kind of a disk: `disk`, `lun` or `cdrom`; empty if unset.
fn target(disk: &Value) -> &'static str {
    TARGETS.into_iter().find(|t| !disk[*t].is_null()).unwrap_or_default()
}

/// Why a path inside a container is rejected.
pub(super) fn path_problem(path: &str) -> Option<&'static str> {
    if path == "/" {
        return Some("must not point to root");
    }
    let inner = path.strip_suffix('/').unwrap_or(path).strip_prefix('/');
    let is_plain = inner.is_some_and(|p| p.split('/').all(|part| !matches!(part, "" | "." | "..")));
    (!is_plain).then_some("must be an absolute path to a file without relative components")
}

/// Whether a text is a PCI address; `0000:81:01.10` isn't one.
pub(super) fn is_pci_address(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '.']).collect();
    let separators: Vec<char> = text.chars().filter(|c| matches!(c, ':' | '.')).collect();
    let hex = |part: &str, len: usize| part.len() == len && part.bytes().all(|b| b.is_ascii_hexdigit());
    separators == [':', ':', '.']
        && matches!(parts[..], [domain, bus, slot, function] if hex(domain, 4) && hex(bus, 2) && hex(slot, 2)
            && function.len() == 1 && ("0"..="7").contains(&function))
}

impl Checker<'_> {
    pub(super) fn disks(&mut self) {
        for (i, _, other) in self.repeated("domain.devices.disks") {
            let disks = self.name("domain.devices.disks");
            let message = format!("{disks}[{i}] and {disks}[{other}] must not have the same Name.");
            self.reject(&format!("domain.devices.disks[{i}].name"), self.duplicate("disks", other), message);
        }
        let volumes = self.by_name("volumes");
        let disks = list(self.get("domain.devices.disks"));
        let shown: HashSet<&str> = disks.iter().map(|d| text(&d["name"])).collect();
        let names = self.list("volumes").iter().map(|v| text(&v["name"])).filter(|n| !shown.contains(n));
        let unshown: Vec<&str> = names.collect();
        for (path, disk) in self.each("domain.devices.disks[]") {
            self.disk(&path, disk);
            self.disk_volume(&path, disk, &volumes, &unshown);
        }
    }

    fn duplicate(&self, devices: &str, index: usize) -> Reason {
        Reason::Duplicate(self.path(&format!("domain.devices.{devices}[{index}]")))
    }

    fn disk(&mut self, path: &str, disk: &Value) {
        let address = text(&disk["disk"]["pciAddress"]);
        if !address.is_empty() {
            let at = format!("{path}.disk.pciAddress");
            // The path in the server's message.
            let index = path.rsplit_once('[').map_or("", |(_, index)| index);
            let name = self.name(&format!("domain.devices.disks.domain.devices.disks.disk[{index}"));
            if text(&disk["disk"]["bus"]) != "virtio" {
                let message =
                    format!("disk {name}.name - setting a PCI address is only possible with bus type virtio.");
                self.reject(&at, Reason::Contradicts(self.path(&format!("{path}.disk.bus"))), message);
            }
            if !is_pci_address(address) {
                let message = format!("disk {name}.name has malformed PCI address ({address}).");
                self.reject(&at, Reason::Malformed, message);
            }
        }
        self.block_size(path, disk);
    }

    fn block_size(&mut self, path: &str, disk: &Value) {
        let size = &disk["blockSize"];
        let custom = &size["custom"];
        if custom.is_null() {
            return;
        }
        if super::checker::is_on(&size["matchVolume"]) {
            let message = "Block size matching can't be enabled together with a custom value";
            self.reject(&format!("{path}.blockSize"), Reason::NotExactlyOne, message);
            return;
        }
        let at = |field: &str| format!("{path}.blockSize.custom.{field}");
        let [logical, physical, granularity] =
            ["logical", "physical", "discardGranularity"].map(|k| number(&custom[k]));
        if logical > physical {
            let message =
                format!("Logical size {logical} must be the same or less than the physical size of {physical}");
            self.reject(&at("logical"), Reason::Contradicts(self.path(&at("physical"))), message);
        } else if text(&disk[target(disk)]["bus"]) == "sata" && logical != SMALLEST_BLOCK {
            let message = format!("Logical size {logical} must be {SMALLEST_BLOCK} for SATA devices");
            self.reject(&at("logical"), Reason::OutOfRange, message);
        } else if granularity != 0 && logical != 0 && granularity % logical != 0 {
            let message = format!("Discard granularity {granularity} must be multiples of logical size {logical}");
            self.reject(&at("discardGranularity"), Reason::OutOfRange, message);
        } else {
            for (field, size) in [("logical", logical), ("physical", physical)] {
                let problem = match size {
                    s if s < SMALLEST_BLOCK => format!("less than the supported minimum size of {SMALLEST_BLOCK}"),
                    s if s > LARGEST_BLOCK => format!("greater than the supported maximum size of {LARGEST_BLOCK}"),
                    s if s & (s - 1) != 0 => "not a power of 2".to_owned(),
                    _ => continue,
                };
                self.reject(&at(field), Reason::OutOfRange, format!("Provided size of {size} is {problem}"));
            }
        }
    }

    /// Checks the volume of a disk.
    fn disk_volume(&mut self, path: &str, disk: &Value, volumes: &HashMap<&str, (usize, &Value)>, unshown: &[&str]) {
        let name = text(&disk["name"]);
        let at = format!("{path}.name");
        let Some((index, volume)) = volumes.get(name) else {
            if disk["cdrom"].is_null() {
                let reason = dangling(name, unshown.iter().copied());
                let message = format!("{}.Name '{name}' not found.", self.name(path));
                self.reject(&at, reason, message);
            } else {
                let message = "DeclarativeHotplugVolumes feature gate not enabled, cannot define an empty CD-ROM disk";
                self.needs_gate("DeclarativeHotplugVolumes", &at, message);
            }
            return;
        };
        let on_claim = !volume["persistentVolumeClaim"].is_null() || !volume["dataVolume"].is_null();
        if !disk["lun"].is_null() && !on_claim {
            let at = format!("{path}.lun");
            let message =
                format!("{} can only be mapped to a DataVolume or PersistentVolumeClaim volume.", self.name(&at));
            self.reject(&at, Reason::Contradicts(self.path(&format!("volumes[{index}]"))), message);
        }
        if !volume["downwardMetrics"].is_null() {
            let bus = text(&disk["disk"]["bus"]);
            let at = format!("{path}.disk");
            let message = if disk["disk"].is_null() {
                format!("DownwardMetrics volume must be mapped to a disk, but disk is not set on {}.", self.name(&at))
            } else if !matches!(bus, "" | "virtio") {
                let at = self.name(&format!("{at}.bus"));
                format!("DownwardMetrics volume must be mapped to virtio bus, but {at} is set to {bus}")
            } else {
                return;
            };
            self.reject(&at, Reason::Contradicts(self.path(&format!("volumes[{index}]"))), message);
        }
    }

    /// Checks that each boot order is used once among disks and interfaces.
    pub(super) fn boot_order(&mut self) {
        let mut taken: HashMap<i64, Path> = HashMap::new();
        for devices in ["disks", "interfaces"] {
            for (path, order) in self.each(&format!("domain.devices.{devices}[].bootOrder")) {
                let order = number(order);
                if devices == "interfaces" && order < 1 {
                    continue;
                }
                match taken.get(&order) {
                    Some(other) => {
                        let message =
                            format!("Boot order for {} already set for a different device.", self.name(&path));
                        self.reject(&path, Reason::Duplicate(other.clone()), message);
                    }
                    None => drop(taken.insert(order, self.path(&path))),
                }
            }
        }
    }
}
