//! The consequences of an operand's change for the cluster.
//!
//! The most specific matching row of the table wins: the one with the longest path.

use serde_json::Value;

use super::delta::Step;
use super::impact::EffectTime::{self, Now};
use super::impact::Impact::{self, Behaviour, DataLoss};
use super::objects::ObjectChange;
use super::table::PathChange::{self, Add, Any, Becomes, Remove};
use super::table::{Row, TABLE};
use crate::diff::Kind;

/// The consequence of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consequence {
    /// Its maximum severity.
    pub impact: Impact,
    /// When it happens.
    pub when: EffectTime,
    /// Whether it always happens, not only if something uses the changed part.
    pub certain: bool,
    /// A sentence without a full stop; `{}` is replaced with its [`subject`].
    pub text: &'static str,
    /// What to do; empty if nothing.
    pub action: &'static str,
    /// The path of the table's row.
    path: &'static str,
}

impl Consequence {
    /// The sentence with its subject.
    pub fn sentence(&self, subject: &str) -> String {
        self.text.replace("{}", subject)
    }
}

/// The gates without which KubeVirt's webhook rejects virtual machines. Removing any other gate disables or replaces a
/// feature, but rejects no machine. Source: KubeVirt `pkg/virt-api/webhooks/validating-webhook` (an empty CD-ROM needs
/// DeclarativeHotplugVolumes, a persistent TPM VMPersistentState).
const GATES_OF_VMS: [&str; 28] = [
    "ARM64SecureBoot",
    "ContainerPathVolumes",
    "DeclarativeHotplugVolumes",
    "DownwardMetrics",
    "EnableVirtioFsConfigVolumes",
    "EnableVirtioFsStorageVolumes",
    "ExperimentalIgnitionSupport",
    "ExperimentalVirtiofsSupport",
    "GPUsWithDRA",
    "HostDevices",
    "HostDevicesWithDRA",
    "HostDisk",
    "MultiArchitecture",
    "NUMA",
    "NetworkDevicesWithDRA",
    "PanicDevices",
    "PersistentReservation",
    "SecureExecution",
    "Sidecar",
    "UtilityVolumes",
    "VMLiveUpdateFeatures",
    "VMPersistentState",
    "VSOCK",
    "VideoConfig",
    "VolumeMigration",
    "VolumesUpdateStrategy",
    "WorkloadEncryptionSEV",
    "WorkloadEncryptionTDX",
];

const FEATURE_GATES: &str = "spec.configuration.developerConfiguration.featureGates";
const DISABLED_GATES: &str = "spec.configuration.developerConfiguration.disabledFeatureGates";

/// A removed gate that no virtual machine needs.
const FEATURE_OFF: Consequence = Consequence {
    impact: Behaviour,
    when: Now,
    certain: true,
    text: "the KubeVirt feature {} is switched off",
    action: "",
    path: FEATURE_GATES,
};

/// The gate for SCSI reservations. Source: KubeVirt `pkg/virt-operator/resource/generate/components`: virt-handler has
/// the pr-helper while the gate is on.
const RESERVATION: &str = "PersistentReservation";

const RESERVATION_ON: Consequence = Consequence {
    impact: Behaviour,
    when: Now,
    certain: true,
    text: "the KubeVirt feature PersistentReservation is switched on: virt-handler is rolled out again, with \
           the helper for SCSI reservations",
    action: "",
    path: FEATURE_GATES,
};

/// The same for a gate that is on by default.
const FEATURE_DISABLED: Consequence = Consequence {
    text: "the KubeVirt feature {} is switched off, which is on by default",
    path: DISABLED_GATES,
    ..FEATURE_OFF
};

/// CDI's deletion of a removed cron that retains nothing. Source: CDI `pkg/controller/dataimportcron-controller.go`.
const DISKS_DELETED: Consequence = Consequence {
    impact: DataLoss,
    when: Now,
    certain: true,
    text: "the golden image {} is deleted: its DataSource, and every disk that was imported for it",
    action: "set `retentionPolicy: All` in a change before this one: CDI then imports the disks again, and keeps them",
    path: "",
};

/// Without types of devices the section has no effect, even if it is enabled.
const MEDIATED_DEVICES: &str = "spec.configuration.mediatedDevicesConfiguration";
const MEDIATED_DEVICES_SWITCH: &str = "spec.configuration.mediatedDevicesConfiguration.enabled";

/// The path of arm64's firmware, and KubeVirt's default. Source: KubeVirt `pkg/virt-config`, 1.6 to 1.9 (amd64's
/// default changed in 1.9).
const ARM64_FIRMWARE: &str = "spec.configuration.architectureConfiguration.arm64.ovmfPath";
const ARM64_FIRMWARE_DEFAULT: &str = "/usr/share/AAVMF";

const KSM: &str = "spec.configuration.ksmConfiguration";

const KSM_EVERYWHERE: &str = "KSM is switched on for every node: memory of virtual machines is shared there";
const KSM_NOWHERE: &str = "KSM is switched off: memory of virtual machines is shared on no node";
const KSM_SOMEWHERE: &str =
    "KSM is switched on for the nodes that its selector matches: memory of virtual machines is shared there";
const KSM_ELSEWHERE: &str = "KSM is switched on for other nodes than before: those that its selector matches";

/// Where memory is shared after a change of KSM's selector. Source: KubeVirt `pkg/virt-handler/ksm`: without a selector
/// nowhere, with an empty one everywhere.
fn ksm(change: &ObjectChange) -> Option<Consequence> {
    let selector = |body: Option<&Value>| {
        let selector = &body?["spec"]["configuration"]["ksmConfiguration"]["nodeLabelSelector"];
        let parts = selector.as_object()?.values();
        Some(
            parts.flat_map(Value::as_object).any(|m| !m.is_empty())
                || selector["matchExpressions"].as_array().is_some_and(|a| !a.is_empty()),
        )
    };
    let (was, is) = (selector(change.before.as_deref()), selector(change.after.as_deref()));
    let text = match (was, is) {
        (None, None) => return None,
        (_, Some(false)) => KSM_EVERYWHERE,
        (_, None) => KSM_NOWHERE,
        (None, Some(true)) => KSM_SOMEWHERE,
        (Some(_), Some(true)) => KSM_ELSEWHERE,
    };
    Some(Consequence { impact: Behaviour, when: Now, certain: true, text, action: "", path: KSM })
}

/// The section that replaces the gate in 1.19.
const RESERVATIONS: &str = "spec.configuration.persistentReservationConfiguration";

/// The consequence of a change of that section; none if the gate had the same effect before.
fn reservations(change: &ObjectChange) -> Option<Consequence> {
    let is_on = |body: Option<&Value>| {
        let configuration = body.map(|body| &body["spec"]["configuration"]);
        configuration.is_some_and(|c| {
            let mut gates = Vec::new();
            names(c["developerConfiguration"].get("featureGates"), &mut gates);
            c["persistentReservationConfiguration"]["enabled"] == true || gates.iter().any(|gate| gate == RESERVATION)
        })
    };
    match (is_on(change.before.as_deref()), is_on(change.after.as_deref())) {
        (false, true) => Some(RESERVATION_ON),
        (true, false) => most_specific("KubeVirt", FEATURE_GATES, Remove, None),
        _ => None,
    }
}

/// The methods that update running virtual machines. Their order has no effect. Source: KubeVirt
/// `pkg/virt-controller/watch/workload-updater`.
const METHODS: &str = "spec.workloadUpdateStrategy.workloadUpdateMethods";

/// The consequence of a change of the methods: machines are only left alone if no method remains.
fn update_methods(change: &ObjectChange, step: &Step, on: PathChange) -> Option<Consequence> {
    let listed = |body: Option<&Value>| {
        let mut out = Vec::new();
        let strategy = body.map(|body| &body["spec"]["workloadUpdateStrategy"]);
        names(strategy.and_then(|s| s.get("workloadUpdateMethods")), &mut out);
        out.sort_unstable();
        out
    };
    let (was, is) = (listed(change.before.as_deref()), listed(change.after.as_deref()));
    if was == is {
        None
    } else if is.is_empty() {
        most_specific("KubeVirt", &step.label, on, None)
    } else {
        most_specific("KubeVirt", "spec.workloadUpdateStrategy", Any, None)
    }
}

/// The placement of the network components; its two parts have separate rows.
const PLACEMENT: &str = "spec.placementConfiguration";

/// Whether a side of a change of that section has types of devices.
fn has_types(step: &Step) -> bool {
    let sides = [&step.before, &step.after].into_iter().flatten();
    let mut keys = sides.filter_map(Value::as_object).flat_map(|map| map.keys());
    keys.any(|key| key != "enabled")
}

/// The consequence of an object's addition or removal.
pub fn of_object(change: &ObjectChange) -> Option<Consequence> {
    let is_removed = change.kind == Kind::Remove || change.instead_of.is_some();
    if is_removed && change.id.kind == "DataImportCron" {
        let before = change.before.as_deref();
        if before.is_some_and(|body| body["spec"]["retentionPolicy"] == "None") {
            return Some(DISKS_DELETED);
        }
    }
    let on = match change.kind {
        Kind::Add if change.instead_of.is_none() => Add,
        Kind::Remove => Remove,
        _ => return None,
    };
    most_specific(&change.id.kind, "", on, None)
}

/// The consequence of a field's change.
pub fn of_field(change: &ObjectChange, step: &Step) -> Option<Consequence> {
    let (label, kind) = (step.label.as_str(), change.id.kind.as_str());
    let on = match (&step.before, &step.after) {
        (None, Some(_)) => Add,
        (Some(_), None) => Remove,
        _ => Any,
    };
    let needed_by_no_machine = |gates: Option<&Value>| {
        let mut all = Vec::new();
        names(gates, &mut all);
        !all.iter().any(|gate| GATES_OF_VMS.contains(&&**gate))
    };
    let is_of = |list: &str| {
        let rest = label.strip_prefix(list).filter(|_| kind == "KubeVirt");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    if (kind, label) == ("KubeVirt", MEDIATED_DEVICES) && !has_types(step) {
        return None;
    }
    // KubeVirt handles them by default.
    let is_off = |value: &Option<Value>| *value == Some(Value::Bool(false));
    if (kind, label) == ("KubeVirt", MEDIATED_DEVICES_SWITCH) && is_off(&step.before) == is_off(&step.after) {
        return None;
    }
    let is_default = |value: &Option<Value>| {
        let value = value.as_ref().map(|v| v.as_str().unwrap_or_default());
        value.is_none_or(|path| path == ARM64_FIRMWARE_DEFAULT)
    };
    if (kind, label) == ("KubeVirt", ARM64_FIRMWARE) && is_default(&step.before) && is_default(&step.after) {
        return None;
    }
    if (kind, label) == ("NetworkAddonsConfig", PLACEMENT) {
        let sides = [&step.before, &step.after].into_iter().flatten();
        let mut workloads = sides.filter_map(|side| side.get("workloads"));
        let part = if workloads.any(|placement| *placement != serde_json::json!({})) { "workloads" } else { "infra" };
        return most_specific(kind, &format!("{PLACEMENT}.{part}"), Any, None);
    }
    if kind == "KubeVirt" && label.starts_with(METHODS) {
        return update_methods(change, step, on);
    }
    if kind == "KubeVirt" && label.starts_with(RESERVATIONS) {
        return reservations(change);
    }
    if kind == "KubeVirt" && label.starts_with(KSM) {
        return ksm(change);
    }
    let is_reservation = || {
        let mut all = Vec::new();
        names(step.after.as_ref(), &mut all);
        all == [RESERVATION]
    };
    match on {
        Add if is_of(FEATURE_GATES) && is_reservation() => Some(RESERVATION_ON),
        Remove if is_of(FEATURE_GATES) && needed_by_no_machine(step.before.as_ref()) => Some(FEATURE_OFF),
        Add if is_of(DISABLED_GATES) && needed_by_no_machine(step.after.as_ref()) => Some(FEATURE_DISABLED),
        on => most_specific(kind, label, on, step.after.as_ref()),
    }
}

fn most_specific(kind: &str, label: &str, on: PathChange, after: Option<&Value>) -> Option<Consequence> {
    let path_of_label = without_keys(label);
    let is_about = |row: &&Row| {
        let path = path_of_label.strip_prefix(row.path);
        let is_within = path.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let whole = row.path.is_empty();
        // A row about the whole object doesn't cover its metadata.
        row.kind == kind && (is_within || whole) && (!whole || label.is_empty() || row.change == Any)
    };
    let matches_change = |row: &Row| match row.change {
        Any => true,
        Becomes(value) => match after {
            Some(Value::String(text)) => text == value,
            Some(Value::Bool(flag)) => value == if *flag { "true" } else { "false" },
            _ => false,
        },
        // The location itself or an entry of it must be added or removed, not a field within.
        other => other == on && is_path_or_entry(label, row.path),
    };
    let rows = TABLE.iter().filter(is_about).filter(|row| matches_change(row));
    // The longest path, then the row with a specific change.
    let found = rows.max_by_key(|row| (row.path.len(), row.change != Any))?;
    if found.path.is_empty() && label.starts_with("metadata") {
        return None;
    }
    Some(Consequence {
        impact: found.impact,
        when: found.when,
        certain: found.certain,
        text: found.text,
        action: found.action,
        path: found.path,
    })
}

/// Whether a label is a path, a list below it, or an entry of these: `path`, `path.list`, `path.list[name=a]`.
fn is_path_or_entry(label: &str, path: &str) -> bool {
    let Some(rest) = label.strip_prefix(path) else {
        return false;
    };
    match rest.rsplit_once(']') {
        Some((_, rest)) => rest.is_empty(),
        None => rest.matches('.').count() <= 1,
    }
}

/// The subjects of a consequence: for the operators' resources the changed entry (a gate, an image), else the object.
pub fn subject(change: &ObjectChange, of: &Consequence, step: Option<&Step>) -> Vec<String> {
    if !of.text.contains("{}") {
        return Vec::new();
    }
    let kind = change.id.kind.as_str();
    match step.filter(|_| matches!(kind, "KubeVirt" | "CDI" | "SSP" | "NetworkAddonsConfig")) {
        Some(step) => entry(of.path, step),
        None => vec![name(change)],
    }
}

/// An object's name for messages; an import is named by its DataSource.
fn name(change: &ObjectChange) -> String {
    let body = change.after.as_deref().or(change.before.as_deref());
    let filled = body.and_then(|b| b["spec"]["managedDataSource"].as_str());
    let filled = filled.filter(|_| change.id.kind == "DataImportCron");
    filled.unwrap_or(&change.id.name).to_owned()
}

/// The key of the entry below a path, or the names in an added or removed list.
fn entry(path: &str, step: &Step) -> Vec<String> {
    const CRON: &str = "-image-cron";
    let rest = step.label.strip_prefix(path).unwrap_or_default();
    let key = rest.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    if let Some((key, _)) = key {
        let key = key.split_once('=').map_or(key, |(_, value)| value);
        // An index isn't a name.
        if !key.bytes().all(|b| b.is_ascii_digit()) {
            return vec![key.strip_suffix(CRON).unwrap_or(key).to_owned()];
        }
    }
    let mut out = Vec::new();
    names(step.after.as_ref().or(step.before.as_ref()), &mut out);
    if out.is_empty() { vec![step.label.rsplit('.').next().unwrap_or_default().to_owned()] } else { out }
}

/// The texts of a list, and the names of its objects.
fn names(value: Option<&Value>, out: &mut Vec<String>) {
    match value {
        Some(Value::String(text)) => out.push(text.clone()),
        Some(Value::Array(items)) => items.iter().for_each(|item| names(Some(item), out)),
        Some(Value::Object(map)) => {
            let keys = ["resourceName", "name"];
            match keys.iter().find_map(|key| map.get(*key)?.as_str()) {
                Some(name) => out.push(name.to_owned()),
                None => {
                    let lists = map.values().filter(|v| v.is_array());
                    lists.for_each(|list| names(Some(list), out));
                }
            }
        }
        _ => {}
    }
}

/// A label without the keys and numbers of list entries.
fn without_keys(label: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    for c in label.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod pairs;
#[cfg(test)]
mod tests;
