//! A CPU model for nodes of architectures that don't share models.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let architectures = &cx.topology().workload_architectures;
    if architectures.len() < 2 || !architectures.iter().any(|a| a == "s390x") {
        return;
    }
    let field = cx.field("defaultCPUModel");
    let hc = cx.hyperconverged();
    let model = hc.and_then(|hc| hc.text("virtualization.virtualMachineOptions.defaultCPUModel"));
    let Some(model) = model.filter(|m| !["host-model", "host-passthrough"].contains(m)) else {
        return;
    };
    let message = format!("the default CPU model {model} applies to {}, which share no CPU model", and(architectures));
    let finding = cx
        .finding(message)
        .at(field.value_place())
        .label("set in every virtual machine that names no CPU model")
        .help("remove `defaultCPUModel`, and name CPU models in virtual machines or preferences");
    out.report(with_nodes(finding, cx, architectures));
}
