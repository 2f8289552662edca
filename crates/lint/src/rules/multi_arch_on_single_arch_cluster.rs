//! Multi-arch golden images in a cluster with one architecture.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let ([only], true, true) = (&cx.node_architectures()[..], cx.is_multi_arch(), cx.plan().ssp.is_some()) else {
        return;
    };
    let message = format!("multi-arch golden images are on, but every node is {only}");
    let finding = cx
        .finding(message)
        .at(cx.multi_arch_switch())
        .label(format!("renames golden images to …-{only}"))
        .help("leave it out until nodes of another architecture are planned");
    out.report(finding.fixes(cx.switch_multi_arch(false)));
}
