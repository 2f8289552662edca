//! Groups clusters with the same changes, and objects within them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::entry::{InputDifference, because};
use hcoplan_explain::diff::semantic::{FieldChange, Impact, ObjectChange, of_field};
use hcoplan_explain::diff::{ClusterDiff, Kind};

/// Clusters with the same changes.
#[derive(Debug)]
pub struct Group<'a> {
    /// The clusters, in order; never empty.
    pub clusters: Vec<&'a ClusterDiff>,
    /// The changes of each.
    pub lines: Vec<ObjectLine<'a>>,
}

/// Objects with the same change.
#[derive(Debug)]
pub struct ObjectLine<'a> {
    /// The first object, in the first cluster.
    pub first: &'a ObjectChange,
    /// How they change.
    pub kind: Kind,
    /// Their kind.
    pub object_kind: &'a str,
    /// Their namespace, if any.
    pub namespace: Option<&'a str>,
    /// Their names.
    pub names: Vec<&'a str>,
    /// The objects that they replace: one for each, or none.
    pub instead_of: Vec<&'a str>,
    /// The changed fields, unless they are added or removed.
    pub fields: Vec<FieldLine<'a>>,
    /// The causes of the whole objects' change; empty if the group has only one cause.
    pub because: Vec<InputDifference<'a>>,
}

/// A changed field, or several with the same change.
#[derive(Debug)]
pub struct FieldLine<'a> {
    /// Its path; with their number for several entries of a list.
    pub label: String,
    /// The path of the first one, which decides whether the value is secret.
    pub path: &'a str,
    /// Before; `None` if added.
    pub before: Option<&'a Value>,
    /// After; `None` if removed.
    pub after: Option<&'a Value>,
    /// Whether the values differ between objects or clusters.
    pub varies: bool,
    /// Whether it affects data or the boot of a virtual machine.
    pub grave: bool,
    /// Its causes; empty if the group has only one cause.
    pub because: Vec<InputDifference<'a>>,
}

/// Minimum number of labels or annotations that are printed in one line.
const FEW_LABELS: usize = 3;

/// Groups clusters by their changes, in the order of the first of each group.
pub(super) fn of<'a>(diffs: &[&'a ClusterDiff]) -> Vec<Group<'a>> {
    let mut alike: Vec<(String, Vec<&'a ClusterDiff>)> = Vec::new();
    let mut known = BTreeMap::new();
    for diff in diffs {
        let key = signature(diff);
        let index = *known.entry(key.clone()).or_insert(alike.len());
        match alike.get_mut(index) {
            Some((_, clusters)) => clusters.push(diff),
            None => alike.push((key, vec![diff])),
        }
    }
    let groups = alike.into_iter().map(|(_, clusters)| Group { lines: lines(&clusters), clusters });
    groups.collect()
}

/// The changes of a cluster without values, which may be specific to it.
fn signature(diff: &ClusterDiff) -> String {
    let mut out = format!("{:?}\n", diff.whole);
    for change in real(diff) {
        let instead = change.instead_of.as_ref().map(|id| &id.name);
        out.push_str(&format!("{}{} {instead:?}\n", change.kind.sign(), change.id));
        for field in shown(change) {
            let sides = (field.step.before.is_some(), field.step.after.is_some());
            out.push_str(&format!(" {} {sides:?}\n", field.step.label));
        }
    }
    out
}

fn real(diff: &ClusterDiff) -> impl Iterator<Item = &ObjectChange> {
    diff.comparison.objects.iter().filter(|c| !c.is_noise())
}

fn shown(change: &ObjectChange) -> impl Iterator<Item = &FieldChange> {
    change.fields.iter().filter(|f| f.step.noise.is_none())
}

fn lines<'a>(clusters: &[&'a ClusterDiff]) -> Vec<ObjectLine<'a>> {
    let Some((first, others)) = clusters.split_first() else {
        return Vec::new();
    };
    let one_cause = first.comparison.causes.len() < 2;
    let because = |causes: &[usize]| if one_cause { Vec::new() } else { because(first, causes) };
    let mut out: Vec<ObjectLine<'a>> = Vec::new();
    let mut known = BTreeMap::new();
    let others: Vec<Vec<&ObjectChange>> = others.iter().map(|o| real(o).collect()).collect();
    for (index, change) in real(first).enumerate() {
        let alike = others.iter().filter_map(|o| o.get(index).copied());
        let alike: Vec<&ObjectChange> = alike.collect();
        let fields = fields(change, &alike, &because);
        let key = (
            change.kind,
            &*change.id.kind,
            change.id.namespace.as_deref(),
            change.instead_of.is_some(),
            pattern(change, &fields),
            change.causes.clone(),
        );
        let line = known.get(&key).and_then(|at: &usize| out.get_mut(*at));
        let Some(line) = line else {
            known.insert(key, out.len());
            out.push(ObjectLine {
                first: change,
                kind: change.kind,
                object_kind: &change.id.kind,
                namespace: change.id.namespace.as_deref(),
                names: vec![&change.id.name],
                instead_of: change.instead_of.iter().map(|id| &*id.name).collect(),
                fields,
                because: because(&change.causes),
            });
            continue;
        };
        line.names.push(&change.id.name);
        line.instead_of.extend(change.instead_of.iter().map(|id| &*id.name));
        for (one, other) in line.fields.iter_mut().zip(fields) {
            one.varies |= other.varies || (one.before, one.after) != (other.before, other.after);
            one.grave |= other.grave;
        }
    }
    out
}

/// The changed fields as lines; equal entries of lists share a line, and so do many labels.
fn fields<'a>(
    change: &'a ObjectChange,
    alike: &[&ObjectChange],
    because: &impl Fn(&[usize]) -> Vec<InputDifference<'a>>,
) -> Vec<FieldLine<'a>> {
    let mut out: Vec<(FieldLine<'a>, String, usize)> = Vec::new();
    // By path and values as text, since there may be thousands of entries.
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    let alike: Vec<Vec<&FieldChange>> = alike.iter().map(|t| shown(t).collect()).collect();
    for (index, field) in shown(change).enumerate() {
        let step = &field.step;
        let (before, after) = (step.before.as_ref(), step.after.as_ref());
        let effect = of_field(change, step);
        let grave = effect.is_some_and(|c| c.impact <= Impact::BootFailure);
        let varies = alike
            .iter()
            .filter_map(|t| t.get(index))
            .any(|other| (other.step.before.as_ref(), other.step.after.as_ref()) != (before, after));
        let plain = counted_entries(&step.label);
        let line = FieldLine {
            label: step.label.clone(),
            path: &step.label,
            before,
            after,
            varies,
            grave,
            because: because(&field.causes),
        };
        let is_entry = plain.contains("[]");
        let same = is_entry.then(|| {
            let values = json!([before.map(|v| [v]), after.map(|v| [v])]);
            let key = (plain.clone(), values.to_string());
            *known.entry(key).or_insert(out.len())
        });
        match same.and_then(|at| out.get_mut(at)) {
            Some((known, _, count)) => {
                known.grave |= grave;
                known.varies |= varies;
                *count += 1;
            }
            None => out.push((line, plain, 1)),
        }
    }
    let lines = out.into_iter().map(|(mut line, path, count)| {
        if count > 1 {
            line.label = path.replacen("[]", &format!("[{count} entries]"), 1);
        }
        line
    });
    labels(lines.collect())
}

/// Prints many labels or annotations in one line.
fn labels(fields: Vec<FieldLine<'_>>) -> Vec<FieldLine<'_>> {
    let mut out = fields;
    for prefix in ["metadata.labels[", "metadata.annotations["] {
        let are = |f: &FieldLine<'_>| f.label.starts_with(prefix);
        let count = out.iter().filter(|f| are(f)).count();
        if count < FEW_LABELS {
            continue;
        }
        let first = out.iter().position(are).unwrap_or_default();
        let (mut many, rest): (Vec<_>, Vec<_>) = out.into_iter().partition(are);
        let because = many.first_mut().map(|f| std::mem::take(&mut f.because));
        out = rest;
        out.insert(
            first.min(out.len()),
            FieldLine {
                label: format!("{} ({count} of them)", prefix.trim_end_matches('[')),
                path: "",
                before: None,
                after: None,
                varies: true,
                grave: many.iter().any(|f| f.grave),
                because: because.unwrap_or_default(),
            },
        );
    }
    out
}

/// A label with `[]` instead of list entries' keys; quoted keys of maps stay.
fn counted_entries(label: &str) -> String {
    let mut parts = label.split('[');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']').filter(|_| !part.starts_with('"')) {
            Some((_, rest)) => {
                out.push_str("[]");
                out.push_str(rest);
            }
            None => {
                out.push('[');
                out.push_str(part);
            }
        }
    }
    out
}

/// The properties that grouped objects share: their fields, without their own names.
fn pattern(change: &ObjectChange, fields: &[FieldLine<'_>]) -> Vec<String> {
    let own = |label: &str| label.replace(&change.id.name, "{}");
    let sides = |f: &FieldLine<'_>| (f.before.is_some(), f.after.is_some());
    fields.iter().map(|f| format!("{} {:?}", own(&f.label), sides(f))).collect()
}
