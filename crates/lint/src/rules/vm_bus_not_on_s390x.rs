//! A device on a bus that virtual machines on s390x don't have.

use serde_json::Value;

use super::prelude::*;
use crate::VirtualMachine;

/// The sections of a disk that name its bus.
const TARGETS: [&str; 3] = ["disk", "cdrom", "lun"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        if verdict.spec["architecture"] != "s390x" {
            continue;
        }
        let devices = &verdict.spec["domain"]["devices"];
        let items = |name: &str| devices[name].as_array().into_iter().flatten().enumerate();
        for (index, disk) in items("disks") {
            for target in TARGETS {
                // No CD-ROM is on virtio.
                let instead = if target == "disk" { "virtio" } else { "scsi" };
                report(&vm, &disk[target]["bus"], &format!("disks[{index}].{target}"), instead, out);
            }
        }
        for (index, input) in items("inputs") {
            report(&vm, &input["bus"], &format!("inputs[{index}]"), "virtio", out);
        }
    }
}

fn report(vm: &VirtualMachine<'_>, bus: &Value, device: &str, instead: &str, out: &mut Sink) {
    let Some(bus @ ("sata" | "usb")) = bus.as_str() else {
        return;
    };
    let path = format!("domain.devices.{device}.bus");
    let message = format!("{} is s390x, and has a device on the bus {bus}", vm.display_name());
    let finding = Finding::new(&VM_BUS_NOT_ON_S390X, message)
        .object(object_of(vm.document))
        .label(format!("s390x machines have no {bus}"));
    out.report(if vm.get(&path).is_some() {
        let set = [Change::Set(vm.path(&path), instead.into())];
        finding.at(vm.place(&path)).fixes(suggested(vm.document, changed(&set), &set))
    } else {
        let preference = vm.document.locate(&vm.owner_path("preference"));
        finding.at(preference).help(format!("write `bus: {instead}` into the device, or take another preference"))
    });
}
