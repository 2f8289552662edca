//! The effects of a change on golden images, from the matrices before and after it, and from CDI's stage.

use super::{Cell, Image, MachineRow, Reason, State};
use super::{disks, effect_of};
use crate::matrix::ClusterMatrix;
use crate::prelude::*;
use hcoplan_explain::diff::Comparison;
use hcoplan_planner::boot_images::cdi_stage::{CronStep, Import, Imports, cron_steps};

/// Returns the input differences that cause an effect; the predicate recognises the effect in a matrix.
type CausesOf<'a> = dyn Fn(&dyn Fn(&ClusterMatrix) -> bool) -> Vec<usize> + 'a;

/// The effects on golden images, and the virtual machines whose disk is kept though nothing imports it any more;
/// `None` if one side can't have any. `causes` finds the input differences that cause an
/// effect.
pub fn effects(
    before: &ClusterMatrix,
    after: &ClusterMatrix,
    comparison: &Comparison,
    causes: &CausesOf<'_>,
) -> Option<(Vec<Effect>, BTreeSet<String>)> {
    if before.obstacle.is_some() || after.obstacle.is_some() {
        return None;
    }
    let old: Vec<&Value> = comparison.objects.iter().filter_map(|change| change.before.as_deref()).collect();
    let new: Vec<&Value> = comparison.objects.iter().filter_map(|change| change.after.as_deref()).collect();
    let steps = cron_steps(&old, &new);
    let changes = Changes {
        before,
        after,
        comparison,
        causes,
        deleted: steps.iter().filter(|step| step.is_removed() && step.deletes_disks()).filter_map(deleted).collect(),
        imports: Imports::of_step(&old, &new),
        moved: moved(&comparison.objects),
        images_before: images(before),
        images_after: images(after),
    };
    let (old, new) = (&changes.images_before, &changes.images_after);
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let mut out = Vec::new();
    for key in keys {
        changes.of_image(old.get(key).copied(), new.get(key).copied(), &mut out);
    }
    let kept = after.machines.iter().filter(|m| changes.keeps_disk(m)).map(|m| m.name.clone()).collect();
    out.extend(disks::effects(&comparison.objects, &steps));
    Some((out, kept))
}

/// The images by namespace and name.
fn images(matrix: &ClusterMatrix) -> Images<'_> {
    let images = matrix.images.iter();
    images.map(|i| ((&*i.name, &*i.namespace), i)).collect()
}

type Images<'a> = BTreeMap<(&'a str, &'a str), &'a Image>;

/// The changed objects of images, by the DataSource's name with or without its architecture.
fn moved(objects: &[ObjectChange]) -> BTreeMap<&str, Vec<&ObjectChange>> {
    let mut out: BTreeMap<&str, Vec<&ObjectChange>> = BTreeMap::new();
    for change in objects {
        let name = match &*change.id.kind {
            "DataImportCron" => {
                let body = change.after.as_deref().or(change.before.as_deref());
                body.and_then(|b| b["spec"]["managedDataSource"].as_str())
            }
            "DataSource" => Some(&*change.id.name),
            _ => None,
        };
        out.entry(name.unwrap_or_default()).or_default().push(change);
    }
    out
}

/// Namespace and name of a DataImportCron before a step.
fn deleted<'o>(step: &CronStep<'o>) -> Option<(&'o str, &'o str)> {
    let metadata = &step.before?["metadata"];
    Some((metadata["namespace"].as_str()?, metadata["name"].as_str()?))
}

struct Changes<'a> {
    before: &'a ClusterMatrix,
    after: &'a ClusterMatrix,
    comparison: &'a Comparison,
    causes: &'a CausesOf<'a>,
    /// The removed DataImportCrons whose imports are deleted.
    deleted: BTreeSet<(&'a str, &'a str)>,
    imports: Imports,
    moved: BTreeMap<&'a str, Vec<&'a ObjectChange>>,
    images_before: Images<'a>,
    images_after: Images<'a>,
}

impl Changes<'_> {
    fn of_image(&self, was: Option<&Image>, is: Option<&Image>, out: &mut Vec<Effect>) {
        let deletes = was.is_some_and(|was| was.cells.iter().chain([&was.plain]).any(|cell| self.deletes(was, cell)));
        match (was.filter(|i| is_imported(i)), is.filter(|i| is_imported(i))) {
            (Some(was), Some(is)) => {
                if deletes {
                    out.push(match self.only_for(was) {
                        Some(architectures) => self.effect(was, "some-disks-deleted", &[&architectures]),
                        None => self.effect(was, "disks-deleted", &[]),
                    });
                }
                self.still_imported(was, is, out);
            }
            (Some(was), None) => self.no_longer_imported(was, is, deletes, out),
            (None, Some(is)) => {
                let served = served(is, self.after).join(" and ");
                let is_of_architectures = self.after.multi_arch && !served.is_empty();
                let row = if is_of_architectures { "imported-for" } else { "imported" };
                out.push(self.effect(is, row, &[&served]));
            }
            (None, None) => self.external(was, is, out),
        }
    }

    /// Whether the imports of a cell are deleted.
    fn deletes(&self, was: &Image, cell: &Cell) -> bool {
        cell.cron.as_deref().is_some_and(|cron| self.deleted.contains(&(was.namespace.as_str(), cron)))
    }

    /// The architectures whose imports are removed while other disks stay; `None` if all are removed.
    fn only_for(&self, was: &Image) -> Option<String> {
        let cells = was.cells.iter().zip(&self.before.architectures);
        let cells = cells.filter(|(cell, _)| cell.cron.is_some() || claim_of(cell).is_some());
        let (gone, stay): (Vec<_>, Vec<_>) = cells.partition(|(cell, _)| self.deletes(was, cell));
        let names: Vec<&str> = gone.iter().map(|(_, architecture)| &*architecture.name).collect();
        (!stay.is_empty() && !names.is_empty()).then(|| names.join(" and "))
    }

    /// The effect of removing an image's import.
    fn no_longer_imported(&self, was: &Image, is: Option<&Image>, deletes: bool, out: &mut Vec<Effect>) {
        let of_name = self.images_after.range((&*was.name, "")..);
        let mut of_name = of_name.take_while(|((name, _), _)| *name == was.name);
        let elsewhere = of_name.find_map(|(key, image)| {
            let before = self.images_before.get(key);
            let is_new = !before.is_some_and(|before| is_imported(before));
            (is_new && is_imported(image)).then_some(image)
        });
        let refers = was.plain.data_source.as_ref().is_some_and(|target| *target != was.name);
        let is_source = |body: &Option<Arc<Value>>| {
            let body = body.as_deref().filter(|body| body["kind"] == "DataSource");
            body.is_some_and(|body| body["metadata"]["name"] == *was.name)
        };
        let is_written = self.comparison.objects.iter().any(|c| is_source(&c.after));
        let is_removed = !is_written && self.comparison.objects.iter().any(|c| is_source(&c.before));
        let stays = is_written || refers && !is_removed;
        let claim = is.and_then(|is| claim_of(&is.plain));
        let keeps_claim = claim.is_some() && claim == claim_of(&was.plain);
        if deletes {
            out.push(match self.only_for(was) {
                Some(of) => {
                    let effect = self.effect(was, "some-disks-deleted", &[&of]);
                    if keeps_claim { Effect { impact: Impact::Disruption, ..effect } } else { effect }
                }
                // As with several architectures, the same image is imported under another name.
                None if elsewhere.is_some() => self.effect(was, "disks-deleted", &[]),
                None => self.effect(was, if stays || claim.is_some() { "disks-only" } else { "deleted" }, &[]),
            });
        }
        if keeps_claim {
            return;
        }
        let effect = if let Some(to) = elsewhere {
            let about = [to.namespace.as_str(), &was.namespace];
            // Unless it is deleted, the last disk remains and can be cloned.
            if deletes { self.uncertain(was, "moved", &about) } else { self.lost(was, "moved-with-last-disk", &about) }
        } else if let Some(claim) = claim {
            self.lost(was, "replaced-by-claim", &[claim])
        } else if stays {
            self.uncertain(was, "not-imported", &[])
        } else if self.is_kept(&was.namespace, &was.name) {
            self.lost(was, "kept", &[])
        } else {
            // Those of an architecture may stay.
            let (mut stays, known) = (false, out.len());
            for (cell, of) in was.cells.iter().zip(&self.before.architectures) {
                let source = cell.data_source.as_ref().filter(|source| self.is_kept(&was.namespace, source));
                let Some(source) = source else { continue };
                out.extend(Some(self.kept_for(&of.name, was, source)).filter(|effect| !effect.machines.is_empty()));
                stays = true;
            }
            let effect = self.uncertain(was, if stays { "plain-name-deleted" } else { "gone" }, &[]);
            if out.len() > known && !effect.certain {
                return;
            }
            effect
        };
        // That an image is deleted says what may follow.
        if !deletes || effect.certain {
            out.push(effect);
        }
    }

    /// Whether a DataSource keeps its last disk without an import.
    fn is_kept(&self, namespace: &str, source: &str) -> bool {
        self.imports.get(namespace, source).is_some_and(Import::is_kept)
    }

    /// Whether the disk of a machine is kept, though it isn't imported any more.
    fn keeps_disk(&self, machine: &MachineRow) -> bool {
        machine.data_source.as_ref().is_some_and(|(namespace, source)| self.is_kept(namespace, source))
    }

    /// The effects on an image imported before and after, by architecture.
    fn still_imported(&self, was: &Image, is: &Image, out: &mut Vec<Effect>) {
        let turns = was.plain.architecture.only().zip(is.plain.architecture.only()).filter(|(old, new)| old != new);
        let mut more = Vec::new();
        for (cell, architecture) in is.cells.iter().zip(&self.after.architectures) {
            let name = &architecture.name;
            let about = [name.as_str(), &cell.reason.sentence(), &cell.reason.remedy(name)];
            let before = self.before.architectures.iter().position(|a| a.name == *name);
            let old = before.and_then(|i| was.cells.get(i));
            let old = old.filter(|c| c.state != State::Unneeded);
            let covered = |cell: &Cell| cell.state == State::Covered;
            match (old, cell) {
                (_, cell) if cell.state == State::Unneeded => {}
                (Some(old), cell) if covered(old) && covered(cell) && old.data_source == cell.data_source => {}
                (Some(old), cell) if covered(old) && covered(cell) => {
                    let is_plain = cell.data_source.as_ref().is_none_or(|source| *source == is.name);
                    let row = if is_plain { "imported-again" } else { "imported-again-with-suffix" };
                    out.push(self.effect(is, row, &[name]));
                }
                // One import stays, and what it brings is known now.
                (_, cell) if covered(cell) && turns.is_none() && !self.after.multi_arch => {
                    out.push(self.effect(is, "known", &[name]));
                }
                (_, cell) if covered(cell) => more.push(name.as_str()),
                (Some(old), cell) if covered(old) && is_uncertain(cell.state) => {
                    out.push(self.undetermined(was, cell, name));
                }
                (None, cell) if is_uncertain(cell.state) => out.push(self.undetermined(is, cell, name)),
                (Some(Cell { state: State::Covered, data_source: Some(source), .. }), _)
                    if self.is_kept(&was.namespace, source) =>
                {
                    out.push(self.kept_for(name, was, source));
                }
                (Some(old), _) if covered(old) => {
                    out.push(self.for_architecture(name, was, self.lost(was, "no-disk", &about)));
                }
                (None, _) => {
                    let effect = self.for_architecture(name, is, self.lost(is, "no-disk-on-nodes", &about));
                    out.push(certain_if_used(effect));
                }
                _ => {}
            }
        }
        if !more.is_empty() && self.after.multi_arch {
            out.push(self.effect(is, "imported-too", &[&more.join(" and ")]));
        }
        for (cell, architecture) in was.cells.iter().zip(&self.before.architectures) {
            let name = &architecture.name;
            let mut after = self.after.architectures.iter();
            let still = after.any(|a| a.name == *name && a.workload_nodes > 0);
            let imported = cell.state == State::Covered;
            let own = format!("{}-{name}", was.name);
            let kept = is.cells.iter().any(|c| c.data_source.as_ref() == Some(&own));
            if imported && !still && !kept && self.before.multi_arch {
                out.push(self.effect(was, "architecture-gone", &[name]));
            }
        }
        let sources = is.cells.iter().chain([&is.plain]).filter_map(|cell| cell.data_source.as_deref());
        let stale: BTreeSet<&str> =
            sources.filter(|source| self.imports.get(&is.namespace, source).is_some_and(Import::is_stale)).collect();
        if !stale.is_empty() {
            let names = joined(stale, " and ");
            out.push(self.effect(is, "not-updated", &[&names]));
        }
        if let Some((old, new)) = turns {
            let row = if self.after.multi_arch { "plain-name-turns" } else { "disk-turns" };
            out.push(self.effect(was, row, &[new, old]));
        }
    }

    /// A DataSource without import that referred to a claim of the repository. Other claims are unknown: SSP keeps those
    /// with the plain name, too.
    fn external(&self, was: Option<&Image>, is: Option<&Image>, out: &mut Vec<Effect>) {
        let (Some(was), Some(is)) = (was, is) else {
            return;
        };
        if let Some(claim) = claim_of(&was.plain).filter(|_| claim_of(&is.plain).is_none()) {
            out.push(self.uncertain(is, "claim-left", &[claim]));
        }
    }

    /// A disk whose architecture depends on the import. With multi-arch images off it is the same for every architecture.
    fn undetermined(&self, image: &Image, cell: &Cell, architecture: &str) -> Effect {
        let effect = match &cell.reason {
            Reason::Importer(names) => self.effect(image, "by-importer", &[names]),
            Reason::MultiArchOff(name) => self.effect(image, "one-architecture", &[name]),
            reason => {
                // With multi-arch images off nothing reads the annotation.
                let remedy = if self.after.multi_arch { reason.remedy(architecture) } else { String::new() };
                self.effect(image, "undetermined", &[architecture, &reason.sentence(), &remedy])
            }
        };
        Effect { rule: cell.reason.rule(), ..effect }
    }

    /// The effect of a row on an image.
    fn effect(&self, image: &Image, row: &str, about: &[&str]) -> Effect {
        Effect { subjects: vec![image.name.clone()], causes: self.causes(image), ..effect_of(row, about) }
    }

    /// The effect on new virtual machines; names those of the repository that use the image, and of those that it would
    /// keep from booting the ones that don't boot.
    fn lost(&self, image: &Image, row: &str, about: &[&str]) -> Effect {
        let names = image.cells.iter().chain([&image.plain]);
        let names: Vec<_> = names.filter_map(|c| c.data_source.as_deref()).collect();
        let machines = self.after.machines.iter().filter(|m| {
            let named = |(namespace, name): &(String, String)| {
                *namespace == image.namespace && (*name == image.name || names.contains(&&**name))
            };
            m.data_source.as_ref().is_some_and(named)
        });
        let effect = self.effect(image, row, about);
        let machines = machines
            .filter(|m| effect.impact != Impact::BootFailure || m.outcome != BootOutcome::Boots && !self.keeps_disk(m));
        Effect { machines: machines.map(|m| m.name.clone()).collect(), ..effect }
    }

    /// The effect on machines that name a DataSource of one architecture, which stays.
    fn kept_for(&self, architecture: &str, image: &Image, source: &str) -> Effect {
        let names = |m: &&MachineRow| m.data_source.as_ref().is_some_and(|(_, named)| named == source);
        let mut effect = self.lost(image, "kept-for", &[architecture, source]);
        effect.machines.retain(|name| self.after.machines.iter().filter(names).any(|m| m.name == *name));
        effect
    }

    /// The effect on machines of one architecture; others are not affected.
    fn for_architecture(&self, architecture: &str, image: &Image, mut effect: Effect) -> Effect {
        let asks = |m: &&MachineRow| {
            let of_image = m.data_source.as_ref().is_some_and(|(_, source)| source.starts_with(&image.name));
            of_image && m.asks_for.as_deref() == Some(architecture)
        };
        effect.machines.retain(|name| self.after.machines.iter().filter(asks).any(|m| m.name == *name));
        effect
    }

    /// The same, certain only if a virtual machine of the repository uses the image.
    fn uncertain(&self, image: &Image, row: &str, about: &[&str]) -> Effect {
        certain_if_used(self.lost(image, row, about))
    }

    /// The causes of the changes of an image's objects.
    fn causes(&self, image: &Image) -> Vec<usize> {
        let near = self.moved.range(&*image.name..);
        let near = near.map_while(|(name, of)| Some((name.strip_prefix(&*image.name)?, of)));
        let own = near.filter(|(rest, _)| rest.is_empty() || rest.starts_with('-'));
        let mut out = disks::causes(own.flat_map(|(_, of)| of.iter().copied()));
        if out.is_empty() {
            // Adding a node may change the missing architectures without changing an object.
            out = (self.causes)(&|matrix| states(matrix, image) == states(self.after, image));
        }
        if out.is_empty() {
            out.extend(0..self.comparison.causes.len());
        }
        out
    }
}

fn certain_if_used(effect: Effect) -> Effect {
    Effect { certain: !effect.machines.is_empty(), ..effect }
}

/// The states of an image by architecture.
fn states<'m>(matrix: &'m ClusterMatrix, image: &Image) -> Option<BTreeMap<&'m str, State>> {
    let found = matrix.images.iter().find(|i| i.name == image.name && i.namespace == image.namespace)?;
    let names = matrix.architectures.iter().map(|a| &*a.name);
    Some(names.zip(found.cells.iter().map(|cell| cell.state)).collect())
}

/// Whether it is unknown if the image exists.
const fn is_uncertain(state: State) -> bool {
    matches!(state, State::Undetermined | State::Unknown)
}

/// The claim of the repository that a cell's DataSource refers to.
fn claim_of(cell: &Cell) -> Option<&str> {
    if let Reason::Claim(claim) = &cell.reason { Some(claim) } else { None }
}

fn is_imported(image: &Image) -> bool {
    image.cells.iter().chain([&image.plain]).any(|c| c.cron.is_some())
}

/// The architectures that an image is imported for.
fn served<'m>(image: &Image, matrix: &'m ClusterMatrix) -> Vec<&'m str> {
    let cells = image.cells.iter().zip(&matrix.architectures);
    let covered = cells.filter(|(cell, _)| cell.state == State::Covered);
    covered.map(|(_, architecture)| &*architecture.name).collect()
}
