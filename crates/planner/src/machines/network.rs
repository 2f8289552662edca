//! Checks interfaces and networks of an instance.
//!
//! Source: `pkg/network/admitter`.

use std::collections::HashMap;

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, list, number, repeats, text, unsupported};

impl Checker<'_> {
    pub(super) fn networks(&mut self) {
        self.rows("networks");
        self.rows("claimed-networks");
        if self.cluster.configuration()["network"]["permitBridgeInterfaceOnPodNetwork"] == false {
            self.rows("bridge");
        }
        for (path, interface) in self.each("domain.devices.interfaces[]") {
            if !self.find(&path, interface, ">networks:pod").1.is_null() {
                self.ports(&path, list(&interface["ports"]));
            }
        }
    }

    fn ports(&mut self, path: &str, ports: &[Value]) {
        let repeated: HashMap<usize, usize> =
            repeats(ports.iter().map(|p| text(&p["name"]))).map(|(i, _, other)| (i, other)).collect();
        let maximum = if self.cluster.admits("ports-below-65536") { 65_535 } else { 65_536 };
        for (i, port) in ports.iter().enumerate() {
            let at = |field: &str| format!("{path}.ports[{i}].{field}");
            let name = text(&port["name"]);
            if !name.is_empty() {
                if let Some(other) = repeated.get(&i) {
                    let reason = Reason::Duplicate(self.path(&format!("{path}.ports[{other}]")));
                    self.reject(&at("name"), reason, format!("Duplicate name of the port: {name}"));
                }
                if !is_port_name(name) {
                    self.reject(&at("name"), Reason::Malformed, format!("Invalid name of the port: {name}"));
                }
            }
            match number(&port["port"]) {
                0 => self.reject(&at("port"), Reason::Missing, "Port field is mandatory."),
                n if n < 0 || n > maximum => {
                    self.reject(&at("port"), Reason::OutOfRange, "Port field must be in range 0 < x < 65536.");
                }
                _ => {}
            }
            if !matches!(text(&port["protocol"]), "" | "TCP" | "UDP") {
                let message = "Unknown protocol, only TCP or UDP allowed";
                self.reject(&at("protocol"), unsupported(&["TCP", "UDP"]), message);
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
fn is_port_name(name: &str) -> bool {
    name.len() <= 15
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && name.bytes().any(|b| b.is_ascii_lowercase())
        && !name.contains("--")
        && !name.starts_with('-')
        && !name.ends_with('-')
}
