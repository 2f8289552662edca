//! A value that HCO or CDI passes on and that matches nothing or is ignored by its reader: rows of `values::table`.

use super::prelude::*;
use crate::values;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    values::report(cx, out, |outcome| !outcome.is_rejection());
    // Source: KubeVirt `pkg/storage/cbt/cbt.go`, `SyncVMChangedBlockTrackingState`.
    let tracking = cx.field("changedBlockTrackingLabelSelectors");
    let is_off = cx.machine_cluster().is_some_and(|cluster| !cluster.has_gate("IncrementalBackup"));
    if is_off && !entries(tracking.node()).is_empty() {
        let message = "changedBlockTrackingLabelSelectors does nothing: the feature gate incrementalBackup is off";
        let finding = cx.finding(message).at(tracking.key_place()).label("tracks nothing");
        out.report(finding.help("switch the gate on, or remove the selectors"));
    }
}
