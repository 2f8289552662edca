//! Checks CPU and memory of an instance.
//!
//! Source: `vmi-create-admitter.go`.

use super::checker::{Checker, number, whole};
use crate::cause::CauseKind;
use crate::prelude::*;

const REQUESTED_CPU: &str = "domain.resources.requests.cpu";
const CPU_LIMIT: &str = "domain.resources.limits.cpu";
const CORES: &str = "domain.cpu.cores";

/// The product of cores, sockets and threads, 0 counting as 1; 0 if none is set.
pub(super) fn vcpus(cpu: &Value) -> i64 {
    let counts = ["cores", "sockets", "threads"].map(|k| number(&cpu[k]));
    if counts == [0; 3] { 0 } else { counts.iter().map(|c| (*c).max(1)).product() }
}

impl Checker<'_> {
    pub(super) fn memory(&mut self) {
        self.rows("memory");
        if !self.updates_live() {
            self.rows("memory-limit");
        }
    }

    /// Whether changes of machines are applied while they run.
    pub(super) fn updates_live(&self) -> bool {
        let strategy = text(&self.cluster.configuration()["vmRolloutStrategy"]);
        strategy == "LiveUpdate" || strategy.is_empty()
    }

    pub(super) fn cpu(&mut self) {
        self.rows("cpu");
        if *self.get("domain.cpu.dedicatedCpuPlacement") == true {
            self.dedicated_cpus();
        }
    }

    fn dedicated_cpus(&mut self) {
        let [requested, limit] = [REQUESTED_CPU, CPU_LIMIT].map(|p| whole(self.get(p)));
        let vcpus = vcpus(self.get("domain.cpu"));
        if (requested > 0 || limit > 0) && vcpus > 0 && requested != vcpus && limit != vcpus {
            let [r, l, c] = [REQUESTED_CPU, CPU_LIMIT, CORES].map(|p| self.name(p));
            let message = format!(
                "{r} or {l} must not be provided at the same time with {c} when DedicatedCPUPlacement is true "
            );
            let path = if limit > 0 { CPU_LIMIT } else { REQUESTED_CPU };
            self.reject(path, CauseKind::Contradicts(self.path(CORES)), message);
        }
    }

    /// Checks memory that can grow while the machine runs.
    pub(super) fn live_memory(&mut self) {
        if self.updates_live() {
            self.rows("live-memory");
        }
    }
}
