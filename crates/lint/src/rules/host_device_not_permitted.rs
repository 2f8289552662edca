//! A virtual machine wants a device that the HyperConverged doesn't permit.

use hcoplan_yaml::Node;
use serde_json::Value as Json;

use super::prelude::*;

pub(super) static RULE: Rule = Rule::error(
    "host-device-not-permitted",
    Group::Operands,
    "a virtual machine uses a host device that isn't permitted",
)
.refused("GPU nvidia.com/TU104GL_Tesla_T4 is not permitted in permittedHostDevices configuration")
.fix(FixKind::Suggested);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(kubevirt) = cx.plan().operand("KubeVirt") else {
        return;
    };
    let all = &kubevirt["spec"]["configuration"]["permittedHostDevices"];
    let permitted = names(all);
    for vm in cx.virtual_machines() {
        for (list, what) in [("gpus", "GPU"), ("hostDevices", "host device")] {
            let path = vm.path("domain.devices").key(list);
            let devices = vm.document.root.at(&path).map(Node::items);
            let mut seen = std::collections::BTreeSet::new();
            for (i, device) in devices.unwrap_or_default().iter().enumerate() {
                let Some(name) = device.get("deviceName").and_then(Node::as_str) else {
                    continue;
                };
                if name.is_empty() || permitted.contains(&name) || !seen.insert(name) {
                    continue;
                }
                let place = vm.document.locate(&path.index(i).key("deviceName"));
                let message = format!("the {what} {name} of {} is not permitted", vm.display_name());
                let mut finding = Finding::new(&RULE, message)
                    .at(place)
                    .object(object_of(vm.document))
                    .label("not in permittedHostDevices");
                if all.is_null() {
                    finding = finding.severity(Severity::Warning);
                }
                if let Some(place) = disabled(cx, name) {
                    let finding = finding.related(place, "it is switched off here");
                    out.report(finding.help("switch it on again, or use another device"));
                    continue;
                }
                let otherwise = if permitted.is_empty() {
                    "permit it in permittedHostDevices of the HyperConverged".to_owned()
                } else {
                    format!("permit it in the HyperConverged, or use {}", or(&permitted))
                };
                out.report(did_you_mean(finding, "use", nearest(name, permitted.iter().copied()), otherwise));
            }
        }
    }
}

const LISTS: [&str; 3] = ["pciHostDevices", "mediatedDevices", "usb"];

fn names(permitted: &Json) -> Vec<&str> {
    let lists = LISTS.iter().filter_map(|l| permitted[l].as_array());
    let mut names: Vec<&str> = lists.flatten().filter_map(|d| d["resourceName"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Where the HyperConverged has the device and switches it off.
fn disabled(cx: &Context<'_>, name: &str) -> Option<Location> {
    let field = cx.field("permittedHostDevices");
    let (node, path) = (field.node()?, field.path()?);
    ["pciHostDevices", "mediatedDevices", "usbHostDevices"].iter().find_map(|list| {
        let devices = node.get(list)?.items();
        let index = devices
            .iter()
            .position(|d| d.get("resourceName").and_then(Node::as_str) == Some(name) && d.get("disabled").is_some())?;
        Some(cx.locate(&path.key(list).index(index).key("disabled")))
    })
}
