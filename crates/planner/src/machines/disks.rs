//! Checks paths, addresses and the boot order of disks.
//!
//! Source: `pkg/storage/admitters/disks.go`, and `validateBootOrder` of `vmi-create-admitter.go`.

use super::checker::{Checker, number};
use crate::cause::CauseKind;
use crate::prelude::*;

/// Why a path inside a container is rejected.
pub(super) fn path_problem(path: &str) -> Option<&'static str> {
    if path == "/" {
        return Some("must not point to root");
    }
    let inner = path.strip_suffix('/').unwrap_or(path).strip_prefix('/');
    let is_plain = inner.is_some_and(|p| p.split('/').all(|part| !matches!(part, "" | "." | "..")));
    (!is_plain).then_some("must be an absolute path to a file without relative components")
}

/// Whether a text is a PCI address; `0000:81:01.10` isn't one.
pub(super) fn is_pci_address(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '.']).collect();
    let separators: Vec<char> = text.chars().filter(|c| matches!(c, ':' | '.')).collect();
    let hex = |part: &str, len: usize| part.len() == len && part.bytes().all(|b| b.is_ascii_hexdigit());
    separators == [':', ':', '.']
        && matches!(parts[..], [domain, bus, slot, function] if hex(domain, 4) && hex(bus, 2) && hex(slot, 2)
            && function.len() == 1 && ("0"..="7").contains(&function))
}

impl Checker<'_> {
    /// Checks that each boot order is used once among disks and interfaces.
    pub(super) fn boot_order(&mut self) {
        let mut taken: HashMap<i64, Path> = HashMap::new();
        for devices in ["disks", "interfaces"] {
            for (path, order) in self.each(&format!("domain.devices.{devices}[].bootOrder")) {
                let order = number(order);
                if devices == "interfaces" && order < 1 {
                    continue;
                }
                match taken.get(&order) {
                    Some(other) => {
                        let message =
                            format!("Boot order for {} already set for a different device.", self.name(&path));
                        self.reject(&path, CauseKind::Duplicate(other.clone()), message);
                    }
                    None => drop(taken.insert(order, self.path(&path))),
                }
            }
        }
    }
}
