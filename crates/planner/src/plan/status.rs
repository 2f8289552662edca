//! The status that HCO reports on the HyperConverged.

use crate::boot_images::HcoStage;
use crate::inventory::Inventory;
use crate::jsonpatch::OperationCounts;
use crate::operands;
use crate::prelude::*;
use crate::release::Release;
use crate::topology::Topology;

/// A condition of the HyperConverged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// The reason, in CamelCase.
    pub reason: &'static str,
    /// The human-readable message.
    pub message: String,
}

/// The parts of `status` that depend on the inputs.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// `status.nodeInfo`, without empty lists. `None` if nothing was reported and the object wasn't converted (which
    /// prints it empty).
    pub node_info: Option<Map<String, Value>>,
    /// `status.dataImportSchedule`.
    pub data_import_schedule: Option<String>,
    /// `status.dataImportCronTemplates`; `None` if the operator writes none.
    pub data_import_cron_templates: Option<Arc<[Value]>>,
    /// `ReconcileComplete` and, if set, `TaintedConfiguration`.
    pub conditions: BTreeMap<&'static str, Condition>,
}

pub(super) fn of(
    release: &Release,
    inventory: &Inventory,
    topology: &Topology,
    patches: &OperationCounts,
    images: Option<&HcoStage>,
    error: Option<&operands::Error>,
) -> Status {
    let templates = images.map(|stage| Arc::clone(&stage.status));
    Status {
        node_info: Some(node_info(release, topology)),
        data_import_schedule: inventory.data_import_schedule.clone(),
        data_import_cron_templates: templates.filter(|t| !t.is_empty()),
        conditions: conditions(patches, reconcile_complete(error)),
    }
}

/// The status of a HyperConverged that the operator ignores because of its name.
pub(super) fn ignored(inventory: &Inventory, patches: &OperationCounts) -> Status {
    let invalid = Condition {
        status: "False",
        reason: "InvalidRequest",
        message: format!(
            "Request does not match expected name ({}) and namespace ({})",
            super::NAME,
            inventory.namespace
        ),
    };
    Status { node_info: Some(Map::new()), conditions: conditions(patches, invalid), ..Status::default() }
}

/// The status of an object that the operator never reported on. `version` is the manifest's.
pub(super) fn initial_status(release: &Release, version: &str) -> Status {
    let api = &release.tables().hyperconverged;
    // It is read in the newest version, but stored or written in another one.
    let converted = api.newest_version() == "v1" && (api.storage_version != "v1" || version != "v1");
    Status { node_info: converted.then(Map::new), ..Status::default() }
}

pub(super) fn node_info(release: &Release, topology: &Topology) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, list) in [
        ("controlPlaneArchitectures", &topology.control_plane_architectures),
        ("workloadsArchitectures", &topology.workload_architectures),
    ] {
        if !list.is_empty() {
            out.insert(name.into(), json!(list));
        }
    }
    if let Some(architecture) = &topology.default_architecture
        && release.has("default-architecture-in-status")
    {
        out.insert("defaultWorkloadArchitecture".into(), json!(architecture));
    }
    out
}

fn reconcile_complete(error: Option<&operands::Error>) -> Condition {
    match error {
        None => Condition {
            status: "True",
            reason: "ReconcileCompleted",
            message: "Reconcile completed successfully".to_owned(),
        },
        // The first reconcile only reported that it began.
        Some(error) if error.is_panic() => {
            Condition { status: "Unknown", reason: "Init", message: "Initializing HyperConverged cluster".to_owned() }
        }
        Some(error) => Condition {
            status: "False",
            reason: "ReconcileFailed",
            message: format!("Error while reconciling: {error}"),
        },
    }
}

fn conditions(patches: &OperationCounts, reconcile_complete: Condition) -> BTreeMap<&'static str, Condition> {
    let mut out = BTreeMap::new();
    out.insert("ReconcileComplete", reconcile_complete);
    if patches.iter().any(|(_, n)| *n > 0) {
        let tainted = Condition {
            status: "True",
            reason: "UnsupportedFeatureAnnotation",
            message: "Unsupported feature was activated via an HCO annotation".to_owned(),
        };
        out.insert("TaintedConfiguration", tainted);
    }
    out
}
