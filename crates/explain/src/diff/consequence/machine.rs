//! What an edit of a VirtualMachine does. Sources: KubeVirt `pkg/virt-controller/watch/vm/vm.go` (`syncRunStrategy`,
//! `syncRestartRequired`, `handleCPUChangeRequest`, `handleMemoryHotplugRequest`, `validLiveUpdateVolumes`),
//! `pkg/virt-api/webhooks/validating-webhook/admitters/pod-eviction-admitter.go`.

use std::cmp::Ordering;

use hcoplan_kubernetes::quantity::Quantity;

use super::Change;
use super::said::sentence;
use crate::diff::consequence::Consequence;
use crate::prelude::*;

/// Fields that KubeVirt changes in a running machine, where the machine and the cluster allow it.
const LIVE: [&str; 10] = [
    "spec.instancetype",
    "spec.template.spec.nodeSelector",
    "spec.template.spec.affinity",
    "spec.template.spec.tolerations",
    "spec.template.spec.domain.cpu.sockets",
    "spec.template.spec.domain.memory.guest",
    "spec.template.spec.domain.devices.disks",
    "spec.template.spec.domain.devices.interfaces",
    "spec.template.spec.networks",
    "spec.template.spec.volumes",
];

/// A claim of a volume that stays.
const CLAIMS: [&str; 2] = ["].dataVolume", "].persistentVolumeClaim"];

/// The parts that shape a machine's instances.
const SHAPE: [&str; 3] = ["spec.template", "spec.instancetype", "spec.preference"];

const EVICTION: &str = "spec.template.spec.evictionStrategy";

/// `running` is the older form of `runStrategy`.
pub(super) fn run_strategy(change: &Change<'_>) -> Vec<Consequence> {
    let strategy = |text: &Value, switch: &Value| match (text.as_str(), switch.as_bool()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(true)) => "Always".to_owned(),
        _ => "Halted".to_owned(),
    };
    let (texts, switches) = (change.at("spec.runStrategy"), change.at("spec.running"));
    let (was, is) = (strategy(texts.0, switches.0), strategy(texts.1, switches.1));
    let name = match (&*was, &*is) {
        (was, is) if was == is => return Vec::new(),
        (_, "Halted") => "machine-stops",
        ("Halted", "Always" | "RerunOnFailure" | "Once") => "machine-starts",
        (_, "Always") => "machine-run-again",
        (_, "RerunOnFailure") => "machine-run-until-success",
        (_, "Once") => "machine-run-once",
        _ => "machine-run-by-hand",
    };
    vec![sentence(name).about(change.object_name())]
}

/// Labels and annotations of the template, and most fields, are those of the next start.
pub(super) fn machine_template(change: &Change<'_>) -> Vec<Consequence> {
    let labels = change.object.fields.iter().map(|field| &*field.step.label);
    let own = labels.filter(|label| SHAPE.iter().any(|part| is_within(label, part)) && *label != EVICTION);
    let (of_metadata, fields): (Vec<&str>, Vec<&str>) =
        own.partition(|label| is_within(label, "spec.template.metadata"));
    let of_metadata = match &of_metadata[..] {
        [] => None,
        all if all.iter().all(|label| label.contains("descheduler.alpha.kubernetes.io/")) => {
            Some("machine-annotation-live")
        }
        _ => Some("machine-labels-at-start"),
    };
    let of_fields = (!fields.is_empty()).then(|| fields_change(change, &fields));
    of_metadata.into_iter().chain(of_fields).map(|name| sentence(name).about(change.object_name())).collect()
}

/// The sentence about changed fields of a machine's instance.
fn fields_change(change: &Change<'_>, fields: &[&str]) -> &'static str {
    let volumes = change.at("spec.template.spec.volumes");
    let is_plugged = |label: &str| {
        let name = label.split(['[', ']']).nth(1);
        let all = [volumes.0, volumes.1].into_iter().filter_map(Value::as_array).flatten();
        let mut own = all.filter(|volume| volume["name"].as_str() == name);
        own.any(|volume| {
            ["dataVolume", "persistentVolumeClaim"].iter().any(|claim| volume[claim]["hotpluggable"] == true)
        })
    };
    let is_moved = change.at("spec.updateVolumesStrategy").1 == "Migration";
    let is_claim = |label: &str| CLAIMS.iter().any(|claim| label.contains(claim)) && !is_plugged(label);
    let is_arm = change.at("spec.template.spec.architecture").1 == "arm64";
    // Fewer sockets, less memory and sockets of arm64 take a restart.
    let grows = |label: &&str| {
        let (was, is) = change.at(label);
        let amounts = Quantity::of(was).zip(Quantity::of(is));
        amounts.is_none_or(|(was, is)| was.cmp(&is) == Ordering::Less) && !(is_arm && label.ends_with(".sockets"))
    };
    let is_live = |label: &&str| match LIVE.iter().find(|live| is_within(label, live)) {
        Some(live) if live.ends_with("disks") || live.ends_with("volumes") => {
            is_plugged(label) || is_claim(label) && is_moved
        }
        Some(_) => grows(label),
        None => false,
    };
    let is_replaced = fields.iter().any(|label| is_claim(label));
    match fields.iter().all(is_live) {
        true if is_replaced => "machine-data-moves",
        true => "machine-changes-live",
        false if is_replaced && !is_moved => "machine-claim-replaced",
        false => "machine-changes-at-start",
    }
}
