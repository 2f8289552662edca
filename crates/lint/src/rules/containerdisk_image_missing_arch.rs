//! A container disk that doesn't exist for the virtual machine's architecture.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "containerdisk-image-missing-arch",
    Group::Heterogeneous,
    "a virtual machine's container disk has no image of its architecture",
)
.predicts(alert!("VirtualMachineStuckInUnhealthyState"));

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    for vm in cx.virtual_machines() {
        let guest = cx.guest_architecture(&vm);
        let Some(own) = guest.name.as_deref() else {
            continue;
        };
        let disk = |i: usize| vm.path("volumes").index(i).key("containerDisk").key("image");
        let disks = vm.volumes().map(|(i, _)| disk(i));
        let kernel = vm.path("domain.firmware.kernelBoot.container.image");
        for path in disks.chain([kernel]) {
            let image = vm.document.root.at(&path).and_then(|n| n.as_str());
            let Some((image, evidence)) = image.and_then(|i| Some((i, cx.image_or_build_evidence(i)?))) else {
                continue;
            };
            if !evidence.lacks(own) {
                continue;
            }
            let message = format!(
                "{} is {own} ({}), but {image} is there for {} only",
                vm.display_name(),
                guest.reason(),
                and(&evidence.architectures)
            );
            // Another build may publish the rest.
            let severity = if evidence.is_certain() { Severity::Error } else { Severity::Warning };
            let finding = Finding::new(&RULE, message)
                .severity(severity)
                .at(vm.document.locate(&path))
                .object(object_of(vm.document))
                .label(format!("not there for {own}"))
                .help(format!("build it for {own}, or run the machine elsewhere"))
                .related(evidence.place(), "this says what the image has");
            out.report(finding);
        }
    }
}
