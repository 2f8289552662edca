//! Checks interfaces and networks of an instance.
//!
//! Source: `pkg/network/admitter`.

use super::checker::Checker;

impl Checker<'_> {
    pub(super) fn networks(&mut self) {
        self.rows("networks");
        self.rows("claimed-networks");
        if self.cluster.configuration()["network"]["permitBridgeInterfaceOnPodNetwork"] == false {
            self.rows("bridge");
        }
        for (path, interface) in self.each("domain.devices.interfaces[]") {
            if !self.find(&path, interface, ">networks:pod").1.is_null() {
                self.rows_below(&path, interface, "ports");
            }
        }
    }
}

/// The problem of a MAC address according to Go's `net.ParseMAC` and KubeVirt.
pub(super) fn mac_problem(mac: &str) -> Option<&'static str> {
    let parts: Vec<&str> = mac.split([':', '-', '.']).collect();
    let width = if mac.contains('.') { 4 } else { 2 };
    let separators: std::collections::BTreeSet<char> = mac.chars().filter(|c| ":-.".contains(*c)).collect();
    let bytes = parts.len() * width / 2;
    let is_hex = parts.iter().all(|p| p.len() == width && p.bytes().all(|b| b.is_ascii_hexdigit()));
    if separators.len() != 1 || !is_hex || ![6, 8, 20].contains(&bytes) {
        return Some("malformed");
    }
    (bytes > 6).then_some("too long")
}

/// Whether a port's name is valid in Kubernetes: at most 15 lower-case letters, digits and single hyphens, with at
/// least one letter.
pub(super) fn is_port_name(name: &str) -> bool {
    name.len() <= 15
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && name.bytes().any(|b| b.is_ascii_lowercase())
        && !name.contains("--")
        && !name.starts_with('-')
        && !name.ends_with('-')
}
