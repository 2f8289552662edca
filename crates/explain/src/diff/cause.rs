//! Which line of the inputs changed which field: found by planning again with one difference of the
//! inputs at a time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hcoplan_diagnostics::source::Location;
use hcoplan_kubernetes::{Object, ObjectId};
use hcoplan_planner::inventory::{Inventory, Node};
use hcoplan_planner::plan::{Plan, succeeds};
use hcoplan_planner::release::Release;
use serde_json::Value;

use super::semantic::{self, Difference, Lists, ObjectChange};
use super::side::{ExistingObjects, Side};
use super::versions;

/// A difference of the inputs.
#[derive(Debug, Clone)]
pub struct Cause {
    /// What it is, for people: `spec.featureGates.alignCPUs`, `node worker-0`, `release 1.17 to
    /// 1.19`.
    pub what: String,
    /// Where it is written; for what was taken away, where it was.
    pub place: Option<Location>,
    /// Whether it is only in the old inputs.
    pub gone: bool,
}

/// With more differences than this, only their sections are distinguished.
const MOST: usize = 64;

/// How many steps of a path a section has (`spec.storage.workloadResourceRequirements`).
const SECTION: usize = 3;

/// A part of the inputs that differs, and can be taken on its own.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Release,
    /// Fields of the HyperConverged by their labels.
    Fields(BTreeSet<String>),
    /// Nodes of the inventory by their names.
    Nodes(BTreeSet<String>),
    /// A fact of the inventory by its field's name.
    Fact(&'static str),
}

/// What differs between the inputs of two sides, and each change's share in it: fills `causes` of
/// the objects and fields in.
pub(super) fn attribute(
    before: &Side<'_>,
    after: &Side<'_>,
    with: &ExistingObjects<'_>,
    changes: &mut [ObjectChange],
) -> Vec<Cause> {
    let parts = parts(before, after);
    if changes.iter().all(ObjectChange::is_noise) || parts.is_empty() {
        return parts.into_iter().map(|(_, cause)| cause).collect();
    }
    match parts.as_slice() {
        [_] => {
            for change in changes.iter_mut() {
                change.causes = vec![0];
                for field in &mut change.fields {
                    field.causes = vec![0];
                }
            }
        }
        _ => {
            let planner = PartialPlanner::new(before, after, with);
            for index in 0..parts.len() {
                // With the part alone: what is not as it was.
                if let Some(with) = planner.plan(&parts, |i| i == index) {
                    credit(changes, index, &with, true);
                }
            }
            let left = |c: &ObjectChange| c.causes.is_empty() || c.fields.iter().any(|f| f.causes.is_empty());
            if changes.iter().any(left) {
                for index in 0..parts.len() {
                    // Without the part: what is not as it is now.
                    if let Some(without) = planner.plan(&parts, |i| i != index) {
                        credit(changes, index, &without, false);
                    }
                }
            }
        }
    }
    parts.into_iter().map(|(_, cause)| cause).collect()
}

/// The result of inputs in addition to the objects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    /// In whose words it is rejected first.
    pub(super) rejected: Option<String>,
    pub(super) reconcile_stops: Option<String>,
    pub(super) ssp_rejected: Option<String>,
    pub(super) alerts: Vec<&'static str>,
}

impl Outcome {
    pub(super) fn of(plan: &Plan) -> Self {
        let ssp = plan.ssp.as_ref().filter(|ssp| !ssp.admission.accepted);
        let admission = &plan.admission;
        Self {
            rejected: (!admission.accepted).then(|| admission.message.clone()),
            reconcile_stops: plan.reconcile_error.as_ref().map(|e| e.message.clone()),
            ssp_rejected: ssp.map(|ssp| ssp.admission.message.clone()),
            alerts: plan.alerts(),
        }
    }
}

/// The differences of the inputs that cause results in addition to the objects.
#[derive(Debug, Clone)]
pub struct Shares<T> {
    /// With none of them.
    unchanged: T,
    /// Of each difference: with it alone.
    alone: Vec<T>,
    /// With all but it.
    without: Vec<T>,
}

impl<T> Shares<T> {
    /// What `ask` answers for the inputs with none of the differences, with each alone, and with all but it.
    pub fn new(before: &Side<'_>, after: &Side<'_>, ask: impl Fn(&Arc<Release>, Inventory, Value) -> T) -> Self {
        let parts = parts(before, after);
        let planner = PartialPlanner::new(before, after, &|_, _, _| Vec::new());
        let answer = |take: &dyn Fn(usize) -> bool| {
            let (release, inventory, object) = planner.inputs(&parts, take);
            ask(release, inventory, object)
        };
        let all = 0..parts.len();
        Self {
            unchanged: answer(&|_| false),
            alone: all.clone().map(|index| answer(&|i| i == index)).collect(),
            without: all.map(|index| answer(&|i| i != index)).collect(),
        }
    }

    /// The differences that by themselves bring about what there is afterwards; else those without which it
    /// wouldn't be so. None where it is so without any.
    pub fn causes(&self, is_so: impl Fn(&T) -> bool) -> Vec<usize> {
        if is_so(&self.unchanged) {
            return Vec::new();
        }
        let which = |all: &[T], so: bool| -> Vec<usize> {
            let all = all.iter().enumerate();
            let found = all.filter(|(_, outcome)| is_so(outcome) == so);
            found.map(|(index, _)| index).collect()
        };
        match which(&self.alone, true) {
            none if none.is_empty() => which(&self.without, false),
            some => some,
        }
    }
}

/// Notes a cause wherever the objects differ from the old (or new) ones. Those that have causes
/// from another way of looking keep them.
fn credit(changes: &mut [ObjectChange], cause: usize, objects: &BTreeMap<Arc<ObjectId>, Arc<Value>>, from_old: bool) {
    let add = |causes: &mut Vec<usize>, fresh: bool| {
        if fresh && !causes.contains(&cause) {
            causes.push(cause);
        }
    };
    for change in changes {
        let old_id = change.instead_of.as_ref().unwrap_or(&change.id);
        let id = if from_old { old_id } else { &change.id };
        let base = if from_old { &change.before } else { &change.after };
        let found = objects.get(id);
        let appears = match (base, found) {
            // Added on the way, or gone on the way.
            (None, None) => false,
            (None, Some(_)) | (Some(_), None) => true,
            (Some(_), Some(_)) => false,
        };
        let unknown = from_old || change.causes.is_empty();
        add(&mut change.causes, appears && unknown);
        let (Some(base), Some(found)) = (base, found) else {
            continue;
        };
        if base == found {
            continue;
        }
        let lists = Lists::default();
        let moved = semantic::differences(base, found, &lists);
        let mut any = false;
        for field in &mut change.fields {
            let label = &field.step.label;
            let hit = moved.iter().any(|d| related(&d.label, label));
            any |= hit;
            let unknown = from_old || field.causes.is_empty();
            add(&mut field.causes, hit && unknown);
        }
        add(&mut change.causes, any && unknown);
    }
}

/// Whether one place is the other, or is in it.
fn related(a: &str, b: &str) -> bool {
    let below =
        |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    below(a, b) || below(b, a)
}

/// The differences of the inputs, in the order in which they are reported.
fn parts(before: &Side<'_>, after: &Side<'_>) -> Vec<(Part, Cause)> {
    let mut out = Vec::new();
    if before.release.version() != after.release.version() {
        out.push((
            Part::Release,
            Cause {
                what: format!("release {} to {}", before.release.label(), after.release.label()),
                place: after.inventory.locations.field("release").cloned(),
                gone: false,
            },
        ));
    }
    let old = versions::old_in_new_version(before, after);
    let fields = semantic::differences(&old, after.object, &lists(after));
    let fields: Vec<_> = fields.iter().filter(|d| !is_status(&d.label)).collect();
    let mut sections = BTreeMap::<String, Vec<&Difference>>::new();
    for field in &fields {
        let key = if fields.len() > MOST { section(&field.label) } else { field.label.clone() };
        sections.entry(key).or_default().push(field);
    }
    for (what, fields) in sections {
        let cause = cause_of(&what, &fields, &old, before, after);
        let labels = fields.iter().map(|d| d.label.clone()).collect();
        out.push((Part::Fields(labels), cause));
    }
    let (old, new) = (&before.inventory.inventory, &after.inventory.inventory);
    for (name, differs) in facts(old, new) {
        if differs {
            let place = after.inventory.locations.field(name);
            let gone = place.is_none();
            let place = place.or_else(|| before.inventory.locations.field(name));
            let cause = Cause { what: format!("the inventory's {name}"), place: place.cloned(), gone };
            out.push((Part::Fact(name), cause));
        }
    }
    out.extend(nodes(before, after));
    out
}

fn is_status(label: &str) -> bool {
    label == "status" || label.starts_with("status.")
}

fn section(label: &str) -> String {
    let steps: Vec<&str> = label.split(['.', '[']).take(SECTION).collect();
    steps.join(".")
}

/// How the entries of both sides' lists are matched.
fn lists<'r>(after: &Side<'r>) -> Lists<'r> {
    let text = |key: &str| after.object[key].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    Lists::new(after.release.schema_of(version, kind))
}

fn cause_of(what: &str, fields: &[&Difference], old: &Value, before: &Side<'_>, after: &Side<'_>) -> Cause {
    match fields.first() {
        Some(gone) if !gone.in_after => {
            let (label, path) = versions::written_as(gone, old, before, after);
            let place = before.document.map(|d| d.locate_key(&path));
            let what = if *what == gone.label { &label } else { what };
            Cause { what: what.to_owned(), place, gone: true }
        }
        first => Cause {
            what: what.to_owned(),
            place: first.and_then(|d| Some(after.document?.locate(&d.after))),
            gone: first.is_none(),
        },
    }
}

/// The facts of an inventory beside its nodes, and whether they differ.
fn facts(old: &Inventory, new: &Inventory) -> [(&'static str, bool); 10] {
    [
        ("platform", old.platform != new.platform),
        ("namespace", old.namespace != new.namespace),
        ("baseDomain", old.base_domain != new.base_domain),
        ("tlsSecurityProfile", old.tls_security_profile != new.tls_security_profile),
        ("ipFamilies", old.ip_families != new.ip_families),
        ("hostedControlPlane", old.hosted_control_plane != new.hosted_control_plane),
        ("monitoring", old.monitoring != new.monitoring),
        ("networkAttachmentDefinitions", old.network_attachment_definitions != new.network_attachment_definitions),
        ("kubeDescheduler", old.kube_descheduler != new.kube_descheduler),
        ("dataImportSchedule", old.data_import_schedule != new.data_import_schedule),
    ]
}

/// Takes one fact over.
fn take_fact(name: &str, from: &Inventory, to: &mut Inventory) {
    match name {
        "platform" => to.platform = from.platform,
        "namespace" => to.namespace.clone_from(&from.namespace),
        "baseDomain" => to.base_domain.clone_from(&from.base_domain),
        "tlsSecurityProfile" => to.tls_security_profile.clone_from(&from.tls_security_profile),
        "ipFamilies" => to.ip_families.clone_from(&from.ip_families),
        "hostedControlPlane" => to.hosted_control_plane = from.hosted_control_plane,
        "monitoring" => to.monitoring = from.monitoring,
        "networkAttachmentDefinitions" => {
            to.network_attachment_definitions = from.network_attachment_definitions;
        }
        "kubeDescheduler" => to.kube_descheduler.clone_from(&from.kube_descheduler),
        _ => to.data_import_schedule.clone_from(&from.data_import_schedule),
    }
}

/// Nodes that differ; those that one line declares belong together.
fn nodes(before: &Side<'_>, after: &Side<'_>) -> Vec<(Part, Cause)> {
    let named = |side: &Side<'_>| -> BTreeMap<String, (Node, Option<Location>)> {
        let places = side.inventory.locations.nodes.iter().map(|p| Some(p.name.clone()));
        let places = places.chain(std::iter::repeat(None));
        let nodes = side.inventory.inventory.nodes.iter().zip(places);
        nodes.map(|(n, place)| (n.name.clone(), (n.clone(), place))).collect()
    };
    let (old, new) = (named(before), named(after));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    // By the line that declares them: a pool's nodes differ together.
    let mut groups = BTreeMap::<_, (BTreeSet<String>, Option<Location>, bool)>::new();
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        if was.map(|(n, _)| n) == is.map(|(n, _)| n) {
            continue;
        }
        let gone = is.is_none();
        let place = is.or(was).and_then(|(_, place)| place.clone());
        let line = place.as_ref().map(|p| (p.file.path().to_owned(), p.span));
        let key = (line.clone(), gone, line.is_none().then(|| name.clone()));
        let group = groups.entry(key).or_insert_with(|| (BTreeSet::new(), place, gone));
        group.0.insert(name.clone());
    }
    let cause = |(names, place, gone): (BTreeSet<String>, Option<Location>, bool)| {
        let first = names.first().map_or("", String::as_str);
        let what = match names.len() {
            1 => format!("node {first}"),
            n => format!("{n} nodes ({first} …)"),
        };
        (Part::Nodes(names), Cause { what, place, gone })
    };
    groups.into_values().map(cause).collect()
}

/// Plans with some of the differences between two sides.
struct PartialPlanner<'a> {
    before: &'a Side<'a>,
    after: &'a Side<'a>,
    with: &'a ExistingObjects<'a>,
    /// The old HyperConverged, in the version of the new one.
    old: Cow<'a, Value>,
    nodes: BTreeMap<&'a str, (Option<&'a Node>, Option<&'a Node>)>,
}

impl<'a> PartialPlanner<'a> {
    fn new(before: &'a Side<'a>, after: &'a Side<'a>, with: &'a ExistingObjects<'a>) -> Self {
        let mut nodes = BTreeMap::<_, (Option<&Node>, Option<&Node>)>::new();
        for node in &before.inventory.inventory.nodes {
            nodes.entry(node.name.as_str()).or_default().0 = Some(node);
        }
        for node in &after.inventory.inventory.nodes {
            nodes.entry(node.name.as_str()).or_default().1 = Some(node);
        }
        Self { before, after, with, old: versions::old_in_new_version(before, after), nodes }
    }

    /// The objects with the parts that are taken, the others as they were. `None` where both sides are well
    /// and these parts by themselves aren't: what is missing then says nothing of the change.
    fn plan(
        &self,
        parts: &[(Part, Cause)],
        take: impl Fn(usize) -> bool,
    ) -> Option<BTreeMap<Arc<ObjectId>, Arc<Value>>> {
        let (release, inventory, object) = self.inputs(parts, take);
        let are_well = self.before.plan.succeeds() && self.after.plan.succeeds();
        if are_well && !succeeds(release, &inventory, &object) {
            return None;
        }
        let objects = (self.with)(release, &inventory, &object).into_iter();
        Some(objects.map(|Object { id, body }| (id, body)).collect())
    }

    fn inputs(&self, parts: &[(Part, Cause)], take: impl Fn(usize) -> bool) -> (&'a Arc<Release>, Inventory, Value) {
        let (mut fields, mut names) = (BTreeSet::new(), BTreeSet::new());
        let mut release = self.before.release;
        let mut inventory = self.before.inventory.inventory.clone();
        for (index, (part, _)) in parts.iter().enumerate() {
            if !take(index) {
                continue;
            }
            match part {
                Part::Release => release = self.after.release,
                Part::Fields(labels) => fields.extend(labels.iter()),
                Part::Nodes(all) => names.extend(all.iter().map(String::as_str)),
                Part::Fact(name) => {
                    take_fact(name, &self.after.inventory.inventory, &mut inventory);
                }
            }
        }
        let nodes = self.nodes.iter().filter_map(|(name, (was, is))| {
            let node = if names.contains(*name) { is } else { was };
            node.cloned()
        });
        inventory.nodes = nodes.collect();
        let lists = lists(self.after);
        let object = semantic::mix(&self.old, self.after.object, &lists, &mut |d| fields.contains(&d.label));
        (release, inventory, object)
    }
}
