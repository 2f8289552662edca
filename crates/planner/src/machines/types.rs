//! Checks instance types, preferences and migration policies.
//!
//! Source: `pkg/instancetype/webhooks`, `pkg/instancetype/preference/webhooks`, `migrationpolicy-admitter.go`.

use serde_json::Value;

use super::checker::{Checker, structure};
use super::structure::entry_of;
use super::{Cause, Cluster, Reason, Stage, defaults};

/// Why KubeVirt rejects an instance type, a preference or a migration policy: by its structure, else by its values. Empty
/// if it accepts it.
pub fn admit_other(cluster: Cluster<'_>, kind: &str, object: &Value) -> Vec<Cause> {
    let kind = &*entry_of(kind);
    let mut object = object.clone();
    let causes = structure(kind, &cluster.release.kubevirt().version, &mut object);
    if !causes.is_empty() {
        return causes;
    }
    let mut checker = Checker::new(cluster, &object["spec"], "spec", Stage::Validating);
    checker.rows(kind);
    let is_spread = matches!(checker.text("cpu.preferredCPUTopology"), "spread" | "preferSpread");
    let (ratio, across) = defaults::spread(Some(checker.spec));
    if kind == "VirtualMachinePreference" && is_spread && across == "CoresThreads" && ratio != 2 {
        let message = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads";
        checker.reject("cpu.spreadOptions.ratio", Reason::OutOfRange, message);
    }
    checker.causes()
}
