//! What KubeVirt's settings do, apart from the rows of `rows.json`. Sources: `pkg/virt-config` (defaults),
//! `pkg/virt-controller/services` (launcher pods), `pkg/virt-handler`, v1.6 to v1.9.

use super::Change;
use super::said::{Said, said, sentence};
use super::shown::{entries, list, names_changed, selector, summary};
use crate::diff::consequence::Consequence;
use crate::diff::gates;
use crate::docs::gate_effect;
use crate::prelude::*;
use hcoplan_planner::topology::Selection;

/// Source: `pkg/virt-handler/device-manager/mediated_devices_types.go` and `pkg/virt-config`: the switch, and before it
/// a gate, stop the handling; existing devices stay.
pub(super) fn mediated_devices(change: &Change<'_>) -> Vec<Consequence> {
    match (handles_mediated_devices(&change.object.before), handles_mediated_devices(&change.object.after)) {
        (true, true) => {}
        (false, false) => return Vec::new(),
        (_, is_on) => return vec![mediated_devices_switched(is_on)],
    }
    let mut nodes = change.sides.nodes.to_vec();
    if nodes.is_empty() {
        nodes.push(Node { name: "the other nodes".to_owned(), ..Node::default() });
        for own in [change.before, change.after].into_iter().flat_map(|s| elements(&s["nodeMediatedDeviceTypes"])) {
            let name = format!("nodes with {}", selector(&own["nodeSelector"]).join(", "));
            let labels = BTreeMap::deserialize(&own["nodeSelector"]).unwrap_or_default();
            nodes.push(Node { name, labels, ..Node::default() });
        }
    }
    let mut moves = BTreeMap::<(bool, String), Vec<&str>>::new();
    for node in &nodes {
        let (was, is) = (mediated_types(change.before, node), mediated_types(change.after, node));
        for name in was.symmetric_difference(&is) {
            moves.entry((is.contains(name), name.clone())).or_default().push(&node.name);
        }
    }
    let said = |((is_new, name), on): ((bool, String), Vec<&str>)| {
        let on = if on.len() == nodes.len() { "every node".to_owned() } else { list(&on) };
        sentence(if is_new { "mediated-created" } else { "mediated-removed" }).fill(&[("nodes", &on)]).about(name)
    };
    moves.into_iter().map(said).collect()
}

/// The types that virt-handler creates on a node: those for the node replace the cluster's. Source: `GetDesiredMDEVTypes`.
fn mediated_types(section: &Value, node: &Node) -> BTreeSet<String> {
    let types = |section: &Value| {
        // The second is the old spelling.
        let lists = ["mediatedDeviceTypes", "mediatedDevicesTypes"].map(|key| entries(&section[key]));
        lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default()
    };
    let fits = |one: &&Value| Selection::of(one).is_none_or(|selection| selection.selects(node));
    let own: Vec<_> = elements(&section["nodeMediatedDeviceTypes"]).filter(fits).flat_map(types).collect();
    let all = if own.is_empty() { types(section) } else { own };
    all.into_iter().map(|(name, _)| name).collect()
}

/// Whether virt-handler handles mediated devices: neither the switch nor, in older releases, the gate is against it.
fn handles_mediated_devices(kubevirt: &Option<Arc<Value>>) -> bool {
    let configuration = &kubevirt.as_deref().unwrap_or(&Value::Null)["spec"]["configuration"];
    let gates = entries(&configuration["developerConfiguration"]["featureGates"]);
    configuration["mediatedDevicesConfiguration"]["enabled"] != false
        && !gates.iter().any(|(gate, _)| gate == MEDIATED_GATE)
}

fn mediated_devices_switched(is_on: bool) -> Consequence {
    sentence(if is_on { "mediated-on" } else { "mediated-off" }).plain()
}

const MEDIATED_GATE: &str = "DisableMDEVConfiguration";

/// Source: `pkg/virt-controller/services/renderresources.go`: vCPUs divided by the ratio, and guest memory times 100
/// divided by the percentage (`WithMemoryRequests`).
pub(super) fn ratio(change: &Change<'_>) -> Vec<Consequence> {
    let is_memory = change.path.ends_with("memoryOvercommit");
    let (name, default, whole) = if is_memory { ("memory-overcommit", 100, 10_000) } else { ("cpu-ratio", 10, 1000) };
    let [was, is] = [change.before, change.after].map(|value| value.as_u64().filter(|n| *n > 0).unwrap_or(default));
    let values: [(&str, &dyn Display); 4] =
        [("share", &(whole / is)), ("share before", &(whole / was)), ("is", &is), ("was", &was)];
    if was == is { Vec::new() } else { vec![sentence(name).fill(&values)] }
}

/// `machinesNeed`: the gates without which KubeVirt's webhook rejects virtual machines; `on`: what gates let users of
/// VMs do on nodes; `off`: what happens without a gate; `updates`: what methods of
/// updates do; `live`: the fields that KubeVirt changes in a running machine, where the machine and the cluster allow it.
/// Sources: KubeVirt `pkg/virt-api/webhooks/validating-webhook` (an empty CD-ROM needs
/// DeclarativeHotplugVolumes, a persistent TPM VMPersistentState), `pkg/storage/admitters` and `pkg/virt-config/featuregate`.
pub(super) static WORDS: Table<Value> = Table::of(include_str!("kubevirt.json"));

/// The states of KubeVirt's features, from both lists and what its release makes of them.
pub(super) fn feature_gates(change: &Change<'_>) -> Vec<Consequence> {
    let (old, new) = (&change.object.before, &change.object.after);
    // In releases with the section it decides, with the gate's old name.
    let reservation = "PersistentReservation".to_owned();
    let state = |release: &Release, body: &Option<Arc<Value>>| {
        let body = body.as_deref().unwrap_or(&Value::Null);
        let configuration = &body["spec"]["configuration"];
        let listed = entries(&configuration["developerConfiguration"]["featureGates"]);
        let mut on = gates::enabled(release, body);
        on.remove(&reservation);
        let is_on = configuration["persistentReservationConfiguration"]["enabled"] == true;
        on.extend((is_on || listed.iter().any(|(gate, _)| *gate == reservation)).then(|| reservation.clone()));
        on
    };
    let (was, is) = (state(change.sides.before, old), state(change.sides.after, new));
    let switches = |gate: &str| was.contains(gate) != is.contains(gate);
    let matters = |gate: &&String| {
        // The section's own row says more; HCO switches these with another gate.
        match gate.as_str() {
            MEDIATED_GATE => return false,
            "HotplugVolumes" if switches("DeclarativeHotplugVolumes") => return false,
            "UtilityVolumes" if switches("IncrementalBackup") => return false,
            _ => {}
        }
        let known = [change.sides.before, change.sides.after].map(|release| release.kubevirt_gate(gate));
        !known.iter().flatten().any(|known| known.is_unread)
    };
    let mut out = Vec::new();
    let (section_was, section_is) = change.at("spec.configuration.mediatedDevicesConfiguration");
    if section_was == section_is && handles_mediated_devices(old) != handles_mediated_devices(new) {
        out.push(mediated_devices_switched(handles_mediated_devices(new)));
    }
    for gate in is.difference(&was).filter(matters) {
        out.push(switched(change.sides.after, gate, said(&WORDS["on"][gate]), ["feature-gates-on", "gate-on"]));
    }
    for gate in was.difference(&is).filter(matters) {
        let is_needed = entries(&WORDS["machinesNeed"]).iter().any(|(name, _)| name == gate);
        let names =
            if is_needed { ["feature-gates-rejected", "gate-rejected"] } else { ["feature-gates-off", "gate-off"] };
        out.push(switched(change.sides.before, gate, said(&WORDS["off"][gate]), names));
        out.extend((*gate == reservation).then(|| sentence("feature-gates-unreserved").plain()));
    }
    out
}

/// A gate that is switched, by its name and effect in HCO if it is one of HCO's, too.
fn switched(release: &Release, gate: &str, own: Option<Said>, [of_kubevirt, of_hco]: [&str; 2]) -> Consequence {
    let mut known = release.tables().feature_gates.iter().map(|known| known.name.as_str());
    let known = known.find(|name| name.eq_ignore_ascii_case(gate));
    let Some((name, effect)) = known.and_then(|name| Some((name, gate_effect(name)?))) else {
        return own.unwrap_or_else(|| sentence(of_kubevirt)).about(gate);
    };
    // The effect is a sentence without a subject.
    let (first, rest) = effect.trim_end_matches('.').split_at(1);
    let does = first.to_ascii_lowercase() + rest;
    let maturity = release.gate_maturity(name).map_or_else(String::new, |maturity| format!(" ({maturity})"));
    let said = own.unwrap_or_else(|| sentence(of_hco));
    said.fill(&[("does", &does), ("maturity", &maturity)]).about(name)
}

/// Sources: `pkg/virt-handler/device-manager`: another device plugin hands out a device with `externalResourceProvider`;
/// `validatePermittedHostDevices` in `pkg/virt-controller/services`: without the section, nothing is checked.
pub(super) fn host_devices(change: &Change<'_>) -> Vec<Consequence> {
    let is_external = |device: &Value| device["externalResourceProvider"] == true;
    let devices = names_changed(change.before, change.after);
    if devices.is_empty() && change.before.is_null() != change.after.is_null() {
        return vec![
            sentence(if change.after.is_null() { "host-devices-unlisted" } else { "host-devices-none" }).plain(),
        ];
    }
    let said = devices.into_iter().map(|(name, was, is)| {
        let said = match (was.is_null(), is.is_null(), is_external(&was), is_external(&is)) {
            (true, ..) => sentence("host-devices-allowed"),
            (_, true, ..) => sentence("host-devices-gone"),
            (_, _, false, true) => sentence("host-devices-external"),
            (_, _, true, false) => sentence("host-devices-own"),
            _ => sentence("host-devices-other"),
        };
        said.turns(summary(&is), summary(&was)).about(name)
    });
    said.collect()
}

/// The other operands have a profile.
pub(super) fn tls(change: &Change<'_>) -> Vec<Consequence> {
    tls_clients("KubeVirt", written_tls(change.before), written_tls(change.after))
}

/// `minTLSVersion` and ciphers as they are written.
pub(super) fn written_tls(value: &Value) -> (String, BTreeSet<String>) {
    let version = value["minTLSVersion"].as_str().unwrap_or("VersionTLS12");
    (version.to_owned(), entries(&value["ciphers"]).into_iter().map(|(name, _)| name).collect())
}

/// The clients that a server refuses, or lets in: minimum version and ciphers of both sides.
pub(super) fn tls_clients(
    server: &str,
    was: (String, BTreeSet<String>),
    is: (String, BTreeSet<String>),
) -> Vec<Consequence> {
    let words = |version: &str| match version.strip_prefix("VersionTLS1") {
        Some(minor) => format!("TLS 1.{minor}"),
        None => version.to_owned(),
    };
    // Without a list there is nothing to choose from; another version brings ciphers of its own.
    let are_listed = !was.1.is_empty() && !is.1.is_empty();
    let cases = [
        ("tls-clients-raised", is.0 > was.0),
        ("tls-clients-lowered", is.0 < was.0),
        ("tls-clients-fewer", are_listed && is.0 <= was.0 && !was.1.is_subset(&is.1)),
        ("tls-clients-more", are_listed && is.0 >= was.0 && !is.1.is_subset(&was.1)),
    ];
    let said = cases.into_iter().filter(|(_, holds)| *holds);
    said.map(|(name, _)| sentence(name).turns(words(&is.0), words(&was.0)).about(server)).collect()
}
