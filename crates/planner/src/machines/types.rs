//! Instance types, preferences and migration policies.
//!
//! Source: `pkg/instancetype/webhooks`, `pkg/instancetype/preference/webhooks`, `migrationpolicy-admitter.go`.

use serde_json::Value;

use super::judge::{Judge, number, structure, whole};
use super::tables::unsupported;
use super::{Cause, Cluster, Reason, Stage, defaults};

/// What the API server says by the structure, else what `check` does.
fn admit(cluster: Cluster<'_>, kind: &str, object: &Value, check: impl FnOnce(&mut Judge<'_>)) -> Vec<Cause> {
    let mut object = object.clone();
    let causes = structure(kind, &cluster.release.kubevirt().version, &mut object);
    if !causes.is_empty() {
        return causes;
    }
    let mut judge = Judge::new(cluster, &object["spec"], "spec", Stage::Validating);
    check(&mut judge);
    judge.found
}

/// What KubeVirt says to an instance type.
pub fn admit_instancetype(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    admit(cluster, "VirtualMachineInstancetype", object, |judge| {
        const OVERCOMMIT: &str = "memory.overcommitPercent";
        const HUGEPAGES: &str = "memory.hugepages";
        let percent = number(judge.get(OVERCOMMIT));
        let name = judge.name(OVERCOMMIT);
        if !(0..=100).contains(&percent) {
            let words = format!("{name} '{percent}': must be in range between 0 and 100.");
            judge.reject(OVERCOMMIT, Reason::OutOfRange, words);
        }
        if percent != 0 && judge.has(HUGEPAGES) {
            let words = format!("{name} and {} should not be requested together.", judge.name(HUGEPAGES));
            judge.reject(OVERCOMMIT, Reason::Contradicts(judge.path(HUGEPAGES)), words);
        }
    })
}

/// What KubeVirt says to a preference.
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
    admit(cluster, "VirtualMachinePreference", object, |judge| {
        const TOPOLOGY: &str = "cpu.preferredCPUTopology";
        let topology = judge.text(TOPOLOGY);
        if judge.has(TOPOLOGY) && !TOPOLOGIES.contains(&topology) {
            let words = format!("unknown preferredCPUTopology {topology}");
            judge.reject(TOPOLOGY, unsupported(&TOPOLOGIES[..5]), words);
        }
        if !matches!(topology, "spread" | "preferSpread") {
            return;
        }
        let (ratio, across) = defaults::spread(Some(judge.spec));
        if !ACROSS.contains(&across) {
            judge.reject("cpu.spreadOptions.across", unsupported(&ACROSS), format!("across {across} is not supported"));
        } else if across == "CoresThreads" && ratio != 2 {
            let words = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads";
            judge.reject("cpu.spreadOptions.ratio", Reason::OutOfRange, words);
        }
    })
}

/// What KubeVirt says to a migration policy.
pub fn admit_migration_policy(cluster: Cluster<'_>, object: &Value) -> Vec<Cause> {
    admit(cluster, "MigrationPolicy", object, |judge| {
        for field in ["completionTimeoutPerGiB", "bandwidthPerMigration"] {
            if whole(judge.get(field)) < 0 {
                judge.reject(field, Reason::OutOfRange, "must not be negative");
            }
        }
    })
}
