//! What a change of an operand does to what runs on the cluster.
//!
//! The most specific row of the table that fits wins, which is the one with the longest path.

use serde_json::Value;

use super::delta::Step;
use super::impact::EffectTime::{self, Now};
use super::impact::Impact::{self, Behaviour, DataLoss};
use super::objects::ObjectChange;
use super::table::Certainty::Always;
use super::table::PathChange::{self, Add, Any, Becomes, Remove};
use super::table::{Row, TABLE};
use crate::diff::Kind;

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consequence {
    /// How bad it can be.
    pub impact: Impact,
    /// When.
    pub when: EffectTime,
    /// Whether it happens in any case, and not only where something asks for what changes.
    pub certain: bool,
    /// A sentence without a full stop; `{}` is replaced with its subject: see [`subject`].
    pub text: &'static str,
    /// What to do; empty where nothing has to be done.
    pub action: &'static str,
    /// The path that the row is about.
    path: &'static str,
}

impl Consequence {
    /// The sentence about something.
    pub fn sentence(&self, subject: &str) -> String {
        self.text.replace("{}", subject)
    }
}

/// The gates that KubeVirt's webhook rejects virtual machines for while they are off. Any other gate
/// that goes switches something off, or has been replaced, and rejects nobody. Source: KubeVirt
/// `pkg/virt-api/webhooks/validating-webhook` (an empty CD-ROM asks for DeclarativeHotplugVolumes, a
/// persistent TPM for VMPersistentState).
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

/// A gate goes that rejects nobody.
const FEATURE_OFF: Consequence = Consequence {
    impact: Behaviour,
    when: Now,
    certain: true,
    text: "the KubeVirt feature {} is switched off",
    action: "",
    path: FEATURE_GATES,
};

/// The gate for SCSI reservations. Source: KubeVirt `pkg/virt-operator/resource/generate/components`, whose
/// virt-handler has the pr-helper while it is on.
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

/// The same for a gate that KubeVirt has on by default.
const FEATURE_DISABLED: Consequence = Consequence {
    text: "the KubeVirt feature {} is switched off, which is on by default",
    path: DISABLED_GATES,
    ..FEATURE_OFF
};

/// What CDI does with a cron that goes and retains nothing. Source: CDI
/// `pkg/controller/dataimportcron-controller.go`.
const DISKS_GO: Consequence = Consequence {
    impact: DataLoss,
    when: Now,
    certain: true,
    text: "the golden image {} is deleted: its DataSource, and every disk that was imported for it",
    action: "set `retentionPolicy: All` in a change before this one: CDI then imports the disks again, and keeps them",
    path: "",
};

/// Without types of devices the section does nothing, even when it is switched on.
const MEDIATED_DEVICES: &str = "spec.configuration.mediatedDevicesConfiguration";
const MEDIATED_DEVICES_SWITCH: &str = "spec.configuration.mediatedDevicesConfiguration.enabled";

/// The path of arm64's firmware, and KubeVirt's default for it. Source: KubeVirt `pkg/virt-config`, 1.6 to 1.9 (for
/// amd64 the default moved in 1.9).
const ARM64_FIRMWARE: &str = "spec.configuration.architectureConfiguration.arm64.ovmfPath";
const ARM64_FIRMWARE_DEFAULT: &str = "/usr/share/AAVMF";

const KSM: &str = "spec.configuration.ksmConfiguration";

const KSM_EVERYWHERE: &str = "KSM is switched on for every node: memory of virtual machines is shared there";
const KSM_NOWHERE: &str = "KSM is switched off: memory of virtual machines is shared on no node any more";
const KSM_SOMEWHERE: &str =
    "KSM is switched on for the nodes that its selector matches: memory of virtual machines is shared there";
const KSM_ELSEWHERE: &str = "KSM is switched on for other nodes than before: those that its selector matches";

/// Where memory is shared after a change of KSM's selector. Source: KubeVirt `pkg/virt-handler/ksm`: without
/// a selector nowhere, with an empty one everywhere.
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

/// Where 1.19 has what the gate was for.
const RESERVATIONS: &str = "spec.configuration.persistentReservationConfiguration";

/// What a change of that section does; nothing where the gate said the same before.
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
        (true, false) => best("KubeVirt", FEATURE_GATES, Remove, None),
        _ => None,
    }
}

/// How running virtual machines come to a new version. Their order is no preference. Source: KubeVirt
/// `pkg/virt-controller/watch/workload-updater`.
const METHODS: &str = "spec.workloadUpdateStrategy.workloadUpdateMethods";

/// What a change of those does: they stay as they are only where no method is left.
fn methods(change: &ObjectChange, step: &Step, on: PathChange) -> Option<Consequence> {
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
        best("KubeVirt", &step.label, on, None)
    } else {
        best("KubeVirt", "spec.workloadUpdateStrategy", Any, None)
    }
}

/// Where the network components run; the two parts of it have rows of their own.
const PLACEMENT: &str = "spec.placementConfiguration";

/// Whether a side of a change of that section names types of devices.
fn has_types(step: &Step) -> bool {
    let sides = [&step.before, &step.after].into_iter().flatten();
    let mut keys = sides.filter_map(Value::as_object).flat_map(|map| map.keys());
    keys.any(|key| key != "enabled")
}

/// What a change of the object as a whole does.
pub fn of_object(change: &ObjectChange) -> Option<Consequence> {
    let goes = change.kind == Kind::Remove || change.instead_of.is_some();
    if goes && change.id.kind == "DataImportCron" {
        let before = change.before.as_deref();
        if before.is_some_and(|body| body["spec"]["retentionPolicy"] == "None") {
            return Some(DISKS_GO);
        }
    }
    let on = match change.kind {
        Kind::Add if change.instead_of.is_none() => Add,
        Kind::Remove => Remove,
        _ => return None,
    };
    best(&change.id.kind, "", on, None)
}

/// What a change of one of its fields does.
pub fn of_field(change: &ObjectChange, step: &Step) -> Option<Consequence> {
    let (label, kind) = (step.label.as_str(), change.id.kind.as_str());
    let on = match (&step.before, &step.after) {
        (None, Some(_)) => Add,
        (Some(_), None) => Remove,
        _ => Any,
    };
    let rejects_nobody = |gates: Option<&Value>| {
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
    // Without a word KubeVirt handles them.
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
        return best(kind, &format!("{PLACEMENT}.{part}"), Any, None);
    }
    if kind == "KubeVirt" && label.starts_with(METHODS) {
        return methods(change, step, on);
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
        Remove if is_of(FEATURE_GATES) && rejects_nobody(step.before.as_ref()) => Some(FEATURE_OFF),
        Add if is_of(DISABLED_GATES) && rejects_nobody(step.after.as_ref()) => Some(FEATURE_DISABLED),
        on => best(kind, label, on, step.after.as_ref()),
    }
}

fn best(kind: &str, label: &str, on: PathChange, after: Option<&Value>) -> Option<Consequence> {
    let plain = without_keys(label);
    let fits = |row: &&Row| {
        let path = plain.strip_prefix(row.1);
        let below = path.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let whole = row.1.is_empty();
        // A row about the object as a whole says nothing of its metadata.
        row.0 == kind && (below || whole) && (!whole || label.is_empty() || row.2 == Any)
    };
    let happens = |row: &Row| match row.2 {
        Any => true,
        Becomes(value) => match after {
            Some(Value::String(text)) => text == value,
            Some(Value::Bool(flag)) => value == if *flag { "true" } else { "false" },
            _ => false,
        },
        // What comes or goes is the place itself or an entry of it, not a field within.
        other => other == on && is_place_or_entry(label, row.1),
    };
    let rows = TABLE.iter().filter(fits).filter(|row| happens(row));
    // The longest path; there the row that says most exactly what happens.
    let found = rows.max_by_key(|row| (row.1.len(), row.2 != Any))?;
    if found.1.is_empty() && label.starts_with("metadata") {
        return None;
    }
    Some(Consequence {
        impact: found.3,
        when: found.4,
        certain: found.5 == Always,
        text: found.6,
        action: found.7,
        path: found.1,
    })
}

/// Whether a label is a path, a list below it, or an entry of one of these: `path`, `path.list`,
/// `path.list[name=a]`.
fn is_place_or_entry(label: &str, path: &str) -> bool {
    let Some(rest) = label.strip_prefix(path) else {
        return false;
    };
    match rest.rsplit_once(']') {
        Some((_, behind)) => behind.is_empty(),
        None => rest.matches('.').count() <= 1,
    }
}

/// What a consequence is about: of the operators' own resources the entry that changes (a gate, an
/// image), of everything else the object.
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

/// What an object is called: an import by the DataSource that it fills.
fn name(change: &ObjectChange) -> String {
    let body = change.after.as_deref().or(change.before.as_deref());
    let filled = body.and_then(|b| b["spec"]["managedDataSource"].as_str());
    let filled = filled.filter(|_| change.id.kind == "DataImportCron");
    filled.unwrap_or(&change.id.name).to_owned()
}

/// The key of the entry below a path, or the names in a list that comes or goes as a whole.
fn entry(path: &str, step: &Step) -> Vec<String> {
    const CRON: &str = "-image-cron";
    let below = step.label.strip_prefix(path).unwrap_or_default();
    let key = below.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    if let Some((key, _)) = key {
        let key = key.split_once('=').map_or(key, |(_, value)| value);
        // An index is no name.
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
