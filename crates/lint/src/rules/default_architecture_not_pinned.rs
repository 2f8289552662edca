//! With nodes of several architectures, the default architecture of virtual machines is undefined.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let all = cx.node_architectures();
    if all.len() < 2 || cx.default_architecture().is_some() {
        return;
    }
    let choices = cx.operator_architectures();
    let choices = choices.names();
    let workload = &cx.topology().workload_architectures;
    let (severity, message) = match choices[..] {
        [only] if workload.iter().any(|w| w == only) => {
            (Severity::Info, format!("VMs without an architecture run as {only}, the control plane's architecture"))
        }
        [only] => (
            Severity::Warning,
            format!(
                "KubeVirt's default architecture becomes the control plane's, {only}, but workload nodes are {}",
                and(workload)
            ),
        ),
        _ => (
            Severity::Warning,
            format!(
                "nothing pins KubeVirt's default architecture; it becomes {}, whichever the first virt-operator pod runs on",
                or(&choices)
            ),
        ),
    };
    let finding = cx
        .finding(message)
        .severity(severity)
        .at(cx.whole_location())
        .label("sets no default architecture")
        .help(
            "name the architecture in each virtual machine, or pin it with a jsonpatch of the \
             KubeVirt object",
        )
        .fixes(workload.iter().filter_map(|a| cx.machines_made(a)));
    out.report(with_nodes(finding, cx, &all));
}
