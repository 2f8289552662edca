//! A virtual machine uses a device that the HyperConverged doesn't permit.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    if cx.machine_cluster().is_none() {
        return;
    }
    let is_empty = cx.rendered_kubevirt("configuration.permittedHostDevices").is_null();
    let permitted = cx.permitted_devices();
    for (vm, verdict) in cx.judged_machines() {
        let gpus = vm.path("domain.devices.gpus");
        let of_type = vm.owner_path("instancetype");
        let devices = cx.devices_not_permitted(&vm, verdict).into_iter();
        for (path, name) in devices.filter(|(_, name)| !is_placeholder(name)) {
            let what = if path.starts_with(&gpus) { "GPU" } else { "host device" };
            let is_of_type = path.starts_with(&of_type);
            let of = if is_of_type { "the instance type of " } else { "" };
            let message = format!("the {what} {name} of {of}{vm} is not permitted");
            let mut finding =
                vm.finding(cx, message).at(vm.document.locate(&path)).label("not in permittedHostDevices");
            if is_empty {
                finding = finding.warning();
            }
            let otherwise = "permit it in permittedHostDevices of the HyperConverged";
            let meant = nearest(&name, permitted.iter().copied()).filter(|_| !is_of_type);
            out.report(match disabled(cx, &name) {
                Some(place) => finding
                    .related(place, "disabled here")
                    .help("remove `disabled: true` from its entry in permittedHostDevices, or use another device"),
                None => did_you_mean(finding, "use", meant, otherwise),
            });
        }
    }
}

/// The location where the HyperConverged disables the device.
fn disabled(cx: &Context<'_>, name: &str) -> Option<Location> {
    let field = cx.field("permittedHostDevices");
    let (node, path) = (field.node()?, field.path()?);
    ["pciHostDevices", "mediatedDevices", "usbHostDevices"].iter().find_map(|list| {
        let devices = node.get(list)?.items();
        let index =
            devices.iter().position(|d| d.text_at("resourceName") == Some(name) && d.get("disabled").is_some())?;
        Some(cx.locate(&path.key(list).index(index).key("disabled")))
    })
}
