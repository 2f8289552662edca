//! What an edit of a VirtualMachine does. Sources: KubeVirt `pkg/virt-controller/watch/vm/vm.go` (`syncRunStrategy`,
//! `syncRestartRequired`, `handleCPUChangeRequest`, `handleMemoryHotplugRequest`, `validLiveUpdateVolumes`),
//! `pkg/virt-api/webhooks/validating-webhook/admitters/pod-eviction-admitter.go`.

use std::cmp::Ordering;

use hcoplan_kubernetes::quantity::Quantity;

use super::Change;
use super::kubevirt::WORDS;
use super::said::sentence;
use super::shown::{entries, names_changed};
use crate::diff::consequence::Consequence;
use crate::prelude::*;

const METADATA: &str = "spec.template.metadata";

/// The sources of a volume that are claims.
const CLAIMS: [&str; 2] = ["dataVolume", "persistentVolumeClaim"];

/// The parts that shape a machine's instances.
const SHAPE: [&str; 3] = ["spec.template", "spec.instancetype", "spec.preference"];

const ARCHITECTURE: &str = "spec.template.spec.architecture";

const EVICTION: &str = "spec.template.spec.evictionStrategy";

/// `running` is the older form of `runStrategy`.
pub(super) fn run_strategy(change: &Change<'_>) -> Vec<Consequence> {
    let (texts, switches) = (change.at("spec.runStrategy"), change.at("spec.running"));
    let strategies = [(texts.0, switches.0), (texts.1, switches.1)]
        .map(|(text, switch)| text.as_str().unwrap_or(if *switch == true { "Always" } else { "Halted" }));
    let name = match strategies.into() {
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
    let stays = disk_stays(change);
    let labels = labels.filter(|label| stays.is_none() || *label != ARCHITECTURE);
    let own = labels.filter(|label| SHAPE.iter().any(|part| is_within(label, part)) && *label != EVICTION);
    let (metadata, fields): (Vec<&str>, Vec<&str>) = own.partition(|label| is_within(label, METADATA));
    let [labels, annotations] = ["labels", "annotations"].map(|part| change.at(&format!("{METADATA}.{part}")));
    let mut changed = names_changed(annotations.0, annotations.1).into_iter();
    let is_live =
        labels.0 == labels.1 && changed.all(|(name, ..)| name.starts_with("descheduler.alpha.kubernetes.io/"));
    let of_metadata = if is_live { "machine-annotation-live" } else { "machine-labels-at-start" };
    let of_metadata = (!metadata.is_empty()).then_some(of_metadata);
    let of_fields = (!fields.is_empty()).then(|| fields_change(change, &fields));
    let others = of_metadata.into_iter().chain(of_fields).map(|name| sentence(name).about(change.object_name()));
    stays.into_iter().chain(others).collect()
}

/// A machine that becomes one of another architecture, and boots from the claim that it has.
fn disk_stays(change: &Change<'_>) -> Option<Consequence> {
    let (was, is) = change.at(ARCHITECTURE);
    let (was, is) = was.as_str().zip(is.as_str()).filter(|(was, is)| was != is)?;
    let [disks, volumes, templates] =
        ["spec.template.spec.domain.devices.disks", "spec.template.spec.volumes", "spec.dataVolumeTemplates"]
            .map(|path| change.at(path));
    let claim = boot_claim(disks.0, volumes.0).filter(|claim| boot_claim(disks.1, volumes.1) == Some(claim))?;
    let said = sentence("machine-disk-stays").fill(&[("was", &was), ("is", &is), ("claim", &claim)]);
    // With the same template, the disk may be one for the new architecture already.
    let certain = templates.0 != templates.1;
    Some(Consequence { certain, ..said.about(change.object_name()) })
}

/// The claim of the disk with the lowest `bootOrder`, else of the first one.
fn boot_claim<'v>(disks: &'v Value, volumes: &'v Value) -> Option<&'v str> {
    let disks = disks.as_array().into_iter().flatten();
    let first = disks.min_by_key(|disk| disk["bootOrder"].as_u64().unwrap_or(u64::MAX));
    let mut volumes = volumes.as_array()?.iter();
    let volume = volumes.find(|volume| first.is_none_or(|disk| disk["name"] == volume["name"]))?;
    volume["dataVolume"]["name"].as_str().or(volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// The sentence about changed fields of a machine's instance.
fn fields_change(change: &Change<'_>, fields: &[&str]) -> &'static str {
    let [volumes, disks] =
        ["spec.template.spec.volumes", "spec.template.spec.domain.devices.disks"].map(|path| change.at(path));
    let is_hot = |volume: &Value| CLAIMS.iter().any(|claim| volume[claim]["hotpluggable"] == true);
    let has_claim = |volume: &Value| CLAIMS.iter().any(|claim| !volume[claim].is_null());
    let is_plugged = |name: &str| {
        let mut all = entries(volumes.0).into_iter().chain(entries(volumes.1));
        all.any(|(own, volume)| own == name && is_hot(&volume))
    };
    let mut cold = names_changed(volumes.0, volumes.1);
    cold.retain(|(name, ..)| !is_plugged(name));
    let keeps_claim = |(_, was, is): &(String, Value, Value)| has_claim(was) && has_claim(is);
    let is_replaced = cold.iter().any(keeps_claim);
    let is_moved = change.at("spec.updateVolumesStrategy").1 == "Migration" && cold.iter().all(keeps_claim);
    let is_arm = change.at(ARCHITECTURE).1 == "arm64";
    // Fewer sockets, less memory and sockets of arm64 take a restart.
    let grows = |label: &&str| {
        let (was, is) = change.at(label);
        let amounts = Quantity::of(was).zip(Quantity::of(is));
        amounts.is_none_or(|(was, is)| was.cmp(&is) == Ordering::Less) && !(is_arm && label.ends_with(".sockets"))
    };
    let live = entries(&WORDS["live"]);
    let is_live = |label: &&str| match live.iter().find(|(live, _)| is_within(label, live)) {
        Some((live, _)) if live.ends_with("disks") => {
            names_changed(disks.0, disks.1).iter().all(|(name, ..)| is_plugged(name))
        }
        Some((live, _)) if live.ends_with("volumes") => cold.is_empty() || is_moved,
        Some(_) => grows(label),
        None => false,
    };
    match (fields.iter().all(is_live), is_replaced) {
        (true, true) => "machine-data-moves",
        (true, false) => "machine-changes-live",
        (false, true) if !is_moved => "machine-claim-replaced",
        _ => "machine-changes-at-start",
    }
}
