//! A device that KubeVirt refuses for the virtual machine's architecture.

use hcoplan_yaml::{Node, Value};

use super::prelude::*;
use crate::VirtualMachine;

pub(super) static RULE: Rule = Rule::error(
    "vm-arch-unsupported-device",
    Group::Heterogeneous,
    "a virtual machine has a device or setting that its architecture doesn't support",
)
.refused("Arm64 not support this disk bus type, please use virtio or scsi");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let guest = cx.guest_architecture(&vm);
        let Some(own) = guest.name.as_deref() else {
            continue;
        };
        for refused in refused(&vm, own) {
            let message = format!("KubeVirt refuses {}: {}", vm.display_name(), refused.words);
            let place =
                if refused.in_key { vm.document.locate_key(&refused.path) } else { vm.document.locate(&refused.path) };
            let mut finding = Finding::new(&RULE, message)
                .at(place)
                .object(object_of(vm.document))
                .label(format!("not on {own}"))
                .help(refused.help);
            if vm.architecture().is_some() {
                finding = finding.related(vm.place("architecture"), "its architecture");
            }
            out.report(finding);
        }
    }
}

struct Refused {
    path: Path,
    /// Whether the key is at fault and not its value.
    in_key: bool,
    words: String,
    help: String,
}

fn refused(vm: &VirtualMachine<'_>, architecture: &str) -> Vec<Refused> {
    match architecture {
        "arm64" => arm64(vm),
        "s390x" => s390x(vm),
        "amd64" => amd64(vm),
        _ => Vec::new(),
    }
}

fn arm64(vm: &VirtualMachine<'_>) -> Vec<Refused> {
    let mut found = Vec::new();
    found.extend(key(
        vm,
        "domain.firmware.bootloader.bios",
        "it boots by BIOS",
        "boot by UEFI: `bootloader: {efi: {secureBoot: false}}`",
    ));
    let secure = "domain.firmware.bootloader.efi.secureBoot";
    if matches!(vm.get(secure).map(|n| &n.value), Some(Value::Bool(true))) {
        found.push(value(vm.path(secure), "secure boot isn't supported", "write false"));
    }
    let model = "domain.cpu.model";
    if let Some(written) = vm.text(model).filter(|m| !matches!(*m, "" | "host-passthrough")) {
        let words = format!("the CPU model is {written}, not host-passthrough");
        found.push(value(vm.path(model), &words, "remove it, or write host-passthrough"));
    }
    let threads = "domain.cpu.threads";
    let count = vm.get(threads).and_then(|n| n.to_json().as_u64());
    if count.is_some_and(|n| n > 1) {
        found.push(value(vm.path(threads), "it has more than one thread", "use cores instead"));
    }
    let disks = vm.get("domain.devices.disks").map(Node::items).unwrap_or_default();
    for (i, disk) in disks.iter().enumerate() {
        for kind in ["disk", "cdrom", "lun"] {
            let bus = disk.get(kind).and_then(|d| d.get("bus")).and_then(Node::as_str);
            if let Some(bus) = bus.filter(|b| !matches!(*b, "" | "virtio" | "scsi")) {
                let path = vm.path("domain.devices.disks").index(i).key(kind).key("bus");
                let words = format!("the disk bus is {bus}");
                found.push(value(path, &words, "use virtio or scsi"));
            }
        }
    }
    let watchdog = "domain.devices.watchdog";
    found.extend(key(vm, watchdog, "watchdogs aren't supported", "remove it"));
    let sound = "domain.devices.sound";
    found.extend(key(vm, sound, "sound devices aren't supported", "remove it"));
    found.extend(video(vm, &["virtio", "ramfb"]));
    found
}

fn s390x(vm: &VirtualMachine<'_>) -> Vec<Refused> {
    let mut found = Vec::new();
    if vm.get("domain.devices.watchdog.diag288").is_none() {
        found.extend(key(vm, "domain.devices.watchdog", "the only watchdog is diag288", "use diag288, or remove it"));
    }
    found.extend(video(vm, &["virtio"]));
    found
}

fn amd64(vm: &VirtualMachine<'_>) -> Vec<Refused> {
    let found = key(
        vm,
        "domain.devices.watchdog.diag288",
        "the watchdog diag288 is one of s390x",
        "use i6300esb, or remove it",
    );
    found.into_iter().collect()
}

fn key(vm: &VirtualMachine<'_>, path: &str, words: &str, help: &str) -> Option<Refused> {
    vm.get(path).filter(|n| !matches!(n.value, Value::Null))?;
    Some(Refused { path: vm.path(path), in_key: true, words: words.to_owned(), help: help.to_owned() })
}

fn value(path: Path, words: &str, help: &str) -> Refused {
    Refused { path, in_key: false, words: words.to_owned(), help: help.to_owned() }
}

fn video(vm: &VirtualMachine<'_>, allowed: &[&str]) -> Option<Refused> {
    let path = "domain.devices.video.type";
    let written = vm.text(path).filter(|t| !t.is_empty() && !allowed.contains(t))?;
    let words = format!("the video model is {written}");
    Some(value(vm.path(path), &words, &format!("use {}", or(allowed))))
}
