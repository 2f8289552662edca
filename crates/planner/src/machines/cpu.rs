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
const DEDICATED: &str = "domain.cpu.dedicatedCpuPlacement";
const CORES: &str = "domain.cpu.cores";
const THREADS: &str = "domain.cpu.threads";
const NUMA: &str = "domain.cpu.numa.guestMappingPassthrough";

/// The product of cores, sockets and threads, 0 counting as 1; 0 if none is set.
pub(super) fn vcpus(cpu: &Value) -> i64 {
    let counts = ["cores", "sockets", "threads"].map(|k| number(&cpu[k]));
    if counts == [0; 3] { 0 } else { counts.iter().map(|c| (*c).max(1)).product() }
}

impl Checker<'_> {
    pub(super) fn memory(&mut self) {
        for (path, minimum) in [(REQUESTED_MEMORY, 1_000_000), (MEMORY_LIMIT, 0)] {
            let value = whole(self.get(path));
            let written = printed(self.get(path));
            if value < 0 {
                let message = format!("{} '{written}': must be greater than or equal to 0.", self.name(path));
                self.reject(path, Reason::OutOfRange, message);
            } else if value > 0 && value < minimum {
                let message = format!("{} '{written}': must be greater than or equal to 1M.", self.name(path));
                self.reject(path, Reason::OutOfRange, message);
            }
        }
        self.check_limit(REQUESTED_MEMORY, MEMORY_LIMIT, whole);
        self.hugepages();
        let (guest, limit) = (whole(self.get(GUEST)), whole(self.get(MEMORY_LIMIT)));
        if !self.updates_live() && limit != 0 && limit < guest {
            let [g, l] = [GUEST, MEMORY_LIMIT].map(|p| format!("{} '{}'", self.name(p), printed(self.get(p))));
            let message = format!("{g} must be equal to or less than the memory limit {l}");
            self.reject(GUEST, Reason::Contradicts(self.path(MEMORY_LIMIT)), message);
        }
    }

    /// Whether changes of machines are applied while they run.
    pub(super) fn updates_live(&self) -> bool {
        let strategy = text(&self.cluster.configuration()["vmRolloutStrategy"]);
        strategy == "LiveUpdate" || strategy.is_empty()
    }

    fn check_limit(&mut self, request: &str, limit: &str, amount: fn(&Value) -> i64) {
        let (r, l) = (self.get(request), self.get(limit));
        if amount(l) > 0 && amount(r) > amount(l) {
            let message = format!(
                "{} '{}' is greater than {} '{}'",
                self.name(request),
                printed(r),
                self.name(limit),
                printed(l)
            );
            self.reject(request, Reason::Contradicts(self.path(limit)), message);
        }
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
        self.check_limit(REQUESTED_CPU, CPU_LIMIT, milli);
        let is_dedicated = *self.get(DEDICATED) == true;
        if is_dedicated {
            self.dedicated_cpus();
        }
        const SOCKETS: &str = "domain.cpu.sockets";
        const MAX_SOCKETS: &str = "domain.cpu.maxSockets";
        let maximum = number(self.get(MAX_SOCKETS));
        if maximum != 0 && number(self.get(SOCKETS)) > maximum {
            let message = "Number of sockets in CPU topology is greater than the maximum sockets allowed";
            self.reject(SOCKETS, Reason::Contradicts(self.path(MAX_SOCKETS)), message);
        }
    }

    fn dedicated_cpus(&mut self) {
        let sources = [REQUESTED_MEMORY, MEMORY_LIMIT, "domain.memory.hugepages", GUEST];
        let is_zero = |path: &str| path != "domain.memory.hugepages" && whole(self.get(path)) == 0;
        if sources.iter().all(|p| !self.has(p) || is_zero(p)) {
            let [a, b, c, d] = sources.map(|p| self.name(p));
            let message = format!("{a}, {b}, {c} or {d} should be provided");
            self.reject(MEMORY_LIMIT, Reason::Missing, message);
        }
        for (path, what) in [(REQUESTED_CPU, "requests"), (CPU_LIMIT, "limits")] {
            let value = self.get(path);
            if whole(value) > 0 && whole(value) * 1000 != milli(value) {
                let message = format!("provided resources CPU {what} must be an interger");
                self.reject(path, Reason::OutOfRange, message);
            }
        }
        let [requested, limit] = [REQUESTED_MEMORY, MEMORY_LIMIT].map(|p| whole(self.get(p)));
        if requested > 0 && limit > 0 && requested != limit {
            let message = format!("{} must be equal to {}", self.name(REQUESTED_MEMORY), self.name(MEMORY_LIMIT));
            self.reject(REQUESTED_MEMORY, Reason::Contradicts(self.path(MEMORY_LIMIT)), message);
        }
        let [requested, limit] = [REQUESTED_CPU, CPU_LIMIT].map(|p| whole(self.get(p)));
        let vcpus = vcpus(self.get("domain.cpu"));
        let [r, l, c] = [REQUESTED_CPU, CPU_LIMIT, CORES].map(|p| self.name(p));
        if requested == 0 && limit == 0 && vcpus == 0 {
            let message = format!("either {r} or {l} or {c} must be provided when DedicatedCPUPlacement is true ");
            self.reject(DEDICATED, Reason::Missing, message);
        }
        if requested > 0 && limit > 0 && requested != limit {
            let message = format!("{r} or {l} must be equal when DedicatedCPUPlacement is true ");
            self.reject(REQUESTED_CPU, Reason::Contradicts(self.path(CPU_LIMIT)), message);
        }
        if (requested > 0 || limit > 0) && vcpus > 0 && requested != vcpus && limit != vcpus {
            let message = format!(
                "{r} or {l} must not be provided at the same time with {c} when DedicatedCPUPlacement is true "
            );
            let path = if limit > 0 { CPU_LIMIT } else { REQUESTED_CPU };
            self.reject(path, Reason::Contradicts(self.path(CORES)), message);
        }
        let threads = number(self.get(THREADS));
        if threads > 1 && self.text("architecture") == "arm64" {
            let (t, a) = (self.name(THREADS), self.name("architecture"));
            let message = format!("threads must not be greater than 1 at {t} (got {threads}) when {a} is arm64");
            self.reject(THREADS, Reason::Architecture("arm64".to_owned()), message);
        }
        if threads > 2 {
            let message = format!(
                "Not more than two threads must be provided at {} (got {threads}) when DedicatedCPUPlacement is true",
                self.name(THREADS)
            );
            self.reject(THREADS, Reason::OutOfRange, message);
        }
    }

    /// Checks memory that can grow while the machine runs.
    pub(super) fn live_memory(&mut self) {
        const MAX_GUEST: &str = "domain.memory.maxGuest";
        if !self.updates_live() || !self.has(MAX_GUEST) {
            return;
        }
        let alignment = if self.text(PAGE_SIZE) == "1Gi" { (1 << 30, "1Gi") } else { (1 << 21, "2Mi") };
        let (guest, maximum) = (whole(self.get(GUEST)), whole(self.get(MAX_GUEST)));
        let incompatible = |what: &str| (GUEST, format!("Memory hotplug is not compatible with {what}"));
        let (path, message) = if self.has("domain.cpu.realtime") {
            incompatible("realtime VMs")
        } else if self.has(NUMA) {
            incompatible("guest mapping passthrough")
        } else if self.has("domain.launchSecurity") {
            incompatible("encrypted VMs")
        } else if !self.has(GUEST) {
            (MAX_GUEST, "Guest memory must be configured when memory hotplug is enabled".to_owned())
        } else if guest > maximum {
            (GUEST, "Guest memory is greater than the configured maxGuest memory".to_owned())
        } else if guest % alignment.0 != 0 {
            (GUEST, format!("Guest memory must be {} aligned", alignment.1))
        } else if maximum % alignment.0 != 0 {
            (MAX_GUEST, format!("MaxGuest must be {} aligned", alignment.1))
        } else if !matches!(self.text("architecture"), "amd64" | "") {
            (MAX_GUEST, "Memory hotplug is only available for x86_64 VMs".to_owned())
        } else if guest < 1 << 30 {
            (GUEST, "Memory hotplug is only available for VMs with at least 1Gi of guest memory".to_owned())
        } else {
            return;
        };
        self.reject(path, Reason::Contradicts(self.path(MAX_GUEST)), message);
    }
}
