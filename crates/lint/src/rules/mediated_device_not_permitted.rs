//! Mediated devices that no virtual machine is permitted to use.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let permitted = cx.rendered_kubevirt("configuration.permittedHostDevices.mediatedDevices").as_array();
    let field = cx.field("mediatedDevicesConfiguration");
    let types = |node: &Node| {
        let lists = ["mediatedDeviceTypes", "mediatedDevicesTypes"];
        lists.iter().any(|k| node.get(k).is_some_and(|l| !l.items().is_empty()))
    };
    let per_node = |node: &Node| node.list_at("nodeMediatedDeviceTypes").iter().any(types);
    let makes = field.node().is_some_and(|node| types(node) || per_node(node));
    let section = cx.rendered_kubevirt("configuration.mediatedDevicesConfiguration");
    // Neither the switch nor, in older releases, the gate is against it.
    let gates = cx.rendered_kubevirt("configuration.developerConfiguration.featureGates").as_array();
    let is_off = gates.is_some_and(|gates| gates.iter().any(|gate| gate == "DisableMDEVConfiguration"));
    if !makes
        || section.is_null()
        || section["enabled"] == false
        || is_off
        || permitted.is_some_and(|list| !list.is_empty())
    {
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
