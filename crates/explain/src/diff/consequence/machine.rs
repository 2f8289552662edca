//! What an edit of a VirtualMachine does. Sources: KubeVirt `pkg/virt-controller/watch/vm/vm.go` (`syncRunStrategy`,
//! `syncRestartRequired`), `pkg/virt-api/webhooks/validating-webhook/admitters/pod-eviction-admitter.go`.

use super::Change;
use super::kubevirt::WORDS;
use super::said::sentence;
use super::shown::entries;
use crate::diff::consequence::Consequence;
use crate::prelude::*;

/// A disk can be plugged in and out, and its claim replaced by another.
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
    let mut own = labels.filter(|label| SHAPE.iter().any(|part| is_within(label, part)) && *label != EVICTION);
    let is_disk = |label: &str| ["disks[", "volumes["].iter().any(|list| label.contains(list));
    let is_plugged = |label: &str| label.ends_with(']') || CLAIMS.iter().any(|claim| label.contains(claim));
    let is_live = own.all(|label| {
        entries(&WORDS["live"]).iter().any(|(live, _)| is_within(label, live)) && (!is_disk(label) || is_plugged(label))
    });
    let name = if is_live { "machine-changes-live" } else { "machine-changes-at-start" };
    vec![sentence(name).about(change.object_name())]
}
