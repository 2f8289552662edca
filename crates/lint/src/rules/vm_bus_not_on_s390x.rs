//! A device on a bus that virtual machines on s390x don't have.

use hcoplan_planner::machines::each;

use super::prelude::*;

/// The fields with the bus of a device, and the bus to write instead: no CD-ROM is on virtio.
static BUSES: Rows<(&str, &str)> = Rows::of("busesOfS390x");

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let machines = cx.judged_machines().into_iter();
    for (vm, verdict) in machines.filter(|(_, verdict)| verdict.spec["architecture"] == "s390x") {
        for (field, instead) in &*BUSES {
            for (path, bus) in each(&verdict.spec, field) {
                out.report_all(finding(cx, &vm, text(bus), &path, instead));
            }
        }
    }
}

fn finding(cx: &Context<'_>, vm: &VirtualMachine<'_>, bus: &str, path: &str, instead: &str) -> Option<Finding> {
    let message = format!("{vm} is s390x, and has a device on the bus {bus}");
    let finding = vm.finding(cx, message).label(format!("s390x machines have no {bus}"));
    let finding = if vm.get(path).is_some() {
        finding.at(vm.place(path)).fixes(suggested_change(vm.document, Change::Set(vm.path(path), instead.into())))
    } else {
        let preference = vm.document.locate(&vm.owner_path("preference"));
        finding.at(preference).help(format!("write `bus: {instead}` into the device, or take another preference"))
    };
    matches!(bus, "sata" | "usb").then_some(finding)
}
