//! Deleting the HyperConverged would delete every virtual machine.

use super::prelude::*;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let field = cx.field("uninstallStrategy");
    if field.text() != Some("RemoveWorkloads") {
        return;
    }
    let message = "uninstallStrategy is RemoveWorkloads: deleting the HyperConverged deletes every \
                   VirtualMachine and DataVolume";
    let mut finding = cx.finding(message).at(field.value_place()).label("deletes the workloads, too");
    let keep = suggested_text(
        "write BlockUninstallIfWorkloadsExist, which blocks the deletion while there are workloads",
        field.value_place(),
        "BlockUninstallIfWorkloadsExist",
    );
    finding = finding.fix(keep);
    if let Some(prune) = &cx.other_objects().pruned_by {
        finding = finding.error().related(prune.clone(), "deletes what git no longer has");
    }
    out.report(finding);
}
