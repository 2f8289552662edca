//! A value that HCO or CDI passes on and that matches nothing or is ignored by its reader: rows of `values::table`.

use super::prelude::*;
use crate::values;

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    values::report(cx, out, false);
    let Some(cluster) = cx.machine_cluster() else {
        return;
    };
    // Source: KubeVirt `pkg/storage/cbt/cbt.go`, `SyncVMChangedBlockTrackingState`.
    let tracking = cx.field("changedBlockTrackingLabelSelectors");
    if !cluster.has_gate("IncrementalBackup") && !entries(tracking.node()).is_empty() {
        let message = "changedBlockTrackingLabelSelectors does nothing: the feature gate incrementalBackup is off";
        let finding = cx.finding(message).at(tracking.key_place()).label("tracks nothing");
        out.report(finding.help("switch the gate on, or remove the selectors"));
    }
    // Source: KubeVirt `pkg/virt-launcher/virtwrap/live-migration-source.go`. A policy's values come first.
    let migrations = &cluster.kubevirt["spec"]["configuration"]["migrations"];
    let is_off = migrations["allowPostCopy"] == true && migrations["allowWorkloadDisruption"] == false;
    let allows = |policy: &Arc<Document>| policy.root.below("spec.allowWorkloadDisruption").is_some();
    let post_copy = cx.field("liveMigrationConfig.allowPostCopy");
    if is_off && post_copy.is_set() && !cx.of_kind("MigrationPolicy").iter().any(allows) {
        let finding = cx.finding("allowPostCopy has no effect: allowWorkloadDisruption is false");
        let finding = finding.at(post_copy.key_place()).label("migrations that take too long are given up");
        out.report(finding.help("set `allowWorkloadDisruption: true`, or remove it"));
    }
}
