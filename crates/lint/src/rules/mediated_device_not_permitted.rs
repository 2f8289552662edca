//! Mediated devices that no virtual machine is permitted to use.

use super::prelude::*;
use crate::fix::{NEW_DEVICES as NEW, OLD_DEVICES as OLD, mediated_device_lists};

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let permitted = cx.rendered_kubevirt("configuration.permittedHostDevices.mediatedDevices");
    let field = cx.field("mediatedDevicesConfiguration");
    let has_types = |(node, _): &(&Node, Path)| [OLD, NEW].iter().any(|list| !node.list_at(list).is_empty());
    let lists = field.node().map(|node| mediated_device_lists(node, Path::root()));
    let makes = lists.iter().flatten().any(has_types);
    let section = cx.rendered_kubevirt("configuration.mediatedDevicesConfiguration");
    // Neither the switch nor, in older releases, the gate is against it.
    let mut gates = elements(cx.rendered_kubevirt("configuration.developerConfiguration.featureGates"));
    let is_off = gates.any(|gate| gate == "DisableMDEVConfiguration");
    if !makes || section.is_null() || section["enabled"] == false || is_off || elements(permitted).next().is_some() {
        return;
    }
    let message = "mediated devices are created, but permittedHostDevices permits none of them";
    out.report(
        cx.finding(message)
            .at(field.key_place())
            .label("no virtual machine may ask for one")
            .help("list them in permittedHostDevices.mediatedDevices"),
    );
}
