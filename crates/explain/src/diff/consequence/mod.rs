//! The consequences of an operand's change for the cluster: functions of the objects before and after it.
//!
//! A row is about a field of a kind. It compares the values of both objects there, without what rows about longer paths
//! cover, and says what happens; a value that the operator would take anyway says nothing. So a section that appears or
//! is removed is compared field by field, too.

mod kubevirt;
mod machine;
mod migration;
mod others;
mod placement;
mod rows;
mod said;
mod shown;
mod users;

use crate::diff::Kind;
use crate::diff::gates;
use crate::diff::semantic::{EffectTime, Impact, NoiseKind, ObjectChange, Step, Task};
use crate::prelude::*;
use hcoplan_kubernetes::tree::{get, remove};
use rows::Row;
use shown::{join, shown};

pub(super) use users::of_key;
pub use users::uses;

/// The consequence of a change.
#[derive(Debug, Default, PartialEq)]
pub struct Consequence {
    /// Its maximum severity.
    pub impact: Impact,
    /// When it happens.
    pub when: EffectTime,
    /// Whether it always happens, not only if something uses the changed part.
    pub certain: bool,
    /// A sentence without a full stop; `{}` is replaced with the subjects.
    pub text: String,
    /// What to do; empty if nothing.
    pub action: String,
    /// The subjects: images, gates, devices.
    pub subjects: Vec<String>,
    /// The virtual machines that it is about, by what they use; of any of these.
    pub users: Vec<String>,
    /// The kind of task; a note for what any of its severity is.
    pub task: Task,
    /// The rule whose finding says the same.
    pub rule: Option<&'static str>,
    /// The path of the table's row.
    path: &'static str,
    /// The changed fields that cause it, by index; empty: the object as a whole.
    pub fields: Vec<usize>,
}

/// Both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides<'a> {
    /// The release before the change.
    pub before: &'a Release,
    /// The release after the change.
    pub after: &'a Release,
    /// The nodes that the inventory declares; none if it declares none.
    pub nodes: &'a [Node],
}

/// A change as a row sees it.
struct Change<'a> {
    object: &'a ObjectChange,
    sides: Sides<'a>,
    /// The path of the values.
    path: &'static str,
    /// The value before; null if unset.
    before: &'a Value,
    /// The value after.
    after: &'a Value,
}

static NULL: Value = Value::Null;

impl<'a> Change<'a> {
    /// The values at another path of both objects.
    fn at(&self, path: &str) -> (&'a Value, &'a Value) {
        (value_at(self.object.before.as_deref(), path), value_at(self.object.after.as_deref(), path))
    }

    /// An object's name in sentences; an import is named by its DataSource, a machine with its namespace.
    fn object_name(&self) -> String {
        let id = &self.object.id;
        let body = self.object.after.as_deref().or(self.object.before.as_deref());
        let source = body.and_then(|b| b["spec"]["managedDataSource"].as_str());
        match &*id.kind {
            "VirtualMachine" => id.full_name(),
            "DataImportCron" => source.unwrap_or(&id.name).to_owned(),
            _ => id.name.clone(),
        }
    }

    /// The changed fields below the path, with their values.
    fn leaves(&self) -> Vec<(String, String, String)> {
        let mut out = Vec::new();
        leaves(self.before, self.after, "", &mut out);
        for (field, ..) in &mut out {
            if field.is_empty() {
                field.push_str(last_part(self.path, '.'));
            }
        }
        out
    }
}

fn leaves(was: &Value, is: &Value, path: &str, out: &mut Vec<(String, String, String)>) {
    if was == is || is_empty(was) && is_empty(is) {
        return;
    }
    let keys = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<BTreeSet<_>>());
    let is_map = |value: &Value| value.is_null() || value.as_object().is_some_and(|map| !map.is_empty());
    match (keys(was), keys(is)) {
        (a, b) if (a.is_some() || b.is_some()) && is_map(was) && is_map(is) => {
            for key in a.into_iter().flatten().chain(b.into_iter().flatten()).collect::<BTreeSet<_>>() {
                let of = |value: &Value| value.get(&key).cloned().unwrap_or_default();
                leaves(&of(was), &of(is), &join(path, &key), out);
            }
        }
        _ => out.push((path.to_owned(), shown(was), shown(is))),
    }
}

/// Whether a value says nothing: sections in it are empty, too.
fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(|map| map.values().all(is_empty))
}

fn value_at<'v>(body: Option<&'v Value>, path: &str) -> &'v Value {
    let mut value = body.unwrap_or(&NULL);
    for key in path.split('.').filter(|key| !key.is_empty()) {
        value = value.get(key).unwrap_or(&NULL);
    }
    value
}

/// A sentence about the HyperConverged, with its values.
pub(super) fn sentence(name: &str, values: &[(&str, &dyn Display)]) -> Consequence {
    said::sentence(name).fill(values)
}

/// The consequences of an object's change.
pub(super) fn consequences(object: &ObjectChange, sides: Sides<'_>) -> Vec<Consequence> {
    let rows = rows::of_kind(&object.id.kind);
    let mut out = Vec::new();
    let replaces = object.instead_of.is_some();
    if object.kind != Kind::Change {
        let row = rows.iter().find(|row| row.is_whole() && (!replaces || row.kind == "DataImportCron"));
        let before = object.before.as_deref().unwrap_or(&NULL);
        // The replaced object is removed; its fields are compared below.
        let after = object.after.as_deref().filter(|_| !replaces).unwrap_or(&NULL);
        let change = Change { object, sides, path: "", before, after };
        out.extend(row.into_iter().flat_map(|row| row.consequences(&change)));
        if !replaces {
            let new = object.after.as_deref().filter(|_| !out.is_empty());
            out.extend(new.into_iter().flat_map(|new| rows.iter().filter_map(|row| row.of_new(new))));
            return out;
        }
        out.retain(|consequence| consequence.impact == Impact::DataLoss);
    }
    let real: Vec<(usize, &str)> = object
        .fields
        .iter()
        .enumerate()
        .filter(|(_, f)| f.step.noise.is_none())
        .map(|(i, f)| (i, &*f.step.label))
        .collect();
    let mut covered: Vec<&str> = Vec::new();
    for row in rows {
        let touched: Vec<usize> =
            real.iter().filter(|(_, label)| row.touches(label, &covered)).map(|(i, _)| *i).collect();
        if !touched.is_empty() {
            let own =
                |body: &Option<Arc<Value>>| without(value_at(body.as_deref(), row.paths[0]), row.paths[0], &covered);
            let (before, after) = (own(&object.before), own(&object.after));
            let change = Change { object, sides, path: row.paths[0], before: &before, after: &after };
            let has_gate = |gate| gates::enabled(sides.after, object.after.as_deref().unwrap_or(&NULL)).contains(gate);
            let is_on = row.switch.is_none_or(|path| change.at(path).1 == true);
            let differs = is_on && (before != after || row.paths.len() > 1);
            let said = match row.idle.filter(|_| !row.gate.is_none_or(has_gate)) {
                _ if !differs => Vec::new(),
                Some(_) if after.is_null() => Vec::new(),
                Some(idle) => vec![idle.plain()],
                None => row.consequences(&change),
            };
            out.extend(said.into_iter().map(|consequence| {
                let of_subject = |i: &usize| {
                    let label = &object.fields[*i].step.label;
                    consequence.subjects.iter().any(|subject| label.contains(subject.as_str()))
                };
                let own: Vec<usize> = touched.iter().copied().filter(of_subject).collect();
                let mut fields = if own.is_empty() { touched.clone() } else { own };
                // With the gate that is switched on for it.
                let of_gate = real.iter().filter(|(_, label)| row.gate.is_some_and(|gate| label.contains(gate)));
                fields.extend(of_gate.map(|(i, _)| *i));
                Consequence { path: row.paths[0], fields, ..consequence }
            }));
        }
        covered.extend(row.paths.iter().filter(|path| !path.is_empty()));
    }
    out
}

/// Marks changed fields that do nothing: one side has what the operator takes anyway, the other has nothing.
pub(super) fn mark_defaults(sides: Sides<'_>, objects: &mut [ObjectChange]) {
    for object in objects.iter_mut().filter(|object| object.kind == Kind::Change) {
        let rows = rows::of_kind(&object.id.kind);
        let bodies = [object.before.as_deref(), object.after.as_deref()];
        let is_same = |step: &Step| {
            let label = &*step.label;
            let has_value = [&step.before, &step.after].into_iter().flatten().any(|value| !is_empty(value));
            if !has_value && rows.iter().any(|row| row.ignores_empty() && is_within(label, row.paths[0])) {
                return true;
            }
            let own = || rows.iter().filter(|row| is_within(row.paths[0], label));
            let paths: Vec<&str> = own().map(|row| row.paths[0]).collect();
            let is_idle = |row: &&Row| {
                let [before, after] = bodies.map(|body| value_at(body, row.paths[0]));
                row.is_idle(&Change { object, sides, path: "", before, after })
            };
            let is_known = paths.contains(&label)
                || !paths.is_empty()
                    && bodies.iter().all(|body| is_empty(&without(value_at(*body, label), label, &paths)));
            is_known && own().all(is_idle)
        };
        let same: Vec<bool> = object.fields.iter().map(|field| is_same(&field.step)).collect();
        for (field, _) in object.fields.iter_mut().zip(same).filter(|(_, same)| *same) {
            field.step.noise = Some(NoiseKind::Server);
        }
    }
}

impl Row {
    /// Whether a field's change is about one of the paths, and not about a longer one only.
    fn touches(&self, label: &str, covered: &[&str]) -> bool {
        let is_metadata = label.starts_with("metadata");
        let is_own = |path: &&str| {
            let below = is_within(label, path) && !covered.iter().any(|c| is_within(c, path) && is_within(label, c));
            below || is_within(path, label)
        };
        self.paths.iter().any(|path| if path.is_empty() { !is_metadata } else { is_own(path) })
    }
}

/// A value without the parts that other rows cover, and without sections that become empty; null if nothing is left.
fn without(value: &Value, path: &str, covered: &[&str]) -> Value {
    let mut out = value.clone();
    for mut own in covered.iter().filter_map(|c| c.strip_prefix(path)?.strip_prefix('.')) {
        while remove(&mut out, own).is_some()
            && let Some((parent, _)) = own.rsplit_once('.')
            && get(&out, parent).is_some_and(is_empty)
        {
            own = parent;
        }
    }
    if out != *value && is_empty(&out) { Value::Null } else { out }
}

#[cfg(test)]
mod tests;
