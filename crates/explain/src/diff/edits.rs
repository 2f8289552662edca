//! Edited objects of the repository, other than the HyperConverged: each edit is a cause, and what it does an effect.

use super::cause::{Cause, edited, is_same_line};
use super::cluster::ClusterDiff;
use super::consequence::{self, Consequence, Sides};
use super::effect::Effect;
use super::semantic::{self, Difference, Lists, NoiseKind, ObjectChange, differences};
use crate::prelude::*;
use hcoplan_diagnostics::secret::masked_value_of;
use hcoplan_diagnostics::words::{list, plural};
use hcoplan_planner::admission::KIND;
use hcoplan_planner::boot_images::ssp_stage::SspStage;
use hcoplan_planner::machines::each;

/// The kinds of Kubernetes, OpenShift and OLM that rules read, and the parts that they read; empty: the whole object.
static READ: Table<BTreeMap<&str, &str>> = Table::of(include_str!("read_kinds.json"));

/// The kinds without which a machine that names one doesn't start, and the fields that do.
static NAMED_BY: Table<BTreeMap<&str, Vec<&str>>> = Table::of(include_str!("named_by.json"));

/// The kinds whose deletion deletes a disk.
const DISKS: [&str; 2] = ["PersistentVolumeClaim", "DataVolume"];

/// Maximum number of named objects that are deleted with a namespace.
const MAX_HELD: usize = 5;

/// Above this number of edits of one object, they are one edit of the whole.
const MAX_EDITS: usize = 12;

/// Whether an object is compared: those of KubeVirt and CDI, and what these use.
pub fn is_compared(api_version: &str, kind: &str) -> bool {
    READ.contains_key(kind) || api_version.contains("kubevirt.io/")
}

/// Whether a controller applies an object.
type Applies<'a> = &'a dyn Fn(&Document) -> Option<bool>;

/// The repository's objects on both sides, other than HyperConvergeds.
pub struct Objects<'a> {
    /// Those before.
    pub before: Vec<&'a Document>,
    /// Those after.
    pub after: Vec<&'a Document>,
    /// The release whose schemas compare them.
    pub release: &'a Release,
    /// Whether a controller applies an object before, and after; `None` if that isn't known.
    pub applied: [Applies<'a>; 2],
    /// What deletes an object in the cluster that isn't declared any more, such as `the Application virt in virt.yaml`.
    pub deleter: &'a dyn Fn(&Document) -> Option<String>,
    /// SSP's objects after.
    pub ssp: Option<&'a SspStage>,
}

/// The same edit of one or more objects.
struct Edit {
    cause: Cause,
    field: String,
    ids: Vec<ObjectId>,
}

/// What edits do, with their keys; `None` if no effect is known.
type OfEdits = (Vec<String>, Option<Consequence>);

/// Adds the edits of objects to the causes of a cluster's changes, and what they do to its effects.
pub fn add_edits(diff: &mut ClusterDiff, objects: &Objects<'_>) {
    let mut sides: BTreeMap<ObjectId, [Vec<(&Document, Value)>; 2]> = BTreeMap::new();
    for (side, all) in [&objects.before, &objects.after].into_iter().enumerate() {
        for document in all {
            let object = document.root.to_json();
            sides.entry(ObjectId::of(&object)).or_default()[side].push((document, object));
        }
    }
    let mut edits: BTreeMap<String, Edit> = BTreeMap::new();
    let mut effects: Vec<OfEdits> = Vec::new();
    for (id, [before, after]) in &sides {
        let (mut before, mut after) = (before.as_slice(), after.as_slice());
        if let ([(was, _)], [(is, _)]) = (before, after) {
            // One that is applied on one side only leaves, or appears.
            match [(objects.applied[0])(was), (objects.applied[1])(is)] {
                [Some(true), Some(false)] => after = &[],
                [Some(true), None] if (objects.deleter)(was).is_some() => after = &[],
                [Some(false), Some(true)] => before = &[],
                _ => {}
            }
        }
        let is_same = before.iter().map(|(_, object)| object).eq(after.iter().map(|(_, object)| object));
        if is_same || id.kind == KIND {
            continue;
        }
        let found = match (before, after) {
            ([was], [is]) => fields(id, was, is),
            _ => vec![(String::new(), whole(before, after))],
        };
        let named: Vec<_> = found.into_iter().map(|(field, cause)| add(&mut edits, id, field, cause)).collect();
        let all = || named.iter().map(|(_, key)| key.clone()).collect();
        let kept = objects.ssp.filter(|_| before.is_empty()).and_then(|ssp| ssp.passing_over(id));
        match (before, after, kept) {
            _ if named.is_empty() => {}
            ([(was, object), ..], [], _) => {
                let pruner = (objects.deleter)(was);
                let has_disks = elements(&object["spec"]["dataVolumeTemplates"]).len() > 0;
                let is_held = |other: &&ObjectId| {
                    let is_data = other.kind == "VirtualMachine" || DISKS.contains(&&*other.kind);
                    is_data && other.namespace.as_deref() == Some(&*id.name)
                };
                let held: Vec<String> = sides.keys().filter(is_held).map(ObjectId::full_name).collect();
                let name = match &pruner {
                    Some(_) if has_disks => "machine-deleted",
                    Some(_) if DISKS.contains(&&*id.kind) => "disk-deleted",
                    Some(_) if id.kind == "CustomResourceDefinition" => "definition-deleted",
                    Some(_) if id.kind == "Namespace" && !held.is_empty() => "namespace-deleted",
                    Some(_) => "object-deleted",
                    None => "object-left",
                };
                // Without a controller, a person may delete it.
                let may_go = pruner.is_some() || (objects.applied[0])(was) != Some(true);
                let held = list(&held, MAX_HELD);
                let values: [(&str, &dyn Display); 2] = [("pruner", &pruner.unwrap_or_default()), ("held", &held)];
                effects.push((all(), Some(consequence::sentence(name, &values).about(id.full_name()))));
                let machines = sides.iter().filter(|(machine, [_, after])| {
                    may_go
                        && machine.kind == "VirtualMachine"
                        && after.iter().any(|(_, object)| names(machine, object, id))
                });
                effects.extend(machines.map(|(machine, _)| {
                    (all(), Some(consequence::sentence("object-missed", &[]).about(machine.full_name())))
                }));
            }
            (_, _, Some(source)) => {
                let consequence = consequence::sentence("claim-not-taken", &[("source", &source)]);
                effects.push((all(), Some(consequence.about(id.name.clone()))));
            }
            _ => {
                let object = |side: &[(&Document, Value)]| side.first().map(|(_, object)| Object::new(object.clone()));
                let (was, is) = (object(before), object(after));
                let changes = semantic::objects(objects.release, was.as_slice(), is.as_slice());
                effects.extend(changes.iter().flat_map(|change| said(change, objects.release, &named)));
            }
        }
    }
    diff.add(edits, effects);
}

impl ClusterDiff {
    fn add(&mut self, edits: BTreeMap<String, Edit>, effects: Vec<OfEdits>) {
        let known = &mut self.comparison.causes;
        let mut index: BTreeMap<String, usize> = BTreeMap::new();
        let inputs = known.len();
        for (key, edit) in edits {
            // A line that states an input, such as the release, is that cause already.
            let states = known.iter().take(inputs).position(|input| is_same_line(input, &edit.cause));
            index.insert(key, states.unwrap_or(known.len()));
            if states.is_none() {
                let field = if edit.field.is_empty() { String::new() } else { format!(" {}", edit.field) };
                let objects = edit.ids.iter().map(ToString::to_string).collect();
                known.push(Cause { what: format!("{}{field}", described(&edit.ids)), objects, ..edit.cause });
            }
        }
        for (keys, said) in effects {
            let mut causes: Vec<usize> = keys.iter().filter_map(|key| index.get(key).copied()).collect();
            causes.sort_unstable();
            causes.dedup();
            let is_deletion = |cause: &Cause| cause.is_removed && cause.before.is_none() && cause.after.is_none();
            let needs_acceptance = !causes.iter().all(|index| is_deletion(&self.comparison.causes[*index]));
            let is_unknown = said.is_none();
            let said = said.unwrap_or_else(|| consequence::sentence("object-alone", &[]));
            let effect = Effect { causes, is_unknown, needs_acceptance, ..said.into() };
            match self.edits.iter_mut().find(|known| known.is_like(&effect) && known.causes == effect.causes) {
                Some(known) => known.subjects.extend(effect.subjects),
                None => self.edits.push(effect),
            }
        }
        // What happens to a machine for no other reason happens because it was edited.
        let causes = &self.comparison.causes;
        for effect in self.image_effects.iter_mut().filter(|effect| effect.causes.is_empty()) {
            let is_of = |object: &String| {
                let name = object.strip_prefix("VirtualMachine ");
                name.is_some_and(|name| effect.machines.iter().any(|machine| machine == name))
            };
            let own = causes.iter().enumerate().filter(|(_, cause)| cause.objects.iter().any(is_of));
            effect.causes = own.map(|(index, _)| index).collect();
        }
    }
}

/// Whether a machine names an object without which it doesn't start.
fn names(machine: &ObjectId, object: &Value, id: &ObjectId) -> bool {
    let fields = NAMED_BY.get(&*id.kind).into_iter().flatten();
    let is_here = id.namespace.is_none() || id.namespace == machine.namespace;
    let mut values = fields.flat_map(|field| each(object, field));
    values.any(|(_, name)| *name == *id.name && is_here || *name == id.full_name())
}

/// `VirtualMachine shop/web`, or `3 VirtualMachines (shop/a ...)`.
fn described(ids: &[ObjectId]) -> String {
    match ids {
        [one] => one.to_string(),
        [first, ..] => format!("{} ({} \u{2026})", plural(ids.len(), &first.kind), first.full_name()),
        [] => String::new(),
    }
}

/// Adds an edit of an object; returns its field and key.
fn add(edits: &mut BTreeMap<String, Edit>, id: &ObjectId, field: String, cause: Cause) -> (String, String) {
    let values = [&cause.before, &cause.after].map(|value| value.as_ref().map(Value::to_string));
    let key = format!("{} {field} {values:?} {} {}", id.kind, cause.is_new, cause.is_removed);
    let edit = edits.entry(key.clone()).or_insert_with(|| Edit { cause, field: field.clone(), ids: Vec::new() });
    edit.ids.push(id.clone());
    (field, key)
}

/// An object that is added or removed, or stands several times.
fn whole(before: &[(&Document, Value)], after: &[(&Document, Value)]) -> Cause {
    let document = after.first().or(before.first()).map(|(document, _)| document);
    let location = document.map(|document| document.locate_key(&Path::dotted("metadata.name")));
    Cause { location, is_new: before.is_empty(), is_removed: after.is_empty(), ..Cause::default() }
}

/// The changed fields of an object that count, each with its cause.
fn fields(id: &ObjectId, was: &(&Document, Value), is: &(&Document, Value)) -> Vec<(String, Cause)> {
    let parts = READ.get(&*id.kind).copied().unwrap_or_default();
    let mut all = differences(&was.1, &is.1, &Lists::default());
    all.retain(|field| parts.is_empty() || parts.split(' ').any(|part| overlap(&field.label, part)));
    if all.len() > MAX_EDITS {
        let location = all.first().map(|field| is.0.locate(&field.after));
        return vec![(String::new(), Cause { location, ..Cause::default() })];
    }
    // What a Secret or a ConfigMap holds may be a password.
    let is_shown = !["Secret", "ConfigMap"].contains(&&*id.kind);
    let one = |field: Difference| {
        let value = |side: &(&Document, Value), path: &Path| {
            let value = path.get(&side.1).filter(|_| is_shown)?;
            Some(masked_value_of(&side.0.file, &field.label, value))
        };
        let (location, is_removed) = edited(&field, [Some(was.0), Some(is.0)], &field.before);
        let cause = Cause {
            location,
            is_new: !field.in_before,
            is_removed,
            before: if field.in_before { value(was, &field.before) } else { None },
            after: if field.in_after { value(is, &field.after) } else { None },
            ..Cause::default()
        };
        (field.label, cause)
    };
    all.into_iter().map(one).collect()
}

/// What an object's change does, with the keys of the edits that cause it.
fn said(change: &ObjectChange, release: &Release, named: &[(String, String)]) -> Vec<OfEdits> {
    let all = || named.iter().map(|(_, key)| key.clone()).collect();
    let is_other = |field: &&semantic::FieldChange| field.step.noise == Some(NoiseKind::Writing);
    if change.kind == super::Kind::Change && change.fields.iter().all(|field| is_other(&field)) {
        return vec![(all(), Some(consequence::sentence("object-written-differently", &[])))];
    }
    let found = consequence::consequences(change, Sides { before: release, after: release, nodes: &[] });
    if found.is_empty() {
        return vec![(all(), None)];
    }
    let with_keys = |consequence: Consequence| {
        let labels: Vec<&str> = consequence.fields.iter().map(|i| &*change.fields[*i].step.label).collect();
        let is_cause = |(field, _): &&(String, String)| labels.iter().any(|label| overlap(label, field));
        let keys: Vec<String> = named.iter().filter(is_cause).map(|(_, key)| key.clone()).collect();
        (if keys.is_empty() { all() } else { keys }, Some(consequence))
    };
    found.into_iter().map(with_keys).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hcoplan_diagnostics::source::SourceFile;
    use hcoplan_yaml::parse;

    #[test]
    fn each_edit_is_a_cause_with_its_effect() {
        let vm = |name: &str, spec: &str| {
            let id = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine";
            let text = format!("{id}\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{{spec}}}\n");
            parse(&SourceFile::new("vm.yaml", text)).documents.remove(0)
        };
        let (on, off) = ("runStrategy: Always", "runStrategy: Halted");
        let disks = "runStrategy: Always, dataVolumeTemplates: [{metadata: {name: root}}]";
        let before = [vm("same", on), vm("a", on), vm("b", on), vm("gone", disks), vm("kept", disks)];
        let after = [vm("b", off), vm("a", off), vm("new", on), vm("same", on)];
        let mut diff = ClusterDiff::new("east");
        let deleter =
            |document: &Document| (document.text("metadata.name") == "gone").then(|| "the Application shop".to_owned());
        let release = Release::known("1.18").expect("a release");
        let (before, after) = (before.iter().collect(), after.iter().collect());
        let applied = |_: &Document| None;
        let objects =
            Objects { before, after, release: &release, applied: [&applied, &applied], deleter: &deleter, ssp: None };
        add_edits(&mut diff, &objects);
        let said = diff.edits.iter().map(|effect| {
            let causes = effect.causes.iter().map(|index| &*diff.comparison.causes[*index].what);
            let text = effect.text.replace("{}", &effect.subjects.join(", "));
            format!("{}: {text}", joined(causes, " + "))
        });
        assert_eq!(
            said.collect::<Vec<_>>(),
            [
                "2 VirtualMachines (shop/a …) spec.runStrategy: shop/a, shop/b is shut down, and stays down",
                "2 VirtualMachines (shop/gone …): the Application shop deletes shop/gone, and with it the disks of its dataVolumeTemplates",
                "2 VirtualMachines (shop/gone …): nothing here is known to delete shop/kept in the cluster",
                "VirtualMachine shop/new: shop/new is created",
            ]
        );
    }
}
