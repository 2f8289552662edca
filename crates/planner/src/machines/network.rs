//! Checks interfaces and networks of an instance.
//!
//! Source: `pkg/network/admitter`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use super::Reason;
use super::checker::{Checker, dangling, list, number, repeats, text};
use super::tables::{count, unsupported};

const INTERFACES: &str = "domain.devices.interfaces";
const BINDINGS: [&str; 4] = ["bridge", "masquerade", "sriov", "passtBinding"];
impl Checker<'_> {
    pub(super) fn networks(&mut self) {
        self.network_sources();
        self.claimed_networks();
        let networks = self.by_name("networks");
        let interfaces = self.by_name(INTERFACES);
        let names = |path: &str| self.list(path).iter().map(|element| text(&element["name"]));
        let free: Vec<&str> = names("networks").filter(|n| !interfaces.contains_key(n)).collect();
        let unused: Vec<&str> = names(INTERFACES).filter(|n| !networks.contains_key(n)).collect();
        let is_default = |n: &&Value| !n["pod"].is_null() || n["multus"]["default"] == true;
        let default = self.list("networks").iter().find(is_default).map(|n| text(&n["name"]));
        for (path, interface) in self.each("domain.devices.interfaces[]") {
            let name = text(&interface["name"]);
            let (index, network) = networks.get(name).map_or((None, &Value::Null), |(i, network)| (Some(*i), *network));
            self.state(&path, interface, default == Some(name));
            self.binding(&path, interface, network, index);
            self.interface(&path, interface, network);
            if network.is_null() {
                let reason = dangling(name, free.iter().copied());
                let message = format!("{}.name '{name}' not found.", self.name(&path));
                self.reject(&format!("{path}.name"), reason, message);
            }
        }
        for (i, name, other) in self.repeated("networks") {
            let message = format!("Network with name \"{name}\" already exists, every network must have a unique name");
            let reason = Reason::Duplicate(self.path(&format!("networks[{other}]")));
            self.reject(&format!("networks[{i}].name"), reason, message);
        }
        for (i, _, other) in self.repeated(INTERFACES) {
            let message = "Only one interface can be connected to one specific network";
            let reason = Reason::Duplicate(self.path(&format!("{INTERFACES}[{other}]")));
            self.reject(&format!("{INTERFACES}[{i}].name"), reason, message);
        }
        for (path, network) in self.each("networks[]") {
            let name = text(&network["name"]);
            let path = format!("{path}.name");
            if !interfaces.contains_key(name) {
                let message = format!("{} '{name}' not found.", self.name(&path));
                self.reject(&path, dangling(name, unused.iter().copied()), message);
            }
        }
    }

    fn network_sources(&mut self) {
        let pods = self.each("networks[].pod");
        let defaults: Vec<_> =
            self.each("networks[].multus.default").into_iter().filter(|(_, v)| **v == true).collect();
        if let [_, (second, _), ..] = &pods[..] {
            let message =
                format!("more than one interface is connected to a pod network in {}", self.name("interfaces"));
            self.reject(second, Reason::NotExactlyOne, message);
        }
        if let [_, (second, _), ..] = &defaults[..] {
            self.reject(second, Reason::NotExactlyOne, "Multus CNI should only have one default network");
        }
        if let ([(pod, _), ..], [(default, _), ..]) = (&pods[..], &defaults[..]) {
            let message = "Pod network cannot be defined when Multus default network is defined";
            self.reject(default, Reason::Contradicts(self.path(pod)), message);
        }
    }

    /// Checks networks from resource claims.
    fn claimed_networks(&mut self) {
        let claimed = self.each("networks[].resourceClaim");
        let Some((first, _)) = claimed.first() else {
            return;
        };
        let message = "vmi.spec.networks contains DRA networks but NetworkDevicesWithDRA feature gate is not enabled";
        if self.needs_gate("NetworkDevicesWithDRA", first, message) {
            return;
        }
        if let [(multus, _), ..] = &self.each("networks[].multus")[..] {
            let message = "mixing Multus and DRA resourceClaim networks in the same VMI is not supported";
            self.reject(first, Reason::Contradicts(self.path(multus)), message);
            return;
        }
        let known = self.by_name("resourceClaims");
        let interfaces = self.by_name(INTERFACES);
        let mut pairs: HashMap<String, String> = HashMap::new();
        for (path, claim) in claimed {
            let network = path.strip_suffix(".resourceClaim").unwrap_or(&path);
            let name = text(&super::checker::at(self.spec, network)["name"]);
            if let Some((i, _)) = interfaces.get(name).filter(|(_, i)| count(i, &["sriov", "binding"]) == 0) {
                let message = format!("DRA network \"{name}\" requires an SR-IOV or binding plugin interface");
                self.reject(&format!("{INTERFACES}[{i}]"), Reason::Needs(self.path(network)), message);
            }
            let names = ["claimName", "requestName"].map(|field| (field, text(&claim[field])));
            for (field, _) in names.iter().filter(|(_, name)| name.is_empty()) {
                self.reject(&path, Reason::Missing, format!("{field} is required for DRA network"));
            }
            let [(_, claim_name), (_, request)] = names;
            if claim_name.is_empty() || request.is_empty() {
                continue;
            }
            if !known.contains_key(claim_name) {
                let message = format!(
                    "network references resourceClaim \"{claim_name}\" which is not defined in spec.resourceClaims"
                );
                let reason = dangling(claim_name, self.list("resourceClaims").iter().map(|c| text(&c["name"])));
                self.reject(&format!("{path}.claimName"), reason, message);
            }
            let pair = format!("{claim_name}/{request}");
            match pairs.get(&pair) {
                Some(other) => {
                    let reason = Reason::Duplicate(self.path(other));
                    self.reject(&path, reason, format!("duplicate claimName/requestName combination \"{pair}\""));
                }
                None => drop(pairs.insert(pair, path)),
            }
        }
    }

    fn state(&mut self, path: &str, interface: &Value, is_default: bool) {
        let (name, state) = (text(&interface["name"]), text(&interface["state"]));
        let at = format!("{path}.state");
        if state == "absent" && is_default {
            let message = format!("\"{name}\" interface's state \"{state}\" is not supported on default networks");
            self.reject(&at, Reason::Contradicts(self.path("networks")), message);
        }
    }

    fn binding(&mut self, path: &str, interface: &Value, network: &Value, index: Option<usize>) {
        let name = text(&interface["name"]);
        let (methods, plugin) = (count(interface, &BINDINGS), usize::from(!interface["binding"].is_null()));
        if self.cluster.admits("exactly-one-binding") {
            if methods + plugin != 1 {
                let message =
                    format!("logical {name} interface must have exactly one binding method or binding plugin");
                self.reject(path, Reason::NotExactlyOne, message);
            }
        } else if plugin == 1 && methods > 0 {
            let message =
                format!("logical {name} interface cannot have both binding plugin and interface binding method");
            self.reject(&format!("{path}.binding"), Reason::NotExactlyOne, message);
        }
        let is_pod = !network["pod"].is_null();
        for (binding, message) in [
            ("masquerade", "Masquerade interface only implemented with pod network"),
            ("passtBinding", "PasstBinding interface only implemented with pod network"),
        ] {
            if !interface[binding].is_null() && !is_pod {
                let with = index.map_or_else(|| "networks".to_owned(), |i| format!("networks[{i}]"));
                self.reject(&format!("{path}.{binding}"), Reason::Contradicts(self.path(&with)), message);
            }
        }
        let permitted = &self.cluster.configuration()["network"]["permitBridgeInterfaceOnPodNetwork"];
        if !interface["bridge"].is_null() && is_pod && *permitted == false {
            let message = "Bridge on pod network configuration is not enabled under kubevirt-config";
            self.reject(&format!("{path}.bridge"), Reason::Removed, message);
        }
    }

    fn interface(&mut self, path: &str, interface: &Value, network: &Value) {
        let name = self.name(path);
        let mac = text(&interface["macAddress"]);
        if let Some(problem) = mac_problem(mac).filter(|_| !mac.is_empty()) {
            let message = format!("interface {name}.name has {problem} MAC address ({mac}).");
            self.reject(&format!("{path}.macAddress"), Reason::Malformed, message);
        }
        if !network["pod"].is_null() {
            self.ports(path, list(&interface["ports"]));
        }
        self.dhcp(path, &interface["dhcpOptions"]);
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

    fn dhcp(&mut self, path: &str, options: &Value) {
        let private = list(&options["privateOptions"]);
        let mut first = HashMap::new();
        for (i, option) in private.iter().enumerate() {
            let at = format!("{path}.dhcpOptions.privateOptions[{i}].option");
            let other = *first.entry(option["option"].as_i64()).or_insert(i);
            if other < i {
                let message = "Found Duplicates: you have provided duplicate DHCPPrivateOptions";
                let other = self.path(&format!("{path}.dhcpOptions.privateOptions[{other}]"));
                self.reject(&at, Reason::Duplicate(other), message);
            }
            if !(224..=254).contains(&number(&option["option"])) {
                let message = "provided DHCPPrivateOptions are out of range, must be in range 224 to 254";
                self.reject(&at, Reason::OutOfRange, message);
            }
        }
        for (i, server) in list(&options["ntpServers"]).iter().enumerate() {
            if text(server).parse::<Ipv4Addr>().is_err() {
                let at = format!("{path}.dhcpOptions.ntpServers[{i}]");
                self.reject(&at, Reason::Malformed, "NTP servers must be a list of valid IPv4 addresses.");
            }
        }
    }

    /// Checks DNS settings.
    pub(super) fn dns(&mut self) {
        const CONFIG: &str = "dnsConfig";
        let config = self.get(CONFIG);
        let servers = list(&config["nameservers"]);
        if self.text("dnsPolicy") == "None" {
            if config.is_null() {
                self.reject(
                    "dnsPolicy",
                    Reason::Needs(self.path(CONFIG)),
                    "must provide `dnsConfig` when `dnsPolicy` is None",
                );
                return;
            }
            if servers.is_empty() {
                let message = "must provide at least one DNS nameserver when `dnsPolicy` is None";
                self.reject(CONFIG, Reason::Missing, message);
                return;
            }
        }
        if servers.len() > 3 {
            let shown: Vec<&str> = servers.iter().map(text).collect();
            let message = format!("must not have more than 3 nameservers: [{}]", shown.join(" "));
            self.reject("dnsConfig.nameservers", Reason::OutOfRange, message);
        }
        for (i, server) in servers.iter().enumerate() {
            if text(server).parse::<IpAddr>().is_err() {
                let message = format!("must be valid IP address: {}", text(server));
                self.reject(&format!("dnsConfig.nameservers[{i}]"), Reason::Malformed, message);
            }
        }
        let searches: Vec<&str> = list(&config["searches"]).iter().map(text).collect();
        if searches.len() > 6 {
            self.reject("dnsConfig.searches", Reason::OutOfRange, "must not have more than 6 search paths");
        }
        if searches.join(" ").len() > 256 {
            let message = "must not have more than 256 characters (including spaces) in the search list";
            self.reject("dnsConfig.searches", Reason::OutOfRange, message);
        }
        for (i, search) in searches.iter().enumerate() {
            for message in hcoplan_kubernetes::label::subdomain_problems(search) {
                self.reject(&format!("dnsConfig.searches[{i}]"), Reason::Malformed, message);
            }
        }
        for (path, option) in self.each("dnsConfig.options[]") {
            if text(&option["name"]).is_empty() {
                self.reject(&path, Reason::Missing, "Option.Name must not be empty");
            }
        }
    }
}

/// The problem of a MAC address according to Go's `net.ParseMAC` and KubeVirt.
fn mac_problem(mac: &str) -> Option<&'static str> {
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
