//! A virtual machine without an architecture in a cluster with several.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>, vm: &VirtualMachine<'_>) -> Option<Finding> {
    let workload = &cx.topology().workload_architectures;
    let guest = cx.guest_architecture(vm);
    if workload.len() < 2 || guest.is_chosen() {
        return None;
    }
    let (would, label) = match &guest.name {
        Some(name) => (format!("it would be {name}"), format!("gets {name}, as {}", guest.reason())),
        None => (
            "it gets that of the node where virt-operator runs".to_owned(),
            "gets virt-operator's own architecture".to_owned(),
        ),
    };
    let message = format!("{vm} sets no architecture: {would}");
    let title = |a: &String| format!("set `architecture: {a}` if its disk is for {a}");
    let path = vm.path("architecture");
    let fixes = workload
        .iter()
        .filter_map(|a| suggested(vm.document, title(a), &[Change::Set(path.clone(), a.as_str().into())]));
    let finding =
        vm.finding(cx, message).at(vm.name_place()).label(label).remedy("name the architecture of its disk", fixes);
    let finding = if runs_anywhere(cx, vm, workload) { finding.info() } else { finding };
    Some(with_nodes(finding, cx, workload))
}

/// Whether it boots from a container disk of every architecture.
fn runs_anywhere(cx: &Context<'_>, vm: &VirtualMachine<'_>, workload: &[String]) -> bool {
    let Some((_, volume)) = vm.boot_volume() else {
        return false;
    };
    let evidence = volume.text_at("containerDisk.image").and_then(|image| cx.image_evidence(image));
    evidence.is_some_and(|e| workload.iter().all(|w| e.architectures.contains(w)))
}
