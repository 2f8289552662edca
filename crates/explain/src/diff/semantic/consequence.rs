//! What a change of an operand does to what runs on the cluster.
//!
//! The most specific row of the table that fits wins, which is the one with the longest path.

use serde_json::Value;

use super::delta::Step;
use super::impact::Impact::{self, Behaviour, DataLoss};
use super::impact::When::{self, Now};
use super::objects::ObjectChange;
use super::table::Holds::Always;
use super::table::On::{self, Add, Any, Becomes, Remove};
use super::table::{Row, TABLE};
use crate::diff::Kind;

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consequence {
    /// How bad it can be.
    pub impact: Impact,
    /// When.
    pub when: When,
    /// Whether it happens in any case, and not only where something asks for what changes.
    pub certain: bool,
    /// A sentence without a full stop; `{}` stands for what it is about: see [`subject`].
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

/// The gates that KubeVirt's webhook refuses virtual machines for while they are off. Any other gate
/// that goes switches something off, or has been replaced, and refuses nobody. Source: KubeVirt
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

/// A gate goes that refuses nobody.
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
    action: "to keep the disks, set `retentionPolicy: All` in a change before this one",
    path: "",
};

/// Without types of devices the section does nothing, whatever its switch says.
const MEDIATED_DEVICES: &str = "spec.configuration.mediatedDevicesConfiguration";
const MEDIATED_DEVICES_SWITCH: &str = "spec.configuration.mediatedDevicesConfiguration.enabled";

/// Where arm64's firmware is, and what KubeVirt takes where nothing says it. Source: KubeVirt
/// `pkg/virt-config`, 1.6 to 1.9 (for amd64 the default moved in 1.9).
const ARM64_FIRMWARE: &str = "spec.configuration.architectureConfiguration.arm64.ovmfPath";
const ARM64_FIRMWARE_DEFAULT: &str = "/usr/share/AAVMF";

const KSM: &str = "spec.configuration.ksmConfiguration";

/// Where memory is shared after a change of KSM's selector. Source: KubeVirt `pkg/virt-handler/ksm`: without
/// a selector nowhere, with an empty one everywhere.
fn ksm(change: &ObjectChange) -> Option<Consequence> {
    let selector = |body: Option<&Value>| {
        let selector = &body?["spec"]["configuration"]["ksmConfiguration"]["nodeLabelSelector"];
        let parts = selector.as_object()?.values();
        Some(
            parts.flat_map(Value::as_object).any(|m| !m.is_empty())
                || selector["matchExpressions"]
                    .as_array()
                    .is_some_and(|a| !a.is_empty()),
        )
    };
    let (was, is) = (
        selector(change.before.as_deref()),
        selector(change.after.as_deref()),
    );
    let text = match (was, is) {
        (None, None) => return None,
        (_, Some(false)) => {
            "KSM is switched on for every node: memory of virtual machines is shared there"
        }
        (_, None) => {
            "KSM is switched off: memory of virtual machines is shared on no node any more"
        }
        (None, Some(true)) => {
            "KSM is switched on for the nodes that its selector matches: memory of virtual machines is shared there"
        }
        (Some(_), Some(true)) => {
            "KSM is switched on for other nodes than before: those that its selector matches"
        }
    };
    Some(Consequence {
        impact: Behaviour,
        when: Now,
        certain: true,
        text,
        action: "",
        path: KSM,
    })
}

/// Whether a side of a change of that section names types of devices.
fn has_types(step: &Step) -> bool {
    let sides = [&step.before, &step.after].into_iter().flatten();
    let mut keys = sides
        .filter_map(Value::as_object)
        .flat_map(|map| map.keys());
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
    let refuses_nobody = |gates: Option<&Value>| {
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
    if (kind, label) == ("KubeVirt", MEDIATED_DEVICES_SWITCH)
        && is_off(&step.before) == is_off(&step.after)
    {
        return None;
    }
    let is_default = |value: &Option<Value>| {
        let value = value.as_ref().map(|v| v.as_str().unwrap_or_default());
        value.is_none_or(|path| path == ARM64_FIRMWARE_DEFAULT)
    };
    if (kind, label) == ("KubeVirt", ARM64_FIRMWARE)
        && is_default(&step.before)
        && is_default(&step.after)
    {
        return None;
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
        Remove if is_of(FEATURE_GATES) && refuses_nobody(step.before.as_ref()) => Some(FEATURE_OFF),
        Add if is_of(DISABLED_GATES) && refuses_nobody(step.after.as_ref()) => {
            Some(FEATURE_DISABLED)
        }
        on => best(kind, label, on, step.after.as_ref()),
    }
}

fn best(kind: &str, label: &str, on: On, after: Option<&Value>) -> Option<Consequence> {
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
    let key = below
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    if let Some((key, _)) = key {
        let key = key.split_once('=').map_or(key, |(_, value)| value);
        // An index is no name.
        if !key.bytes().all(|b| b.is_ascii_digit()) {
            return vec![key.strip_suffix(CRON).unwrap_or(key).to_owned()];
        }
    }
    let mut out = Vec::new();
    names(step.after.as_ref().or(step.before.as_ref()), &mut out);
    match out.is_empty() {
        true => vec![step.label.rsplit('.').next().unwrap_or_default().to_owned()],
        false => out,
    }
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
mod tests {
    use hcoplan_kubernetes::Object;
    use hcoplan_planner::release::Release;
    use serde_json::json;

    use super::*;
    use crate::diff::compare_objects;
    use crate::diff::semantic::Impact::{BootFailure, Images, Scheduling};

    /// What comes of one object becoming another; null where there is none.
    fn told(before: &Value, after: &Value) -> Vec<(Impact, String)> {
        let objects = |body: &Value| -> Vec<Object> {
            let body = (!body.is_null()).then(|| Object::new(body.clone()));
            body.into_iter().collect()
        };
        let release = Release::known("1.19").expect("known");
        let found = compare_objects(&release, &objects(before), &objects(after));
        let all = found.consequences().into_iter();
        all.map(|(c, object, field)| {
            let change = &found.objects[object];
            let step = field.map(|i| &change.fields[i].step);
            let subject = subject(change, &c, step).join(", ");
            (c.impact, c.sentence(&subject))
        })
        .collect()
    }

    fn impacts(before: &Value, after: &Value) -> Vec<Impact> {
        told(before, after).into_iter().map(|(i, _)| i).collect()
    }

    fn kubevirt(spec: Value) -> Value {
        json!({"apiVersion": "kubevirt.io/v1", "kind": "KubeVirt",
            "metadata": {"name": "k", "namespace": "n"}, "spec": spec})
    }

    #[test]
    fn the_longest_path_wins() {
        let migrations = |n: u32| {
            kubevirt(json!({"configuration": {"migrations": {"parallelMigrationsPerCluster": n}}}))
        };
        assert_eq!(impacts(&migrations(5), &migrations(6)), [Scheduling]);
        let uninstall = |strategy: &str| kubevirt(json!({"uninstallStrategy": strategy}));
        let (kept, removed) = ("BlockUninstallIfWorkloadsExist", "RemoveWorkloads");
        assert_eq!(impacts(&uninstall(kept), &uninstall(removed)), [DataLoss]);
        assert_eq!(impacts(&uninstall(removed), &uninstall(kept)), [Behaviour]);
        let mut labelled = uninstall(kept);
        labelled["metadata"]["labels"] = json!({"a": "1"});
        assert_eq!(impacts(&uninstall(kept), &labelled), []);
    }

    #[test]
    fn an_empty_selector_is_every_node_and_none_is_no_node() {
        let configuration = |c: Value| kubevirt(json!({"configuration": c}));
        let ksm = |section: Value| {
            configuration(json!({"evictionStrategy": "None", "ksmConfiguration": section}))
        };
        let bare = configuration(json!({"evictionStrategy": "None"}));
        let nowhere = ksm(json!({}));
        let everywhere = ksm(json!({"nodeLabelSelector": {}}));
        let some = |value: &str| ksm(json!({"nodeLabelSelector": {"matchLabels": {"a": value}}}));
        for (before, after, said) in [
            (&nowhere, &everywhere, "for every node"),
            (&some("b"), &everywhere, "for every node"),
            (&bare, &everywhere, "for every node"),
            (&everywhere, &nowhere, "on no node any more"),
            (&everywhere, &bare, "on no node any more"),
            (
                &nowhere,
                &some("b"),
                "for the nodes that its selector matches",
            ),
            (&some("b"), &some("c"), "for other nodes than before"),
        ] {
            let told = told(before, after);
            let [(Behaviour, text)] = told.as_slice() else {
                panic!("{told:?}");
            };
            assert!(text.contains(said), "{text}");
        }
        assert_eq!(told(&nowhere, &bare), []);
    }

    #[test]
    fn a_gate_that_goes_refuses_those_who_use_it_where_the_webhook_asks_for_it() {
        let gates = |list: &str, gates: &[&str]| {
            kubevirt(json!({"configuration": {"developerConfiguration": {list: gates}}}))
        };
        let on = |names: &[&str]| gates("featureGates", names);
        let root = on(&["Root"]);
        let said = |impact, text: &str| vec![(impact, text.to_owned())];
        assert_eq!(impacts(&root, &on(&["Root", "Sidecar"])), [Behaviour]);
        assert_eq!(impacts(&on(&["Root", "Sidecar"]), &root), [BootFailure]);
        // Deprecated: DeclarativeHotplugVolumes does its work.
        assert_eq!(
            told(&on(&["Root", "HotplugVolumes"]), &root),
            said(
                Behaviour,
                "the KubeVirt feature HotplugVolumes is switched off"
            )
        );
        let off = |names: &[&str]| gates("disabledFeatureGates", names);
        let none = off(&["Other"]);
        assert_eq!(
            impacts(&none, &off(&["Other", "VideoConfig"])),
            [BootFailure]
        );
        assert_eq!(impacts(&none, &off(&["Other", "ObjectGraph"])), [Behaviour]);
    }

    #[test]
    fn without_a_path_of_its_own_firmware_is_where_kubevirt_has_it() {
        let firmware = |amd64: &str, arm64: &str| {
            let section = |path: &str| match path {
                "" => json!({"machineType": "m"}),
                path => json!({"machineType": "m", "ovmfPath": path}),
            };
            kubevirt(json!({"configuration": {"architectureConfiguration":
                {"amd64": section(amd64), "arm64": section(arm64)}}}))
        };
        let (amd64, arm64) = ("/usr/share/OVMF", "/usr/share/AAVMF");
        let both = firmware(amd64, arm64);
        assert_eq!(told(&both, &firmware(amd64, "")), []);
        assert_eq!(told(&firmware(amd64, ""), &both), []);
        assert_eq!(impacts(&both, &firmware("", arm64)), [Behaviour]);
        assert_eq!(impacts(&both, &firmware("/own", arm64)), [BootFailure]);
        assert_eq!(impacts(&both, &firmware(amd64, "/own")), [BootFailure]);
    }

    #[test]
    fn a_feature_of_cdi_is_switched_one_way() {
        let cdi = |gates: &[&str]| {
            json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "CDI",
                "metadata": {"name": "c"}, "spec": {"config": {"featureGates": gates}}})
        };
        let (with, without) = (cdi(&["A", "B"]), cdi(&["A"]));
        let said = |text: &str| vec![(Behaviour, text.to_owned())];
        assert_eq!(
            told(&without, &with),
            said("the CDI feature B is switched on")
        );
        assert_eq!(
            told(&with, &without),
            said("the CDI feature B is switched off")
        );
    }

    #[test]
    fn disks_go_with_a_cron_that_retains_nothing() {
        let cron = |policy: Value| {
            json!({"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataImportCron",
                "metadata": {"name": "c", "namespace": "n"},
                "spec": {"managedDataSource": "d", "retentionPolicy": policy}})
        };
        let (none, all) = (cron(json!("None")), cron(json!("All")));
        assert_eq!(impacts(&none, &Value::Null), [DataLoss]);
        assert_eq!(impacts(&all, &Value::Null), [Images]);
        // To set the policy takes nothing away by itself.
        assert_eq!(impacts(&all, &none), [Behaviour]);
    }

    #[test]
    fn what_goes_is_the_thing_itself_and_not_one_of_its_fields() {
        let devices = |device: Value| {
            let list = json!({"pciHostDevices": [device, {"resourceName": "b", "pciVendorSelector": "1"}]});
            kubevirt(json!({"configuration": {"permittedHostDevices": list}}))
        };
        let device = json!({"resourceName": "a", "pciVendorSelector": "2", "externalResourceProvider": true});
        let plain = json!({"resourceName": "a", "pciVendorSelector": "2"});
        let none = json!({"resourceName": "c", "pciVendorSelector": "2"});
        let said = |before: &Value, after: &Value| {
            let told = told(&devices(before.clone()), &devices(after.clone())).into_iter();
            told.map(|(_, text)| text).collect::<Vec<_>>()
        };
        let goes = "VMs that ask for the host device a don't start any more";
        assert!(said(&device, &none).contains(&goes.to_owned()));
        assert!(!said(&device, &plain).contains(&goes.to_owned()));

        let addons = |pool: Value| {
            json!({"apiVersion": "networkaddonsoperator.network.kubevirt.io/v1",
                "kind": "NetworkAddonsConfig", "metadata": {"name": "cluster"},
                "spec": {"kubeMacPool": pool, "multus": {}}})
        };
        let range =
            addons(json!({"rangeStart": "02:00:00:00:00:00", "rangeEnd": "02:00:00:00:00:99"}));
        let range_goes = told(&range, &addons(json!({})));
        let other_range = "VMs get MAC addresses from another range";
        assert!(
            range_goes.iter().all(|(_, text)| text == other_range),
            "{range_goes:?}"
        );
        let mut no_pool = range.clone();
        no_pool["spec"] = json!({"multus": {}});
        let nothing = "nothing keeps two VMs from having one MAC address".to_owned();
        assert_eq!(told(&range, &no_pool), [(Behaviour, nothing)]);
    }

    #[test]
    fn a_role_that_goes_grants_nothing_else() {
        let role = |verb: &str| {
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": "r"}, "rules": [{"verbs": [verb]}]})
        };
        let said = |before: &Value, after: &Value| {
            let told = told(before, after).into_iter();
            told.map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(
            said(&role("get"), &Value::Null),
            ["the cluster role r is removed"]
        );
        let changed = said(&role("get"), &role("list"));
        assert_eq!(
            changed,
            ["the permissions that the cluster role r grants change"]
        );
    }

    #[test]
    fn every_row_can_be_met() {
        for (i, row) in TABLE.iter().enumerate() {
            let twin = |other: &Row| other.0 == row.0 && other.1 == row.1 && other.2 == row.2;
            assert_eq!(
                TABLE.iter().position(twin),
                Some(i),
                "{} {} twice",
                row.0,
                row.1
            );
        }
    }
}
