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
    for (vm, verdict) in cx.judged_machines() {
        let lasts = |path: &str| {
            let state = tree::get(&verdict.spec, path);
            state.is_some_and(|state| state["persistent"] == true && state["enabled"] != false)
        };
        let Some(path) = STATE.iter().find(|path| lasts(path)) else {
            continue;
        };
        let place = match vm.get(path) {
            Some(_) => vm.key_place(path),
            None => vm.document.locate(&vm.owner_path("preference")),
        };
        let message = format!("{vm} keeps state, but vmStateStorageClass is unset and no storage class is the default");
        out.report(
            vm.finding(cx, message)
                .at(place)
                .label("needs a claim")
                .help("set vmStateStorageClass in the HyperConverged, or mark a storage class as the default"),
        );
    }
}
