//! Checks CPU and memory of an instance.
//!
//! Source: `vmi-create-admitter.go`.

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, milli, number, printed, quantity, text, whole};

const REQUESTED_CPU: &str = "domain.resources.requests.cpu";
const CPU_LIMIT: &str = "domain.resources.limits.cpu";
const REQUESTED_MEMORY: &str = "domain.resources.requests.memory";
const MEMORY_LIMIT: &str = "domain.resources.limits.memory";
const GUEST: &str = "domain.memory.guest";
const PAGE_SIZE: &str = "domain.memory.hugepages.pageSize";
const CORES: &str = "domain.cpu.cores";

/// The product of cores, sockets and threads, 0 counting as 1; 0 if none is set.
pub(super) fn vcpus(cpu: &Value) -> i64 {
    let counts = ["cores", "sockets", "threads"].map(|k| number(&cpu[k]));
    if counts == [0; 3] { 0 } else { counts.iter().map(|c| (*c).max(1)).product() }
}

impl Checker<'_> {
    pub(super) fn memory(&mut self) {
        self.rows("memory");
        self.hugepages();
        if !self.updates_live() {
            self.rows("memory-limit");
        }
    }

    /// Whether changes of machines are applied while they run.
    pub(super) fn updates_live(&self) -> bool {
        let strategy = text(&self.cluster.configuration()["vmRolloutStrategy"]);
        strategy == "LiveUpdate" || strategy.is_empty()
    }

    fn hugepages(&mut self) {
        let size = self.text(PAGE_SIZE);
        if !self.has("domain.memory.hugepages") {
            return;
        }
        let Some(page) = quantity(self.get(PAGE_SIZE)).map(|q| q.scaled(0)).filter(|p| *p > 0) else {
            let message = format!(
                "{} '{size}': quantities must match the regular expression \
                 '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                self.name(PAGE_SIZE)
            );
            self.reject(PAGE_SIZE, Reason::Malformed, message);
            return;
        };
        // The message always names the request.
        let amounts = [REQUESTED_MEMORY, GUEST, MEMORY_LIMIT].map(|p| (p, whole(self.get(p))));
        let (path, memory) = amounts.into_iter().find(|(_, m)| *m != 0).unwrap_or((GUEST, 0));
        let relation = if memory != 0 && memory < page {
            "must be equal to or larger than page size"
        } else if memory % page != 0 {
            "is not a multiple of the page size"
        } else {
            return;
        };
        let (name, requested) = (self.name(REQUESTED_MEMORY), printed(self.get(REQUESTED_MEMORY)));
        let message = format!("{name} '{requested}' {relation} {} '{size}'", self.name(PAGE_SIZE));
        self.reject(path, Reason::OutOfRange, message);
    }

    pub(super) fn cpu(&mut self) {
        for path in [REQUESTED_CPU, CPU_LIMIT] {
            if milli(self.get(path)) < 0 {
                let written = printed(self.get(path));
                let message = format!("{} '{written}': must be greater than or equal to 0.", self.name(path));
                self.reject(path, Reason::OutOfRange, message);
            }
        }
        let [request, limit] = [REQUESTED_CPU, CPU_LIMIT].map(|p| self.get(p));
        if milli(limit) > 0 && milli(request) > milli(limit) {
            let [r, l] = [REQUESTED_CPU, CPU_LIMIT].map(|p| format!("{} '{}'", self.name(p), printed(self.get(p))));
            let message = format!("{r} is greater than {l}");
            self.reject(REQUESTED_CPU, Reason::Contradicts(self.path(CPU_LIMIT)), message);
        }
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
            self.reject(path, Reason::Contradicts(self.path(CORES)), message);
        }
    }

    /// Checks memory that can grow while the machine runs.
    pub(super) fn live_memory(&mut self) {
        if self.updates_live() {
            self.rows("live-memory");
        }
    }
}
