//! A device on a bus that virtual machines on s390x don't have.

use super::prelude::*;

/// The sections of a disk that name its bus.
const TARGETS: [&str; 3] = ["disk", "cdrom", "lun"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for (vm, verdict) in cx.judged_machines() {
        if verdict.spec["architecture"] != "s390x" {
            continue;
        }
        let devices = &verdict.spec["domain"]["devices"];
        let items = |name: &str| elements(&devices[name]).enumerate();
        for (index, disk) in items("disks") {
            for target in TARGETS {
                // No CD-ROM is on virtio.
                let instead = if target == "disk" { "virtio" } else { "scsi" };
                report(cx, &vm, &disk[target]["bus"], &format!("disks[{index}].{target}"), instead, out);
            }
        }
        for (index, input) in items("inputs") {
            report(cx, &vm, &input["bus"], &format!("inputs[{index}]"), "virtio", out);
        }
    }
}

fn report(cx: &Context<'_>, vm: &VirtualMachine<'_>, bus: &Json, device: &str, instead: &str, out: &mut Sink) {
    let Some(bus @ ("sata" | "usb")) = bus.as_str() else {
        return;
    };
    let path = format!("domain.devices.{device}.bus");
    let message = format!("{vm} is s390x, and has a device on the bus {bus}");
    let finding = vm.finding(cx, message).label(format!("s390x machines have no {bus}"));
    out.report(if vm.get(&path).is_some() {
        finding.at(vm.place(&path)).fixes(suggested_change(vm.document, Change::Set(vm.path(&path), instead.into())))
    } else {
        let preference = vm.document.locate(&vm.owner_path("preference"));
        finding.at(preference).help(format!("write `bus: {instead}` into the device, or take another preference"))
    });
}
