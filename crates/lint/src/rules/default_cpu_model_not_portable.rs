//! A CPU model for nodes of architectures that don't share models.

use super::prelude::*;

pub(super) fn find(cx: &Context<'_>) -> Option<Finding> {
    // KubeVirt gives arm64 machines host-passthrough instead.
    let of_nodes = cx.topology().workload_architectures.iter().map(String::as_str);
    let architectures: Vec<&str> = of_nodes.filter(|a| *a != "arm64").collect();
    if architectures.len() < 2 || !architectures.contains(&"s390x") {
        return None;
    }
    let field = cx.field("defaultCPUModel");
    let hc = cx.hyperconverged();
    let model = hc.and_then(|hc| hc.text("virtualization.virtualMachineOptions.defaultCPUModel"));
    let model = model.filter(|m| !["host-model", "host-passthrough"].contains(m))?;
    let message = format!("the default CPU model {model} applies to {}, which share no CPU model", and(&architectures));
    let finding = cx
        .finding(message)
        .at(field.value_place())
        .label("set in every virtual machine that names no CPU model")
        .help("remove `defaultCPUModel`, and name CPU models in virtual machines or preferences");
    Some(with_nodes(finding, cx, &architectures))
}
