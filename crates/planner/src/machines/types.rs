//! Checks instance types, preferences and migration policies.
//!
//! Source: `pkg/instancetype/webhooks`, `pkg/instancetype/preference/webhooks`, `migrationpolicy-admitter.go`.

use serde_json::Value;

use super::checker::{Checker, structure};
use super::{Cause, Cluster, Reason, Stage, defaults};

/// The rejections by the object's structure, else by `check`.
fn admit(cluster: Cluster<'_>, kind: &str, object: &Value, check: impl FnOnce(&mut Checker<'_>)) -> Vec<Cause> {
    let mut object = object.clone();
    let causes = structure(kind, &cluster.release.kubevirt().version, &mut object);
    if !causes.is_empty() {
        return causes;
    }
    let mut checker = Checker::new(cluster, &object["spec"], "spec", Stage::Validating);
    check(&mut checker);
    checker.causes()
}

/// Why KubeVirt rejects an instance type; empty if accepted.
pub fn admit_instancetype(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    admit(cluster, "VirtualMachineInstancetype", object, |checker| drop(checker.rows("instancetype-object")))
}

/// Why KubeVirt rejects a preference; empty if accepted.
pub fn admit_preference(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    admit(cluster, "VirtualMachinePreference", object, |checker| {
        checker.rows("preference-object");
        let is_spread = matches!(checker.text("cpu.preferredCPUTopology"), "spread" | "preferSpread");
        let (ratio, across) = defaults::spread(Some(checker.spec));
        if is_spread && across == "CoresThreads" && ratio != 2 {
            let message = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads";
            checker.reject("cpu.spreadOptions.ratio", Reason::OutOfRange, message);
        }
    })
}

/// Why KubeVirt rejects a migration policy; empty if accepted.
pub fn admit_migration_policy(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    admit(cluster, "MigrationPolicy", object, |checker| drop(checker.rows("migration-policy")))
}
