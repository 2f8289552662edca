//! Finds the input line that changed a field, by planning again with one difference of the inputs at a time.

use super::side::ExistingObjects;
use super::versions;
use super::{semantic, semantic::Difference};
use crate::diff::semantic::{FieldChange, Lists, ObjectChange, Step};
use crate::diff::side::Side;
use crate::prelude::*;
use hcoplan_diagnostics::finding::{as_written, is_untouched_in};
use hcoplan_planner::inventory::ARCHITECTURE_LABEL;
use hcoplan_planner::plan::succeeds;
use hcoplan_planner::world::Fact;
use std::borrow::Cow;

/// A difference of the inputs.
#[derive(Debug, Clone, Default)]
pub struct Cause {
    /// A description: `spec.featureGates.alignCPUs`, `node worker-0`, `release 1.17 to 1.19`.
    pub what: String,
    /// Its location; the old one if it was removed.
    pub location: Option<Location>,
    /// Whether only the old inputs have it.
    pub is_removed: bool,
    /// Whether only the new inputs have it.
    pub is_new: bool,
    /// The value before, if it is a field of the HyperConverged.
    pub before: Option<Value>,
    /// The value after.
    pub after: Option<Value>,
    /// The repository's objects that it edits, such as `VirtualMachine shop/web`; empty for what hcoplan plans.
    pub objects: Vec<String>,
}

/// Above this number of differences, only their sections are distinguished.
const MAX_DIFFERENCES: usize = 64;

/// Objects with a field for each type: half of a change would be another object, or none.
const UNIONS: [&str; 2] = ["spec.tlsSecurityProfile", "spec.security.tlsSecurityProfile"];

/// Number of path segments of a section (`spec.storage.workloadResourceRequirements`).
const SECTION: usize = 3;

/// A difference of the inputs that can be applied separately.
#[derive(Debug, PartialEq)]
enum Part {
    Release,
    /// Fields of the HyperConverged, by label.
    Fields(BTreeSet<String>),
    /// A field that another API version doesn't have, by label.
    Lost(String),
    /// Nodes of the inventory, by name.
    Nodes(BTreeSet<String>),
    /// A fact of the inventory.
    Fact(Fact),
}

/// The differences between the inputs of two sides; fills in `causes` of the objects and fields.
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
            causes_of(changes).for_each(|causes| *causes = vec![0]);
        }
        _ => {
            let planner = PartialPlanner::new(before, after, with);
            for index in 0..parts.len() {
                // With this part only: the fields that differ from before.
                if let Some(with) = planner.plan(&parts, |i| i == index) {
                    add_cause(changes, index, &with, true);
                }
            }
            let is_open = causes_of(changes).any(|causes| causes.len() != 1);
            let mut needed: Vec<ObjectChange> = changes.to_vec();
            causes_of(&mut needed).for_each(Vec::clear);
            for index in (0..parts.len()).filter(|_| is_open) {
                // Without this part: the fields that differ from now.
                if let Some(without) = planner.plan(&parts, |i| i != index) {
                    add_cause(&mut needed, index, &without, false);
                }
            }
            for (causes, needed) in causes_of(changes).zip(causes_of(&mut needed)) {
                // One that another overrides has no part in the result.
                if causes.is_empty() {
                    causes.append(needed);
                } else if causes.iter().any(|cause| needed.contains(cause)) {
                    causes.retain(|cause| needed.contains(cause));
                }
            }
            if split_sections(changes) {
                causes_of(changes).for_each(Vec::clear);
                return attribute(before, after, with, changes);
            }
        }
    }
    parts.into_iter().map(|(_, cause)| cause).collect()
}

/// Splits sections that appear or go for several causes into their fields, which may have one each.
fn split_sections(changes: &mut [ObjectChange]) -> bool {
    let mut any = false;
    for change in changes {
        let fields = std::mem::take(&mut change.fields).into_iter();
        let parts = fields.flat_map(|field| {
            let step = &field.step;
            let section = step.before.as_ref().xor(step.after.as_ref()).and_then(Value::as_object);
            let section = section.filter(|map| map.len() > 1 && field.causes.len() > 1 && is_plain(&step.path));
            let Some(section) = section else {
                return vec![field];
            };
            any = true;
            let part = |(key, value): (&String, &Value)| {
                let of = |side: &Option<Value>| side.as_ref().map(|_| value.clone());
                let (before, after) = (of(&step.before), of(&step.after));
                let (path, label) = (step.path.key(key), format!("{}.{key}", step.label));
                FieldChange { step: Step { path, label, before, after, noise: step.noise }, causes: Vec::new() }
            };
            section.iter().map(part).collect()
        });
        change.fields = parts.collect();
    }
    any
}

/// Whether a path is the same in every state: no index of a list is in it.
fn is_plain(path: &Path) -> bool {
    path.0.iter().all(|segment| matches!(segment, Segment::Key(_)))
}

/// The causes of all objects and their fields.
fn causes_of(changes: &mut [ObjectChange]) -> impl Iterator<Item = &mut Vec<usize>> {
    changes.iter_mut().flat_map(|change| {
        let fields = change.fields.iter_mut().map(|field| &mut field.causes);
        std::iter::once(&mut change.causes).chain(fields)
    })
}

/// The results of a plan other than its objects.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    /// The first rejection's message.
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
            reconcile_stops: plan.reconcile_error.as_ref().map(|e| format!("{}: {}", e.operand, e.message)),
            ssp_rejected: ssp.map(|ssp| ssp.admission.message.clone()),
            alerts: plan.alerts(),
        }
    }
}

/// The answers for inputs with some of the differences, to find which of them cause a result.
#[derive(Debug)]
pub struct Shares<T> {
    /// With no difference.
    pub(super) unchanged: T,
    /// With each difference alone.
    alone: Vec<T>,
    /// With all differences but one.
    without: Vec<T>,
}

impl<T> Shares<T> {
    /// Asks for the inputs with none of the differences, with each alone, and with all but each.
    pub fn new(before: &Side<'_>, after: &Side<'_>, ask: impl Fn((&Arc<Release>, Inventory, Value)) -> T) -> Self {
        let parts = parts(before, after);
        let planner = PartialPlanner::new(before, after, &|_, _, _| Vec::new());
        let answer = |select: &dyn Fn(usize) -> bool| ask(planner.inputs(&parts, select));
        let all = 0..parts.len();
        Self {
            unchanged: answer(&|_| false),
            alone: all.clone().map(|index| answer(&|i| i == index)).collect(),
            without: all.map(|index| answer(&|i| i != index)).collect(),
        }
    }

    /// The differences that alone cause the result, else those without which it doesn't occur. Empty if it occurs
    /// without any.
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

/// Adds a cause to every object and field that differs from the old (or new) ones.
fn add_cause(
    changes: &mut [ObjectChange],
    cause: usize,
    objects: &BTreeMap<Arc<ObjectId>, Arc<Value>>,
    from_old: bool,
) {
    let add = |causes: &mut Vec<usize>, is_new: bool| {
        if is_new && !causes.contains(&cause) {
            causes.push(cause);
        }
    };
    for change in changes {
        let old_id = change.instead_of.as_ref().unwrap_or(&change.id);
        let id = if from_old { old_id } else { &change.id };
        let base = if from_old { &change.before } else { &change.after };
        let found = objects.get(id);
        add(&mut change.causes, base.is_some() != found.is_some());
        let (Some(base), Some(found)) = (base, found) else {
            continue;
        };
        if base == found {
            continue;
        }
        let lists = Lists::default();
        let field_changes = semantic::differences(base, found, &lists);
        let mut any_affected = false;
        for field in &mut change.fields {
            let label = &field.step.label;
            let path = Some(&field.step.path).filter(|path| is_plain(path));
            let is_affected = field_changes.iter().any(|d| overlap(&d.label, label))
                && path.is_none_or(|path| path.get(base) != path.get(found));
            any_affected |= is_affected;
            add(&mut field.causes, is_affected);
        }
        add(&mut change.causes, any_affected);
    }
}

/// The differences of the inputs, in reporting order.
fn parts(before: &Side<'_>, after: &Side<'_>) -> Vec<(Part, Cause)> {
    let mut out = Vec::new();
    if before.release.version() != after.release.version() {
        out.push((
            Part::Release,
            Cause {
                what: format!("release {} to {}", before.release_name(), after.release_name()),
                location: after.inventory.locations.field("release").cloned(),
                ..Cause::default()
            },
        ));
    }
    let old = versions::old_in_new_version(before, after);
    let fields = semantic::differences(&old, after.object, &lists(after));
    let fields: Vec<_> = fields.iter().filter(|d| !is_within(&d.label, "status")).collect();
    let mut sections = BTreeMap::<String, Vec<&Difference>>::new();
    for field in &fields {
        let union = UNIONS.iter().find(|union| is_within(&field.label, union));
        let key = match union {
            Some(union) => (*union).to_owned(),
            None if fields.len() > MAX_DIFFERENCES => section(&field.label),
            None => field.label.clone(),
        };
        sections.entry(key).or_default().push(field);
    }
    let first_field = out.len();
    for (what, fields) in sections {
        let cause = cause_of(&what, &fields, &old, before, after);
        let labels: BTreeSet<String> = fields.iter().map(|d| d.label.clone()).collect();
        // Fields of one edited line are one difference.
        let same = |(_, known): &&mut (Part, Cause)| is_same_line(known, &cause);
        // So is the same edit of several entries of a list.
        let what = of_any_entry(&cause.what);
        let is_edit = cause.before.is_some() || cause.after.is_some();
        let alike = |(_, known): &&mut (Part, Cause)| {
            is_edit
                && what != cause.what
                && what == of_any_entry(&known.what)
                && (&known.before, &known.after) == (&cause.before, &cause.after)
                && known.is_removed == cause.is_removed
        };
        if let Some((Part::Fields(known), first)) = out.iter_mut().skip(first_field).find(alike) {
            known.extend(labels);
            first.what = what.replacen("[]", &format!("[{} entries]", known.len()), 1);
            continue;
        }
        match out.iter_mut().skip(first_field).find(same) {
            Some((Part::Fields(known), first)) => {
                known.extend(labels);
                let what = shared_path(&first.what, &cause.what);
                let location = first.location.clone();
                let is_new = first.is_new && cause.is_new;
                *first = Cause { what, location, is_removed: cause.is_removed, is_new, ..Cause::default() };
            }
            _ => out.push((Part::Fields(labels), cause)),
        }
    }
    for field in versions::lost(before, &old) {
        let location = before.document.map(|was| was.locate_key(&field.after));
        let value = field.after.get(before.object).cloned();
        let cause = Cause { what: field.label.clone(), location, is_removed: true, before: value, ..Cause::default() };
        out.push((Part::Lost(field.label), cause));
    }
    let (old, new) = (&before.inventory.inventory, &after.inventory.inventory);
    for fact in Fact::ALL {
        let name = fact.name();
        let values = [old, new].map(|inventory| fact.value(inventory));
        if values[0] != values[1] {
            let [was, is] = values.map(|value| Some(value).filter(|value| value.is_string() || value.is_boolean()));
            let location = after.inventory.locations.field(name);
            let is_removed = location.is_none();
            let location = location.or_else(|| before.inventory.locations.field(name));
            let source = if *fact == Fact::Claims { "repository" } else { "inventory" };
            let what = format!("the {source}'s {name}");
            let cause =
                Cause { what, location: location.cloned(), is_removed, before: was, after: is, ..Cause::default() };
            out.push((Part::Fact(*fact), cause));
        }
    }
    out.extend(nodes(before, after));
    out
}

/// Whether two causes are on the same line of the same side, as the user wrote it.
pub(super) fn is_same_line(a: &Cause, b: &Cause) -> bool {
    let line = |cause: &Cause| {
        let place = as_written(cause.location.as_ref()?);
        Some((cause.is_removed, place.file.path().to_owned(), place.start().line))
    };
    line(a).is_some() && line(a) == line(b)
}

/// The path that two fields share.
fn shared_path(a: &str, b: &str) -> String {
    let shared = a.split('.').zip(b.split('.')).take_while(|(a, b)| a == b);
    joined(shared.map(|(part, _)| part), ".")
}

fn section(label: &str) -> String {
    let before_lists = first_part(label, '[');
    joined(before_lists.split('.').take(SECTION), ".")
}

/// A label with the first list's entry left open: `spec.list[].field`.
fn of_any_entry(label: &str) -> String {
    match label.split_once('[').and_then(|(list, rest)| Some((list, rest.split_once(']')?.1))) {
        Some((list, rest)) => format!("{list}[]{rest}"),
        None => label.to_owned(),
    }
}

/// How the entries of lists are matched between the sides.
fn lists<'r>(after: &Side<'r>) -> Lists<'r> {
    let (version, kind) = (text(&after.object["apiVersion"]), text(&after.object["kind"]));
    Lists::new(after.release.schema_of(version, kind))
}

fn cause_of(what: &str, fields: &[&Difference], old: &Value, before: &Side<'_>, after: &Side<'_>) -> Cause {
    let Some(first) = fields.iter().find(|field| field.in_after).or(fields.first()) else {
        return Cause::default();
    };
    let (label, path, removed) = versions::written_as(first, old, before, after);
    let (location, is_removed) = edited(first, [before.document, after.document], &path);
    if !first.in_after {
        let what = if *what == first.label { label } else { what.to_owned() };
        let before = removed.filter(|_| fields.len() == 1).cloned();
        return Cause { what, location, is_removed, before, ..Cause::default() };
    }
    let value = |side: &Value, path: &dyn Fn(&Difference) -> &Path| match fields {
        [one] => path(one).get(side).cloned(),
        _ => UNIONS.contains(&what).then(|| Path::dotted(what).get(side).cloned())?,
    };
    let before = value(old, &|d| &d.before);
    Cause {
        what: what.to_owned(),
        location,
        is_removed,
        is_new: !fields.iter().any(|field| field.in_before) && (before.is_none() || fields.len() == 1),
        before,
        after: value(after.object, &|d| &d.after),
        ..Cause::default()
    }
}

/// The line that was edited, and whether only the side before has it. Where a layer of a build stops saying a value,
/// the one below applies, whose line isn't edited.
pub(super) fn edited(
    field: &Difference,
    [was, is]: [Option<&Document>; 2],
    path_before: &Path,
) -> (Option<Location>, bool) {
    let now = is.map(|is| is.locate(&field.after));
    let written = now.as_ref().and_then(Location::origin).filter(|_| field.in_before);
    let left = |was: &&Document| written.as_ref().is_some_and(|now| is_untouched_in(now, &was.file));
    let gone = was.filter(|was| !field.in_after || left(was)).map(|was| was.locate_key(path_before));
    let is_removed = !field.in_after || gone.is_some();
    (gone.or(now), is_removed)
}

/// The nodes that differ; those declared by one line form one cause.
fn nodes(before: &Side<'_>, after: &Side<'_>) -> Vec<(Part, Cause)> {
    let by_name = |side: &Side<'_>| -> BTreeMap<String, (Node, Option<Location>)> {
        let locations = side.inventory.locations.nodes.iter().map(|p| Some(p.name.clone()));
        let locations = locations.chain(std::iter::repeat(None));
        let nodes = side.inventory.inventory.nodes.iter().zip(locations);
        nodes.map(|(n, location)| (n.name.clone(), (n.clone(), location))).collect()
    };
    let (old, new) = (by_name(before), by_name(after));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    // By declaring line: a pool's nodes differ together.
    let mut groups = BTreeMap::<_, (BTreeSet<String>, Option<Location>, bool)>::new();
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        if was.map(|(n, _)| n) == is.map(|(n, _)| n) {
            continue;
        }
        let is_removed = is.is_none();
        let location = is.or(was).and_then(|(_, location)| location.clone());
        let line = location.as_ref().map(|p| (p.file.path().to_owned(), p.span));
        let key = (line.clone(), is_removed, line.is_none().then(|| name.clone()));
        let group = groups.entry(key).or_insert_with(|| (BTreeSet::new(), location, is_removed));
        group.0.insert(name.clone());
    }
    let cause = |(names, location, is_removed): (BTreeSet<String>, Option<Location>, bool)| {
        let of = |name: &String| new.get(name).or_else(|| old.get(name)).map(|(node, _)| &*node.architecture);
        let architectures: BTreeSet<&str> = names.iter().filter_map(of).filter(|name| !name.is_empty()).collect();
        let architecture = match architectures.first().filter(|_| architectures.len() == 1) {
            Some(name) => format!("{name} "),
            None => String::new(),
        };
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        let what = match list.as_slice() {
            [one] => format!("{architecture}node {one}"),
            [a, b] => format!("2 {architecture}nodes ({a}, {b})"),
            [first, ..] => format!("{} {architecture}nodes ({first} …)", list.len()),
            [] => "nodes".to_owned(),
        };
        let is_new = names.iter().all(|name| !old.contains_key(name));
        // The nodes of a pool change alike.
        let of_first = |side: &BTreeMap<_, (Node, _)>| Some(facts(&side.get(names.first()?)?.0));
        let (was, is) = of_first(&old).zip(of_first(&new)).unwrap_or_default();
        let changes = semantic::differences(&was, &is, &Lists::default());
        let fields: Vec<&str> = changes.iter().map(|d| &*d.label).collect();
        let what = if fields.is_empty() { what } else { format!("{what} {}", fields.join(", ")) };
        let one = changes.first().filter(|_| changes.len() == 1);
        let (before, after) = (one.and_then(|d| d.before.get(&was)), one.and_then(|d| d.after.get(&is)));
        let (before, after) = (before.cloned(), after.cloned());
        (Part::Nodes(names), Cause { what, location, is_removed, is_new, before, after, objects: Vec::new() })
    };
    groups.into_values().map(cause).collect()
}

/// What an inventory says of a node; the labels of its architecture follow from that.
fn facts(node: &Node) -> Value {
    let mut labels = node.labels.clone();
    labels.retain(|key, _| !key.ends_with(ARCHITECTURE_LABEL));
    serde_json::to_value(Node { labels, ..node.clone() }).unwrap_or_default()
}

/// Plans with some of the differences between two sides.
struct PartialPlanner<'a> {
    before: &'a Side<'a>,
    after: &'a Side<'a>,
    with: &'a ExistingObjects<'a>,
    /// The old HyperConverged in the new one's version.
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

    /// The objects with the selected differences applied. `None` if both sides succeed but this combination doesn't:
    /// missing objects then say nothing about the change.
    fn plan(
        &self,
        parts: &[(Part, Cause)],
        select: impl Fn(usize) -> bool,
    ) -> Option<BTreeMap<Arc<ObjectId>, Arc<Value>>> {
        let (release, inventory, object) = self.inputs(parts, select);
        let both_succeed = self.before.plan.succeeds() && self.after.plan.succeeds();
        if both_succeed && !succeeds(release, &inventory, &object) {
            return None;
        }
        let objects = (self.with)(release, &inventory, &object).into_iter();
        Some(objects.map(|Object { id, body }| (id, body)).collect())
    }

    fn inputs(&self, parts: &[(Part, Cause)], select: impl Fn(usize) -> bool) -> (&'a Arc<Release>, Inventory, Value) {
        let (mut fields, mut names, mut lost) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut release = self.before.release;
        let mut inventory = self.before.inventory.inventory.clone();
        for (index, (part, _)) in parts.iter().enumerate() {
            let is_selected = select(index);
            match part {
                Part::Lost(label) if !is_selected => {
                    lost.insert(&**label);
                }
                Part::Lost(_) => {}
                _ if !is_selected => {}
                Part::Release => release = self.after.release,
                Part::Fields(labels) => fields.extend(labels.iter()),
                Part::Nodes(all) => names.extend(all.iter().map(String::as_str)),
                Part::Fact(fact) => fact.copy(&self.after.inventory.inventory, &mut inventory),
            }
        }
        let nodes = self.nodes.iter().filter_map(|(name, (was, is))| {
            let node = if names.contains(*name) { is } else { was };
            node.cloned()
        });
        inventory.nodes = nodes.collect();
        let lists = lists(self.after);
        let object = semantic::mix(&self.old, self.after.object, &lists, &mut |d| fields.contains(&d.label));
        let object = if lost.is_empty() { object } else { versions::with_lost(self.before, &object, &lost) };
        (release, inventory, object)
    }
}
