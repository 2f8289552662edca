//! Table-driven checks: values of enumerations, and fields with a feature gate.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, at, list, text};

/// A field with its allowed values.
struct Enumeration {
    /// Path of the field; `[]` means each element of a list.
    field: &'static str,
    allowed: &'static [&'static str],
    /// The message: `{at}` is the field, `{value}` its value, `{list}` its list, `{parent}` its element and `{name}`
    /// the element's name.
    message: &'static str,
}

const fn one_of(field: &'static str, allowed: &'static [&'static str], message: &'static str) -> Enumeration {
    Enumeration { field, allowed, message }
}

const UNRECOGNIZED: &str = "{at} is set with an unrecognized option: {value}";

const ENUMERATIONS: &[Enumeration] = &[
    one_of("evictionStrategy", &["LiveMigrate", "LiveMigrateIfPossible", "None", "External"], UNRECOGNIZED),
    one_of("startStrategy", &["Paused"], UNRECOGNIZED),
    one_of(
        "dnsPolicy",
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None", ""],
        "DNSPolicy: {value} is not supported, valid values: [ClusterFirstWithHostNet ClusterFirst Default None ]",
    ),
    one_of(
        "domain.cpu.features[].policy",
        &["", "force", "require", "optional", "disable", "forbid"],
        "CPU feature {name} uses policy {value} that is not supported.",
    ),
    one_of("domain.ioThreadsPolicy", &["shared", "auto", "supplementalPool"], "Invalid IOThreadsPolicy ({value})"),
    one_of(
        "domain.devices.disks[].cache",
        &["", "none", "writethrough", "writeback"],
        "{at} has invalid value {value}",
    ),
    one_of(
        "domain.devices.disks[].io",
        &["", "native", "threads"],
        "Disk IO mode for {list} is not supported. Supported modes are: native, threads.",
    ),
    one_of(
        "domain.devices.disks[].errorPolicy",
        &["stop", "ignore", "report", "enospace"],
        "{at} has invalid value \"{value}\"",
    ),
    one_of("domain.devices.inputs[].bus", &["", "virtio", "usb"], "Input device can have only virtio or usb bus."),
    one_of("domain.devices.inputs[].type", &["tablet"], "Input device can have only tablet type."),
    one_of(
        "domain.devices.interfaces[].model",
        &["", "e1000", "e1000e", "igb", "ne2k_pci", "pcnet", "rtl8139", "virtio"],
        "interface {parent}.name uses model {value} that is not supported.",
    ),
    one_of(
        "domain.devices.interfaces[].state",
        &["", "absent", "up", "down"],
        "logical {name} interface state value is unsupported: {value}",
    ),
    one_of("domain.devices.panicDevices[].model", &["hyperv", "isa", "pvpanic"], "invalid PanicDeviceModel({value})"),
    one_of(
        "domain.devices.sound.model",
        &["", "ich9", "ac97"],
        "Sound device type is not supported. Options: 'ich9' or 'ac97'",
    ),
    one_of(
        "volumes[].hostDisk.type",
        &["Disk", "DiskOrCreate"],
        "{at} has invalid value '{value}', allowed are 'Disk' or 'DiskOrCreate'",
    ),
];

/// When a field requires its gate.
enum GateTrigger {
    /// When it is set.
    Set,
    /// When it is true.
    True,
    /// When it isn't empty.
    Filled,
}

/// Fields with their gate, and the message if it is off.
const GATED: &[(&str, GateTrigger, &str, &str)] = &[
    (
        "domain.cpu.numa.guestMappingPassthrough",
        GateTrigger::Set,
        "NUMA",
        "NUMA feature gate is not enabled in kubevirt-config, invalid entry {at}",
    ),
    (
        "domain.devices.autoattachVSOCK",
        GateTrigger::True,
        "VSOCK",
        "VSOCK feature gate is not enabled in kubevirt-config",
    ),
    (
        "domain.devices.disks[].lun.reservation",
        GateTrigger::True,
        "PersistentReservation",
        "PersistentReservation feature gate is not enabled in kubevirt-config",
    ),
    (
        "domain.devices.downwardMetrics",
        GateTrigger::Set,
        "DownwardMetrics",
        "downwardMetrics virtio serial is not allowed: DownwardMetrics feature gate is not enabled",
    ),
    (
        "domain.devices.hostDevices",
        GateTrigger::Set,
        "HostDevices",
        "Host Devices feature gate is not enabled in kubevirt-config",
    ),
    (
        "domain.devices.interfaces[].passtBinding",
        GateTrigger::Set,
        "PasstBinding",
        "PasstBinding feature gate is not enabled",
    ),
    (
        "domain.devices.interfaces[].portRanges",
        GateTrigger::Set,
        "PortRangesSpec",
        "portRanges is specified on interface but the PortRangesSpec feature gate is not enabled",
    ),
    (
        "domain.devices.panicDevices",
        GateTrigger::Filled,
        "PanicDevices",
        "Panic Devices feature gate is not enabled in kubevirt-config",
    ),
    (
        "domain.devices.video",
        GateTrigger::Set,
        "VideoConfig",
        "Video configuration is specified but the VideoConfig feature gate is not enabled",
    ),
    (
        "domain.memory.reservedOverhead",
        GateTrigger::Set,
        "ReservedOverheadMemlock",
        "Reserved overhead memlock feature gate is not enabled in kubevirt-config",
    ),
    (
        "domain.rebootPolicy",
        GateTrigger::Set,
        "RebootPolicy",
        "RebootPolicy is specified but the RebootPolicy feature gate is not enabled",
    ),
    (
        "volumes[].downwardMetrics",
        GateTrigger::Set,
        "DownwardMetrics",
        "downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled.",
    ),
    ("volumes[].hostDisk", GateTrigger::Set, "HostDisk", "HostDisk feature gate is not enabled"),
];

impl Checker<'_> {
    /// Rejects values outside their enumeration.
    pub(super) fn enumerations(&mut self) {
        for Enumeration { field, allowed, message } in ENUMERATIONS {
            for (path, value) in self.each(field) {
                if value.as_str().is_some_and(|v| !allowed.contains(&v)) {
                    let message = self.fill(message, &path, text(value));
                    self.reject(&path, unsupported(allowed), message);
                }
            }
        }
    }

    /// Rejects fields whose gate is off.
    pub(super) fn gated_fields(&mut self) {
        for (field, trigger, gate, message) in GATED {
            for (path, value) in self.each(field) {
                let is_asked = match trigger {
                    GateTrigger::Set => true,
                    GateTrigger::True => *value == true,
                    GateTrigger::Filled => !list(value).is_empty(),
                };
                if is_asked {
                    let message = self.fill(message, &path, text(value));
                    self.needs_gate(gate, &path, message);
                }
            }
        }
    }

    fn fill(&self, message: &str, path: &str, value: &str) -> String {
        let (parent, _) = path.rsplit_once('.').unwrap_or(("", path));
        let list = path.rsplit_once('[').map_or("", |(list, _)| list);
        let name = text(&at(self.spec, parent)["name"]);
        let parts = [("{at}", self.name(path)), ("{list}", self.name(list)), ("{parent}", self.name(parent))];
        let filled = parts.iter().fold(message.to_owned(), |message, (mark, part)| message.replace(mark, part));
        filled.replace("{name}", name).replace("{value}", value)
    }
}

/// The reason with the allowed values.
pub(super) fn unsupported(allowed: &[&str]) -> Reason {
    Reason::Unsupported(allowed.iter().filter(|a| !a.is_empty()).map(|a| (*a).to_owned()).collect())
}

/// The number of an object's fields that are set.
pub(super) fn count(value: &Value, fields: &[&str]) -> usize {
    fields.iter().filter(|f| !value[**f].is_null()).count()
}
