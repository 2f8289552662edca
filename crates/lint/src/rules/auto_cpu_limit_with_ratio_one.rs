//! CPU limits for virtual machines that already request all of it.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let ratio = cx.field("resourceRequirements.vmiCPUAllocationRatio");
    let selector = cx.field("resourceRequirements.autoCPULimitNamespaceLabelSelector");
    let hc = cx.hyperconverged();
    let one = hc.and_then(|hc| hc.get("virtualization.vmiCPUAllocationRatio"));
    if !selector.is_set() || one.and_then(Json::as_i64) != Some(1) {
        return;
    }
    let message = "vmiCPUAllocationRatio 1 and automatic CPU limits: each virtual CPU gets one CPU, which leaves none to the emulator";
    out.report(
        cx.finding(message)
            .at(ratio.value_place())
            .label("a whole CPU for each virtual one")
            .related(selector.key_place(), "limits are set in these namespaces")
            .help("set `vmiCPUAllocationRatio` above 1, or remove `autoCPULimitNamespaceLabelSelector`"),
    );
}
