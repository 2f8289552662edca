//! A virtual machine with persistent state but no storage class for it.

use super::prelude::*;

/// Devices with persistent state in a separate claim.
const STATE: [&str; 2] = ["domain.devices.tpm", "domain.firmware.bootloader.efi"];

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let is_named = !text(cx.rendered_kubevirt("configuration.vmStateStorageClass")).is_empty();
    if is_named
        || cx.default_class().is_some()
        || cx.storage_classes().next().is_none()
        || cx.has_classes_from_elsewhere()
    {
        return;
    }
    out.report_all(stateful(cx).map(|(vm, place)| {
        let message = format!("{vm} keeps state, but vmStateStorageClass is unset and no storage class is the default");
        let finding = vm.finding(cx, message).at(place).label("needs a claim");
        finding.help("set vmStateStorageClass in the HyperConverged, or mark a storage class as the default")
    }));
}

/// The virtual machines with persistent state, and what keeps it.
pub(super) fn stateful<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = (VirtualMachine<'c>, Location)> {
    cx.judged_machines().into_iter().filter_map(|(vm, verdict)| {
        let lasts = |path: &&&str| {
            let state = tree::get(&verdict.spec, path);
            state.is_some_and(|state| state["persistent"] == true && state["enabled"] != false)
        };
        let path = STATE.iter().find(lasts)?;
        let place = match vm.get(path) {
            Some(_) => vm.key_place(path),
            None => vm.document.locate(&vm.owner_path("preference")),
        };
        Some((vm, place))
    })
}
