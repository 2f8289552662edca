//! The effects of a change on imported disks.
//!
//! Source: CDI rejects a change of a DataImportCron's spec (`pkg/apiserver/webhooks/dataimportcron-validate.go`), so
//! SSP deletes and creates it (`internal/common/resource.go`, `createOrUpdateWithImmutableSpec`). With
//! `retentionPolicy: None` the deletion of a DataImportCron deletes its DataSource and all that it imported, else
//! nothing (`cleanup` of `pkg/controller/dataimportcron-controller.go`). A disk is named after the image's digest
//! (`createDvName`), which is the same for each architecture of a list: CDI doesn't import it again while a disk of
//! this name exists. All of this
//! is the same at CDI v1.63.1, v1.64.0, v1.65.0 and v1.66.0, and at SSP v0.24.1, v0.25.0 and v0.26.0.

use super::effect_of;
use crate::prelude::*;
use hcoplan_diagnostics::words::plural;
use hcoplan_kubernetes::quantity::Quantity;

/// CDI's default of `importsToKeep`.
const KEPT: usize = 3;

/// Whether a change removes a DataImportCron.
pub(super) fn goes(change: &ObjectChange) -> bool {
    change.id.kind == "DataImportCron" && (change.kind == Kind::Remove || change.instead_of.is_some())
}

/// Whether a DataImportCron is deleted and created again.
fn is_recreated(change: &ObjectChange) -> bool {
    let sides = change.before.as_deref().zip(change.after.as_deref());
    change.kind == Kind::Change && sides.is_some_and(|(before, after)| before["spec"] != after["spec"])
}

/// Whether deleting a DataImportCron deletes its imports.
pub(super) fn takes_disks(cron: &Value) -> bool {
    cron["spec"]["retentionPolicy"] == "None"
}

/// The effects on imported disks, over all images.
pub(super) fn effects(changes: &[ObjectChange]) -> Vec<Effect> {
    let crons = || changes.iter().filter(|c| c.id.kind == "DataImportCron");
    let mut out: Vec<Effect> = crons().filter_map(|change| stale(change).or_else(|| again(change))).collect();
    let (mut imported, mut deleted, mut kept) = (Disks::default(), Disks::default(), Disks::default());
    for change in crons() {
        if let Some(before) = change.before.as_deref().filter(|_| goes(change) || is_recreated(change)) {
            match (takes_disks(before), is_recreated(change)) {
                (true, _) => deleted.add(before, imports_to_keep(before)),
                (false, false) => kept.add(before, imports_to_keep(before)),
                (false, true) => {}
            }
        }
        if let Some(after) = change.after.as_deref().filter(|_| imports(change)) {
            imported.add(after, 1);
        }
    }
    let parts = [
        (imported, "imported"),
        (deleted, "deleted, as far as they are there"),
        (kept, "kept without updates, as far as they are there"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(disks, _)| disks.count > 0).map(|(disks, what)| format!("{disks} {what}")).collect();
    if !parts.is_empty() {
        out.push(Effect { causes: causes(crons()), ..effect_of("all-disks", &[&parts.join("; ")]) });
    }
    out
}

/// Whether changing a DataImportCron imports a disk.
fn imports(change: &ObjectChange) -> bool {
    match change.before.as_deref().zip(change.after.as_deref()) {
        Some((before, after)) if change.kind == Kind::Change => {
            is_recreated(change) && (takes_disks(before) || url(before) != url(after))
        }
        _ => true,
    }
}

/// A disk that isn't imported again although another architecture is requested.
fn stale(change: &ObjectChange) -> Option<Effect> {
    const PLATFORM: &str = "/spec/template/spec/source/registry/platform/architecture";
    let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
    let [old, new] = [before, after].map(|cron| cron.pointer(PLATFORM).and_then(Value::as_str).unwrap_or_default());
    let is_same = is_recreated(change) && url(before) == url(after);
    if !is_same || old == new || takes_disks(before) {
        return None;
    }
    let wanted = if new.is_empty() { "of the node that imports it".to_owned() } else { format!("for {new}") };
    Some(Effect { certain: false, ..effect(change, "not-imported-again", &[&wanted]) })
}

/// Disks that are deleted with their DataImportCron and imported again by its replacement.
fn again(change: &ObjectChange) -> Option<Effect> {
    let is_taken = change.before.as_deref().is_some_and(takes_disks) && is_recreated(change);
    is_taken.then(|| effect(change, "created-again", &[]))
}

fn effect(change: &ObjectChange, row: &str, about: &[&str]) -> Effect {
    let causes = causes(std::iter::once(change));
    Effect { subjects: vec![change.id.name.clone()], causes, ..effect_of(row, about) }
}

fn causes<'c>(changes: impl Iterator<Item = &'c ObjectChange>) -> Vec<usize> {
    let of = |change: &'c ObjectChange| change.causes.iter().chain(change.fields.iter().flat_map(|f| &f.causes));
    let all: BTreeSet<usize> = changes.flat_map(of).copied().collect();
    all.into_iter().collect()
}

fn url(cron: &Value) -> Option<&Value> {
    cron.pointer("/spec/template/spec/source/registry/url")
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
