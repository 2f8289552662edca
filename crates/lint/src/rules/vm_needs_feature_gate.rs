//! A virtual machine uses what a feature gate keeps off.

use hcoplan_planner::release::Phase;
use hcoplan_yaml::{Node, Value};
use serde_json::json;

use super::prelude::*;
use crate::VirtualMachine;

pub(super) static RULE: Rule =
    Rule::error("vm-needs-feature-gate", Group::Operands, "a virtual machine uses a feature whose gate is off")
        .refused("downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled.")
        .fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        misspelt(&vm, out);
        for (path, gate) in used(&vm) {
            if is_off(cx, gate) {
                out.report(finding(cx, &vm, &path, gate));
            } else if gate == RESERVATION && lacks_helper(cx) {
                out.report(without_helper(cx, &vm, &path));
            }
        }
    }
}

/// Whether a release whose KubeVirt has a field in the gate's place leaves it off.
fn lacks_helper(cx: &Context<'_>) -> bool {
    let field = "spec.storage.persistentReservationConfiguration.enabled";
    let has_field = cx.release().fields().iter().any(|f| f.path == field);
    let rendered = cx.plan().operand("KubeVirt");
    let on = "/spec/configuration/persistentReservationConfiguration/enabled";
    has_field && rendered.is_some_and(|kv| kv.pointer(on).is_none_or(|on| on != true))
}

/// Nobody refuses the machine, and no node has what does the reservation for it.
fn without_helper(cx: &Context<'_>, vm: &VirtualMachine<'_>, path: &Path) -> Finding {
    let message = format!("{} can't start: persistent reservation is off", vm.display_name());
    let field = Path::dotted(match cx.version() {
        "v1" => "spec.storage.persistentReservationConfiguration.enabled",
        _ => "spec.featureGates.persistentReservation",
    });
    let title = "switch persistent reservation on in the HyperConverged";
    let change = [Change::Set(field.clone(), true.into())];
    Finding::new(&RULE, message)
        .at(vm.document.locate_key(path))
        .object(object_of(vm.document))
        .label("no node runs the pr-helper")
        .help(format!("set {field} of the HyperConverged to true"))
        .fixes(cx.fix(title, Applicability::Suggestion, &change))
}

/// A reservation under a name that KubeVirt doesn't know, and drops: documentation shows it.
fn misspelt(vm: &VirtualMachine<'_>, out: &mut Sink) {
    let path = vm.path("domain.devices.disks");
    let disks = vm.document.root.at(&path).map(Node::items);
    for (i, disk) in disks.unwrap_or_default().iter().enumerate() {
        let entry = disk.get("lun").and_then(|lun| lun.entry("reservations"));
        let Some(entry) = entry else {
            continue;
        };
        let place = vm.document.location(entry.key.span);
        let message = format!("the LUN of {} has `reservations`, which KubeVirt doesn't know", vm.display_name());
        let finding = Finding::new(&RULE, message)
            .at(place.clone())
            .object(object_of(vm.document))
            .label("dropped, or refused where fields are validated")
            .help("write `reservation`")
            .fix(Fix::edit(format!("write reservation for disk {i}"), Applicability::Suggestion, place, "reservation"));
        out.report(finding);
    }
}

/// What the virtual machine uses, with its gates.
fn used(vm: &VirtualMachine<'_>) -> Vec<(Path, &'static str)> {
    const FIELDS: [(&str, &str); 6] = [
        ("domain.devices.downwardMetrics", "DownwardMetrics"),
        ("domain.devices.autoattachVSOCK", "VSOCK"),
        ("domain.devices.panicDevices", "PanicDevices"),
        ("domain.devices.video", "VideoConfig"),
        ("domain.launchSecurity.sev", "WorkloadEncryptionSEV"),
        ("domain.launchSecurity.tdx", "WorkloadEncryptionTDX"),
    ];
    const VOLUMES: [(&str, &str); 3] =
        [("downwardMetrics", "DownwardMetrics"), ("hostDisk", "HostDisk"), ("containerPath", "ContainerPathVolumes")];
    const ANNOTATIONS: [(&str, &str); 2] =
        [("hooks.kubevirt.io/hookSidecars", "Sidecar"), ("kubevirt.io/ignitiondata", "ExperimentalIgnitionSupport")];
    let is_used = |node: Option<&Node>| node.is_some_and(|n| !matches!(n.value, Value::Null | Value::Bool(false)));
    let mut found = Vec::new();
    for (path, gate) in FIELDS {
        if is_used(vm.get(path)) {
            found.push((vm.path(path), gate));
        }
    }
    for (i, volume) in vm.volumes() {
        let at = vm.path("volumes").index(i);
        let of_kind = VOLUMES.iter().filter(|(kind, _)| is_used(volume.get(kind)));
        found.extend(of_kind.map(|(kind, gate)| (at.key(kind), *gate)));
    }
    let disks = vm.get("domain.devices.disks").map(Node::items).unwrap_or_default();
    for (i, disk) in disks.iter().enumerate() {
        if is_used(disk.get("lun").and_then(|l| l.get("reservation"))) {
            let path = vm.path("domain.devices.disks").index(i).key("lun").key("reservation");
            found.push((path, RESERVATION));
        }
    }
    let shares = vm.get("domain.devices.filesystems").map(Node::items).unwrap_or_default();
    for (i, share) in shares.iter().enumerate() {
        let name = share.get("name").and_then(Node::as_str);
        let mut volumes = vm.volumes().map(|(_, v)| v);
        let volume = volumes.find(|v| v.get("name").and_then(Node::as_str) == name);
        let stored = |v: &Node| v.get("persistentVolumeClaim").is_some() || v.get("dataVolume").is_some();
        if is_used(share.get("virtiofs")) && volume.is_some_and(stored) {
            let path = vm.path("domain.devices.filesystems").index(i).key("virtiofs");
            found.push((path, "EnableVirtioFsStorageVolumes"));
        }
    }
    for at in ["metadata.annotations", "spec.template.metadata.annotations"] {
        let annotations = Path::dotted(at);
        let node = vm.document.root.at(&annotations);
        let there = ANNOTATIONS.iter().filter(|(name, _)| is_used(node.and_then(|n| n.get(name))));
        found.extend(there.map(|(name, gate)| (annotations.key(name), *gate)));
    }
    found
}

const RESERVATION: &str = "PersistentReservation";

/// Whether the release's KubeVirt has the gate, and it isn't enabled.
fn is_off(cx: &Context<'_>, gate: &str) -> bool {
    let kubevirt = cx.release().kubevirt();
    let disabled = || {
        let list = cx
            .plan()
            .operand("KubeVirt")
            .and_then(|kv| kv.pointer("/spec/configuration/developerConfiguration/disabledFeatureGates"));
        let mut names = list.and_then(|l| l.as_array()).into_iter().flatten();
        names.any(|n| n == gate)
    };
    match kubevirt.feature_gates.get(gate) {
        None | Some(Phase::Ga | Phase::Deprecated | Phase::Discontinued) => false,
        Some(Phase::Beta) if kubevirt.beta_gates_are_on => disabled(),
        Some(Phase::Alpha | Phase::Beta) => !has_gate(cx, gate),
    }
}

fn finding(cx: &Context<'_>, vm: &VirtualMachine<'_>, path: &Path, gate: &str) -> Finding {
    let message = format!("KubeVirt refuses {}: its feature gate {gate} is off", vm.display_name());
    let finding = Finding::new(&RULE, message)
        .at(vm.document.locate_key(path))
        .object(object_of(vm.document))
        .label(format!("needs {gate}"));
    let Some(own) = cx.release().tables().switch_of(gate) else {
        return finding.help("HCO has no switch for it; only a jsonpatch of the KubeVirt object could enable it");
    };
    let name = &own.name;
    let gates = Path::dotted("spec.featureGates");
    let written = cx.gate(name).is_written();
    let prospects = cx.release().gate_maturity(name);
    let which = prospects.map_or_else(String::new, |p| format!(", which is {p}"));
    let change = match cx.version() {
        "v1" if written => None,
        "v1" => Some(Change::Append(gates, json!({"name": name, "state": "Enabled"}))),
        _ => Some(Change::Set(gates.key(name), true.into())),
    };
    let fix = change.and_then(|c| {
        let title = format!("switch {name} on in the HyperConverged{which}");
        cx.fix(title, Applicability::Suggestion, &[c])
    });
    finding
        .help(format!("switch the feature gate {name} of the HyperConverged on{which}"))
        .related(cx.gate(name).place(), format!("{name} isn't switched on"))
        .fixes(fix)
}
