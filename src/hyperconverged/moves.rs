//! Where the fields of v1beta1 are in v1.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::kube::prefixes::Prefixes;
use crate::kube::tree::{set, steps, take};

/// A field of v1beta1 and its place in v1, both below `spec`; what is below it moves along.
pub type Move = (&'static str, &'static str);

/// Every field that has a place in both versions. Parents stand before their children, so that
/// a child's own move is applied onto its parent's. Source: HCO 1.18 and 1.19
/// `api/v1beta1` conversion; the feature gates have a table of their own.
pub const MOVES: &[Move] = &[
    ("infra.nodePlacement", "deployment.nodePlacements.infra"),
    (
        "workloads.nodePlacement",
        "deployment.nodePlacements.workload",
    ),
    ("uninstallStrategy", "deployment.uninstallStrategy"),
    ("logVerbosityConfig", "deployment.logVerbosityConfig"),
    ("deployVmConsoleProxy", "deployment.deployVmConsoleProxy"),
    (
        "applicationAwareConfig",
        "deployment.applicationAwareConfig",
    ),
    (
        "enableApplicationAwareQuota",
        "deployment.applicationAwareConfig.enable",
    ),
    ("tuningPolicy", "virtualization.tuningPolicy"),
    ("liveMigrationConfig", "virtualization.liveMigrationConfig"),
    (
        "permittedHostDevices",
        "virtualization.permittedHostDevices",
    ),
    (
        "mediatedDevicesConfiguration",
        "virtualization.mediatedDevicesConfiguration",
    ),
    (
        "workloadUpdateStrategy",
        "virtualization.workloadUpdateStrategy",
    ),
    ("obsoleteCPUs.cpuModels", "virtualization.obsoleteCPUModels"),
    ("evictionStrategy", "virtualization.evictionStrategy"),
    (
        "virtualMachineOptions",
        "virtualization.virtualMachineOptions",
    ),
    (
        "defaultCPUModel",
        "virtualization.virtualMachineOptions.defaultCPUModel",
    ),
    (
        "defaultRuntimeClass",
        "virtualization.virtualMachineOptions.defaultRuntimeClass",
    ),
    (
        "higherWorkloadDensity",
        "virtualization.higherWorkloadDensity",
    ),
    (
        "liveUpdateConfiguration",
        "virtualization.liveUpdateConfiguration",
    ),
    ("ksmConfiguration", "virtualization.ksmConfiguration"),
    (
        "changedBlockTrackingLabelSelectors",
        "virtualization.changedBlockTrackingLabelSelectors",
    ),
    ("hypervisors", "virtualization.hypervisors"),
    (
        "roleAggregationStrategy",
        "virtualization.roleAggregationStrategy",
    ),
    (
        "resourceRequirements.vmiCPUAllocationRatio",
        "virtualization.vmiCPUAllocationRatio",
    ),
    (
        "resourceRequirements.autoCPULimitNamespaceLabelSelector",
        "virtualization.autoCPULimitNamespaceLabelSelector",
    ),
    (
        "resourceRequirements.storageWorkloads",
        "storage.workloadResourceRequirements",
    ),
    ("vmStateStorageClass", "storage.vmStateStorageClass"),
    (
        "scratchSpaceStorageClass",
        "storage.scratchSpaceStorageClass",
    ),
    ("storageImport", "storage.storageImport"),
    ("filesystemOverhead", "storage.filesystemOverhead"),
    ("certConfig", "security.certConfig"),
    ("tlsSecurityProfile", "security.tlsSecurityProfile"),
    ("networkBinding", "networking.networkBinding"),
    (
        "kubeMacPoolConfiguration",
        "networking.kubeMacPoolConfiguration",
    ),
    (
        "kubeSecondaryDNSNameServerIP",
        "networking.kubeSecondaryDNSNameServerIP",
    ),
    (
        "commonTemplatesNamespace",
        "workloadSources.commonTemplatesNamespace",
    ),
    (
        "commonBootImageNamespace",
        "workloadSources.commonBootImageNamespace",
    ),
    (
        "enableCommonBootImageImport",
        "workloadSources.enableCommonBootImageImport",
    ),
    (
        "dataImportCronTemplates",
        "workloadSources.dataImportCronTemplates",
    ),
    ("instancetypeConfig", "workloadSources.instancetypeConfig"),
    (
        "CommonInstancetypesDeployment",
        "workloadSources.commonInstancetypesDeployment",
    ),
];

/// Fields of v1beta1 that v1 does not have and that some release still reads; they keep their
/// name under `virtualization` in the internal form.
const ONLY_INTERNAL: &[Move] = &[("obsoleteCPUs.minCPUModel", "virtualization.minCPUModel")];

/// Rows of [`MOVES`] by the first key of v1beta1's field.
struct Rows {
    prefixes: Prefixes,
    by_key: Vec<(&'static str, Vec<usize>)>,
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let mut rows: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (row, (from, _)) in MOVES.iter().enumerate() {
        let first = steps(from).next().unwrap_or(from);
        rows.entry(first).or_default().push(row);
    }
    Rows {
        prefixes: Prefixes::of(rows.keys().copied()),
        by_key: rows.into_iter().collect(),
    }
});

/// [`MOVES`] without those of which a v1beta1 `spec` doesn't even have the first key: few are left.
pub(super) fn moves_in(spec: &Value) -> impl Iterator<Item = &'static Move> + use<> {
    let Rows { prefixes, by_key } = &*ROWS;
    let mut rows: Vec<usize> = Vec::with_capacity(MOVES.len());
    for key in spec.as_object().into_iter().flat_map(Map::keys) {
        let found = prefixes.find(key, |place| by_key[place].0);
        rows.extend(found.iter().flat_map(|place| &by_key[*place].1));
    }
    rows.sort_unstable();
    rows.into_iter().map(|row| &MOVES[row])
}

/// A v1beta1 `spec` in the internal form; nothing that any release reads is lost.
pub(super) fn to_internal(mut spec: Value) -> Value {
    let mut out = Value::Object(Map::new());
    for (from, to) in moves_in(&spec).chain(ONLY_INTERNAL) {
        if let Some(value) = take(&mut spec, from) {
            set(&mut out, to, value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_moves_of_fields_that_are_there() {
        let spec = json!({"infra": {}, "obsoleteCPUs": {}, "evictionStrategy": "None", "x": 1});
        let found: Vec<&str> = moves_in(&spec).map(|(from, _)| *from).collect();
        let wanted = MOVES.iter().map(|(from, _)| *from);
        let wanted = wanted.filter(|from| {
            let first = from.split('.').next().unwrap_or_default();
            spec.get(first).is_some()
        });
        assert_eq!(found, wanted.collect::<Vec<_>>());
        assert_eq!(found.len(), 3);
        assert_eq!(moves_in(&json!(null)).count(), 0);
    }
}
