//! The effects of a change on imported disks, as CDI's stage has it.

use super::effect_of;
use crate::prelude::*;
use hcoplan_diagnostics::words::plural;
use hcoplan_kubernetes::quantity::Quantity;
use hcoplan_planner::boot_images::cdi_stage::CronStep;

/// CDI's default of `importsToKeep`.
const KEPT: usize = 3;

/// The effects on imported disks, over all images.
pub(super) fn effects(changes: &[ObjectChange], steps: &[CronStep<'_>]) -> Vec<Effect> {
    let mut out: Vec<Effect> =
        steps.iter().filter_map(|step| stale(changes, *step).or_else(|| again(changes, *step))).collect();
    let (mut imported, mut deleted, mut kept) = (Disks::default(), Disks::default(), Disks::default());
    for step in steps {
        if let Some(before) = step.before {
            if step.deletes_disks() {
                deleted.add(before, imports_to_keep(before));
            } else if step.after.is_none() {
                kept.add(before, imports_to_keep(before));
            }
        }
        if let Some(after) = step.after.filter(|_| step.imports()) {
            imported.add(after, 1);
        }
    }
    let parts =
        [(imported, "imported"), (deleted, "deleted, if they exist"), (kept, "kept without updates, if they exist")];
    let parts: Vec<String> =
        parts.iter().filter(|(disks, _)| disks.count > 0).map(|(disks, what)| format!("{disks} {what}")).collect();
    if !parts.is_empty() {
        let crons = changes.iter().filter(|c| c.id.kind == "DataImportCron");
        out.push(Effect { causes: causes(crons), ..effect_of("all-disks", &[&parts.join("; ")]) });
    }
    out
}

/// A disk that isn't imported again although another architecture is requested.
fn stale(changes: &[ObjectChange], step: CronStep<'_>) -> Option<Effect> {
    const PLATFORM: &str = "/spec/template/spec/source/registry/platform/architecture";
    let (before, after) = (step.before?, step.after?);
    let [old, new] = [before, after].map(|cron| text(cron.pointer(PLATFORM)));
    if old == new || !step.is_recreated() || step.imports() {
        return None;
    }
    let wanted = if new.is_empty() { "of the node that imports it".to_owned() } else { format!("for {new}") };
    Some(Effect { certain: false, ..effect(changes, after, "not-imported-again", &[&wanted]) })
}

/// Disks that are deleted with their DataImportCron and imported again by its replacement.
fn again(changes: &[ObjectChange], step: CronStep<'_>) -> Option<Effect> {
    let after = step.after.filter(|_| step.is_recreated() && step.deletes_disks())?;
    Some(effect(changes, after, "created-again", &[]))
}

fn effect(changes: &[ObjectChange], cron: &Value, row: &str, about: &[&str]) -> Effect {
    let is_it = |change: &&ObjectChange| change.after.as_deref() == Some(cron);
    let name = text(&cron["metadata"]["name"]).to_owned();
    Effect { subjects: vec![name], causes: causes(changes.iter().filter(is_it)), ..effect_of(row, about) }
}

pub(super) fn causes<'c>(changes: impl Iterator<Item = &'c ObjectChange>) -> Vec<usize> {
    let of = |change: &'c ObjectChange| change.causes.iter().chain(change.fields.iter().flat_map(|f| &f.causes));
    let all: BTreeSet<usize> = changes.flat_map(of).copied().collect();
    all.into_iter().collect()
}

fn imports_to_keep(cron: &Value) -> usize {
    cron["spec"]["importsToKeep"].as_u64().map_or(KEPT, |kept| kept as usize)
}

/// Disks and their total size.
#[derive(Default)]
struct Disks {
    count: usize,
    bytes: u128,
}

impl Disks {
    fn add(&mut self, cron: &Value, count: usize) {
        let spec = &cron["spec"]["template"]["spec"];
        let size = ["storage", "pvc"].iter().find_map(|key| spec[key]["resources"]["requests"]["storage"].as_str());
        let bytes = size.and_then(|size| Quantity::parse(size).ok()).map_or(0, |q| q.scaled(0));
        self.count += count;
        self.bytes += u128::from(u64::try_from(bytes).unwrap_or_default()) * count as u128;
    }
}

impl std::fmt::Display for Disks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gib = self.bytes.div_ceil(1 << 30);
        write!(f, "{} ({gib} GiB)", plural(self.count, "disk"))
    }
}
