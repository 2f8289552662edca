//! Checks instance types, preferences and migration policies.
//!
//! Source: `pkg/instancetype/webhooks`, `pkg/instancetype/preference/webhooks`, `migrationpolicy-admitter.go`.

use serde_json::Value;

use super::checker::{Checker, number, structure, whole};
use super::tables::unsupported;
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
    admit(cluster, "VirtualMachineInstancetype", object, |checker| {
        const OVERCOMMIT: &str = "memory.overcommitPercent";
        const HUGEPAGES: &str = "memory.hugepages";
        const GUEST: &str = "cpu.guest";
        let guest = number(checker.get(GUEST));
        if guest < 0 {
            let name = checker.name(GUEST);
            let message = format!(
                "json: cannot unmarshal number {guest} into Go struct field CPUInstancetype.{name} of type uint32"
            );
            checker.reject(GUEST, Reason::OutOfRange, message);
            return;
        }
        let percent = number(checker.get(OVERCOMMIT));
        let name = checker.name(OVERCOMMIT);
        if !(0..=100).contains(&percent) {
            let message = format!("{name} '{percent}': must be in range between 0 and 100.");
            checker.reject(OVERCOMMIT, Reason::OutOfRange, message);
        }
        if percent != 0 && checker.has(HUGEPAGES) {
            let message = format!("{name} and {} should not be requested together.", checker.name(HUGEPAGES));
            checker.reject(OVERCOMMIT, Reason::Contradicts(checker.path(HUGEPAGES)), message);
        }
    })
}

/// Why KubeVirt rejects a preference; empty if accepted.
pub fn admit_preference(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    const TOPOLOGIES: [&str; 10] = [
        "sockets",
        "cores",
        "threads",
        "spread",
        "any",
        "preferSockets",
        "preferCores",
        "preferThreads",
        "preferSpread",
        "preferAny",
    ];
    const ACROSS: [&str; 3] = ["CoresThreads", "SocketsCores", "SocketsCoresThreads"];
    admit(cluster, "VirtualMachinePreference", object, |checker| {
        const TOPOLOGY: &str = "cpu.preferredCPUTopology";
        let topology = checker.text(TOPOLOGY);
        if checker.has(TOPOLOGY) && !TOPOLOGIES.contains(&topology) {
            let message = format!("unknown preferredCPUTopology {topology}");
            checker.reject(TOPOLOGY, unsupported(&TOPOLOGIES[..5]), message);
        }
        if !matches!(topology, "spread" | "preferSpread") {
            return;
        }
        let (ratio, across) = defaults::spread(Some(checker.spec));
        if !ACROSS.contains(&across) {
            checker.reject(
                "cpu.spreadOptions.across",
                unsupported(&ACROSS),
                format!("across {across} is not supported"),
            );
        } else if across == "CoresThreads" && ratio != 2 {
            let message = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads";
            checker.reject("cpu.spreadOptions.ratio", Reason::OutOfRange, message);
        }
    })
}

/// Why KubeVirt rejects a migration policy; empty if accepted.
pub fn admit_migration_policy(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    admit(cluster, "MigrationPolicy", object, |checker| {
        for field in ["completionTimeoutPerGiB", "bandwidthPerMigration"] {
            if whole(checker.get(field)) < 0 {
                checker.reject(field, Reason::OutOfRange, "must not be negative");
            }
        }
        const GATE: &str = "MigrationStallDetection";
        for field in ["maxDowntimeMs", "experimental.stallDetector"] {
            if checker.has(field) {
                checker.needs_gate(
                    GATE,
                    field,
                    format!("{field} cannot be modified without enabling the {GATE} feature gate"),
                );
            }
        }
    })
}
