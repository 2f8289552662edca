//! Fills in what KubeVirt does before it validates: instance type, preference, defaults.
//!
//! Source: `pkg/instancetype/apply`, `pkg/instancetype/preference/apply`, `pkg/defaults`.

use super::checker::{Checker, at, list, number, whole};
use super::cpu::vcpus;
use super::{Cluster, Machine};
use crate::cause::{Cause, CauseKind};
use crate::prelude::*;

/// Fields of instances that instance types and preferences set.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    /// Fields that both an instance and an instance type have: paths in the instance's and the instance type's spec.
    conflicts: Vec<(String, String)>,
    /// Fields that an instance with an instance type must not have.
    forbidden_with_type: Vec<String>,
    /// Preferred values: path in the preference, and field of the instance.
    preferred: Vec<(String, String)>,
    /// Preferred values of devices: list, field of the preference, field of the device.
    preferred_devices: Vec<(String, String, String)>,
}

static FIELDS: Table<Fields> = Table::of(hcoplan_schemas::INSTANCETYPE_FIELDS);

impl Checker<'_> {
    /// Rejects fields of the instance that its instance type has, and annotations that have another value there.
    pub(super) fn instancetype_conflicts(&mut self, instancetype: &Value, path: &str, metadata: &Value) {
        for (key, value) in members(&instancetype["annotations"]) {
            let own = &metadata["annotations"][key];
            if !own.is_null() && own != value {
                let message = format!("VM field(s) annotations.{key} conflicts with selected instance type: {value}");
                let path = Path::dotted(path).key("annotations").key(key);
                self.found.push(Cause::new(self.stage, path, CauseKind::Instancetype, message));
            }
        }
        let is_set =
            |value: &Value| !value.is_null() && *value != false && *value != "" && *value != 0 && *value != json!([]);
        let both = FIELDS.conflicts.iter().filter(|(_, other)| is_set(at(instancetype, other)));
        let all = FIELDS.forbidden_with_type.iter().map(String::as_str).chain(both.map(|(field, _)| field.as_str()));
        // Until v1.6 an instance with an instance type must not have any `memory`.
        let owns_memory = self.cluster.admits("instancetype-owns-memory");
        let mut all: Vec<&str> = all.filter(|path| !owns_memory || !path.starts_with("domain.memory.")).collect();
        all.extend(owns_memory.then_some("domain.memory"));
        for path in all {
            if is_set(self.get(path)) {
                let message = format!("VM field(s) {} conflicts with selected instance type", self.name(path));
                self.reject(path, CauseKind::Instancetype, message);
            }
        }
    }
}

/// An instance's spec with its instance type, its preference, and KubeVirt's defaults.
pub(super) fn complete(cluster: Cluster<'_>, machine: Machine<'_>, spec: &Value) -> Value {
    let mut spec = if spec.is_null() { json!({}) } else { spec.clone() };
    if !spec.is_object() {
        return spec;
    }
    if let Some(instancetype) = machine.instancetype {
        apply_instancetype(&mut spec, instancetype, machine.preference);
    }
    if let Some(preference) = machine.preference {
        apply_preference(&mut spec, preference);
    }
    fill(cluster, &mut spec, machine.architecture);
    spec
}

/// Sets the value at a dotted path, with missing parent objects.
fn set(target: &mut Value, path: &str, value: Value) {
    let node = path.split('.').try_fold(target, |node, key| {
        if node.is_null() {
            *node = json!({});
        }
        Some(node.as_object_mut()?.entry(key).or_insert(Value::Null))
    });
    if let Some(node) = node {
        *node = value;
    }
}

fn set_missing(target: &mut Value, path: &str, value: &Value) {
    let current = at(target, path);
    if !value.is_null() && (current.is_null() || *current == "") {
        set(target, path, value.clone());
    }
}

fn apply_instancetype(spec: &mut Value, instancetype: &Value, preference: Option<&Value>) {
    for (field, other) in &FIELDS.conflicts {
        set_missing(spec, field, at(instancetype, other));
    }
    set_missing(spec, "domain.cpu.maxSockets", at(instancetype, "cpu.maxSockets"));
    let memory = at(instancetype, "memory.guest");
    set_missing(spec, "domain.memory.guest", memory);
    let overcommit = number(at(instancetype, "memory.overcommitPercent"));
    if overcommit > 0 {
        // KubeVirt computes this in single precision.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as KubeVirt does")]
        let request = (whole(memory) as f32 * (1.0 - overcommit as f32 / 100.0)) as i64;
        set_missing(spec, "domain.resources.requests.memory", &request.into());
    }
    let count = number(at(instancetype, "cpu.guest"));
    let (mut cores, mut sockets, mut threads) = (1, 1, 1);
    let topology = topology(preference);
    let (ratio, across) = spread(preference);
    match topology {
        _ if count <= 1 => {}
        "cores" | "preferCores" => cores = count,
        "threads" | "preferThreads" => threads = count,
        "spread" | "preferSpread" => match across {
            "CoresThreads" => (threads, cores) = (ratio, count / ratio.max(1)),
            "SocketsCoresThreads" => (threads, cores, sockets) = (2, ratio, count / 2 / ratio.max(1)),
            _ => (cores, sockets) = (ratio, count / ratio.max(1)),
        },
        _ => sockets = count,
    }
    for (field, n) in [("cores", cores), ("sockets", sockets), ("threads", threads)] {
        set_missing(spec, &format!("domain.cpu.{field}"), &n.into());
    }
}

/// The vCPU topology that a preference asks for.
pub(super) fn topology(preference: Option<&Value>) -> &str {
    let written = preference.map_or("", |p| text(at(p, "cpu.preferredCPUTopology")));
    if written.is_empty() { "sockets" } else { written }
}

/// How many vCPUs share a socket or core, and across what they are spread.
pub(super) fn spread(preference: Option<&Value>) -> (i64, &str) {
    let get = |path: &str| preference.map_or(&Value::Null, |p| at(p, path));
    let ratios = ["cpu.spreadOptions.ratio", "preferSpreadSocketToCoreRatio"].map(|p| number(get(p)));
    let ratio = ratios.into_iter().find(|r| *r != 0).unwrap_or(2);
    let across = text(get("cpu.spreadOptions.across"));
    (ratio, if across.is_empty() { "SocketsCores" } else { across })
}

/// Why the vCPUs of an instance type can't be spread as a preference says.
///
/// Source: `pkg/instancetype/preference/validation/cpu.go`.
pub(super) fn spread_problem(instancetype: &Value, preference: Option<&Value>) -> Option<String> {
    let count = number(at(instancetype, "cpu.guest"));
    let (ratio, across) = spread(preference);
    const RATIO: &str = "Spec.PreferSpreadSocketToCoreRatio or Spec.CPU.PreferSpreadOptions.Ratio of";
    let (divisor, by) = match across {
        "CoresThreads" => (ratio, format!("number of threads per core {ratio}")),
        "SocketsCoresThreads" => (2 * ratio, format!("number of threads per core 2 and {RATIO} {ratio}")),
        _ => (ratio, format!("{RATIO} {ratio} provided by the preference")),
    };
    let is_spread = matches!(topology(preference), "spread" | "preferSpread");
    let message = format!("{count} vCPUs provided by the instance type are not divisible by the {by}");
    (is_spread && divisor > 0 && count % divisor > 0).then_some(message)
}

fn apply_preference(spec: &mut Value, preference: &Value) {
    for (other, field) in &FIELDS.preferred {
        set_missing(spec, field, at(preference, other));
    }
    let devices = &preference["devices"];
    let pods: Vec<Value> =
        list(&spec["networks"]).iter().filter(|n| !n["pod"].is_null()).map(|n| n["name"].clone()).collect();
    for (kind, other, field) in &FIELDS.preferred_devices {
        let value = &devices[other];
        let items = spec["domain"]["devices"][kind].as_array_mut();
        for item in items.into_iter().flatten().filter(|_| !value.is_null()) {
            let applies = match (field.split_once('.'), field.as_str()) {
                (Some(("disk", _)), _) => item["cdrom"].is_null() && item["lun"].is_null(),
                (Some((target, _)), _) => !item[target].is_null(),
                (None, "dedicatedIOThread") => text(at(item, "disk.bus")) == "virtio",
                (None, "masquerade") => {
                    let bindings = ["bridge", "sriov", "binding", "passtBinding", "slirp", "macvtap", "passt"];
                    super::checker::count(item, &bindings) == 0 && pods.contains(&item["name"])
                }
                (None, _) => kind != "disks" || item["cdrom"].is_null() && item["lun"].is_null(),
            };
            if applies {
                set_missing(item, field, value);
            }
        }
    }
    let firmware = &preference["firmware"];
    const LOADER: &str = "domain.firmware.bootloader";
    let has_no_firmware = |spec: &Value| at(spec, LOADER)["efi"].is_null() && at(spec, LOADER)["bios"].is_null();
    if firmware["preferredUseBios"] == true && has_no_firmware(spec) {
        set(spec, &format!("{LOADER}.bios"), json!({}));
    }
    if has_no_firmware(spec) && !firmware["preferredEfi"].is_null() {
        set(spec, &format!("{LOADER}.efi"), firmware["preferredEfi"].clone());
    } else {
        if firmware["preferredUseEfi"] == true && has_no_firmware(spec) {
            set(spec, &format!("{LOADER}.efi"), json!({}));
        }
        if !at(spec, LOADER)["efi"].is_null() {
            set_missing(spec, &format!("{LOADER}.efi.secureBoot"), &firmware["preferredUseSecureBoot"]);
        }
    }
}

/// KubeVirt's defaults for fields that are validated.
fn fill(cluster: Cluster<'_>, spec: &mut Value, architecture: Option<&str>) {
    set_missing(spec, "architecture", &architecture.map_or(Value::Null, Into::into));
    set_missing(spec, "evictionStrategy", &cluster.configuration()["evictionStrategy"]);
    let limit = at(spec, "domain.resources.limits.cpu").clone();
    set_missing(spec, "domain.resources.requests.cpu", &limit);
    let sources = ["resources.requests.memory", "resources.limits.memory", "memory.hugepages.pageSize"];
    let memory = sources.iter().map(|p| at(&spec["domain"], p)).find(|m| whole(m) != 0).cloned();
    set_missing(spec, "domain.memory.guest", &memory.unwrap_or_default());
    if vcpus(&spec["domain"]["cpu"]) == 0 {
        let cpus = ["limits", "requests"].map(|k| whole(at(spec, &format!("domain.resources.{k}.cpu"))));
        let sockets = cpus.into_iter().find(|c| *c != 0).unwrap_or(1);
        for (field, n) in [("sockets", sockets), ("cores", 1), ("threads", 1)] {
            set(spec, &format!("domain.cpu.{field}"), n.into());
        }
    }
    let is_empty = |path: &str| list(at(spec, path)).is_empty();
    let is_networked = !is_empty("networks") || !is_empty("domain.devices.interfaces");
    if !is_networked && *at(spec, "domain.devices.autoattachPodInterface") != false {
        let default = text(&cluster.configuration()["network"]["defaultNetworkInterface"]);
        let binding = if default == "masquerade" { "masquerade" } else { "bridge" };
        set(spec, "networks", json!([{"name": "default", "pod": {}}]));
        set(spec, "domain.devices.interfaces", json!([{"name": "default", binding: {}}]));
    }
    let names = |path: &str| list(at(spec, path)).iter().map(|d| d["name"].clone()).collect::<Vec<_>>();
    let shown = [names("domain.devices.disks"), names("domain.devices.filesystems")].concat();
    let hidden: Vec<Value> = names("volumes").into_iter().filter(|name| !shown.contains(name)).collect();
    if !hidden.is_empty() {
        let mut disks = list(at(spec, "domain.devices.disks")).to_vec();
        disks.extend(hidden.into_iter().map(|name| json!({"name": name})));
        set(spec, "domain.devices.disks", disks.into());
    }
}

/// A field of an instance's complete spec, else the KubeVirt object's default of it; empty if there is none.
pub fn effective<'v>(cluster: Cluster<'v>, spec: &'v Value, field: &str) -> &'v str {
    let configuration = cluster.configuration();
    let architecture = text(&spec["architecture"]);
    let defaults = match field {
        "domain.cpu.model" if architecture == "arm64" => ["host-passthrough", ""],
        "domain.cpu.model" => [text(&configuration["cpuModel"]), "host-model"],
        "domain.machine.type" => {
            let own = &configuration["architectureConfiguration"][architecture]["machineType"];
            [text(own), text(&configuration["machineType"])]
        }
        _ => [""; 2],
    };
    let all = [text(at(spec, field)), defaults[0], defaults[1]];
    all.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
}

/// The spec with the disk buses that KubeVirt fills in when an instance is created; `None` if each disk has one.
pub(super) fn with_disk_buses(spec: &Value) -> Option<Value> {
    const TARGETS: [&str; 3] = ["disk", "lun", "cdrom"];
    let has_bus = |disk: &Value| TARGETS.iter().any(|t| !text(&disk[*t]["bus"]).is_empty());
    if list(at(spec, "domain.devices.disks")).iter().all(has_bus) {
        return None;
    }
    let bus = if matches!(text(&spec["architecture"]), "arm64" | "s390x") { "virtio" } else { "sata" };
    let mut spec = spec.clone();
    for disk in spec["domain"]["devices"]["disks"].as_array_mut()?.iter_mut().filter(|d| d.is_object()) {
        if super::checker::count(disk, &TARGETS) == 0 {
            disk["disk"] = json!({});
        }
        for target in TARGETS {
            if disk[target].is_object() {
                set_missing(disk, &format!("{target}.bus"), &bus.into());
            }
        }
    }
    Some(spec)
}
