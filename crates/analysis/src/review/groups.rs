//! Groups changed objects by their causes and changes.

use crate::prelude::*;
use hcoplan_explain::diff::semantic::FieldChange;

/// Objects with the same change.
#[derive(Debug)]
pub struct ObjectLine<'a> {
    /// How they change.
    pub kind: Kind,
    /// Their API version.
    pub api_version: &'a str,
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
    /// The clusters, in order.
    pub clusters: Vec<&'a str>,
}

/// A changed field, or several with the same change.
#[derive(Debug, Default)]
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
}

/// Minimum number of labels, annotations or texts of a list that are printed in one line.
const FEW_LABELS: usize = 3;

impl ObjectLine<'_> {
    /// The objects and fields, without values, which may be specific to a cluster.
    pub(super) fn signature(&self) -> String {
        let fields = self.fields.iter().map(|f| (&f.label, f.before.is_some(), f.after.is_some()));
        let fields: Vec<_> = fields.collect();
        format!("{:?}", (self.kind, self.object_kind, self.namespace, &self.names, &self.instead_of, fields))
    }

    /// Notes values that differ in the same fields of another object.
    pub(super) fn note_other(&mut self, fields: &[FieldLine<'_>]) {
        for (one, other) in self.fields.iter_mut().zip(fields) {
            one.varies |= other.varies || (one.before, one.after) != (other.before, other.after);
        }
    }
}

fn shown(change: &ObjectChange) -> impl Iterator<Item = &FieldChange> {
    change.fields.iter().filter(|f| f.step.noise.is_none())
}

/// The changed objects of a cluster, each with its causes: a change of fields with several causes has a line for each
/// set of causes. Equal changes of objects share a line.
pub(super) fn object_lines(diff: &ClusterDiff) -> Vec<(Vec<usize>, ObjectLine<'_>)> {
    let mut out: Vec<(Vec<usize>, ObjectLine<'_>)> = Vec::new();
    let mut known = BTreeMap::new();
    for change in diff.comparison.objects.iter().filter(|c| !c.is_noise()) {
        for (causes, fields) in parts(change) {
            let key = (
                change.kind,
                &*change.id.kind,
                change.id.namespace.as_deref(),
                change.instead_of.is_some(),
                pattern(change, &fields),
                causes.clone(),
            );
            let line = known.get(&key).and_then(|at: &usize| out.get_mut(*at));
            let Some((_, line)) = line else {
                known.insert(key, out.len());
                let line = ObjectLine {
                    kind: change.kind,
                    api_version: &change.id.api_version,
                    object_kind: &change.id.kind,
                    namespace: change.id.namespace.as_deref(),
                    names: vec![&change.id.name],
                    instead_of: change.instead_of.iter().map(|id| &*id.name).collect(),
                    fields,
                    clusters: vec![&diff.cluster],
                };
                out.push((causes, line));
                continue;
            };
            line.names.push(&change.id.name);
            line.instead_of.extend(change.instead_of.iter().map(|id| &*id.name));
            line.note_other(&fields);
        }
    }
    out
}

/// The changed fields of an object by their causes; an object that is added or removed is one part.
fn parts(change: &ObjectChange) -> BTreeMap<Vec<usize>, Vec<FieldLine<'_>>> {
    if change.kind != Kind::Change {
        return BTreeMap::from([(change.causes.clone(), fields(shown(change)))]);
    }
    let mut out: BTreeMap<Vec<usize>, Vec<&FieldChange>> = BTreeMap::new();
    for field in shown(change) {
        out.entry(field.causes.clone()).or_default().push(field);
    }
    out.into_iter().map(|(causes, part)| (causes, fields(part.into_iter()))).collect()
}

/// Changed fields as lines; equal entries of lists share a line, and so do many labels.
fn fields<'a>(changed: impl Iterator<Item = &'a FieldChange>) -> Vec<FieldLine<'a>> {
    let mut out: Vec<(FieldLine<'a>, String, usize)> = Vec::new();
    // By path and values as text, since there may be thousands of entries.
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    for field in changed {
        let step = &field.step;
        let (before, after) = (step.before.as_ref(), step.after.as_ref());
        let plain = counted_entries(&step.label);
        let line = FieldLine { label: step.label.clone(), path: &step.label, before, after, varies: false };
        let is_entry = plain.contains("[]");
        let same = is_entry.then(|| {
            let values = json!([before.map(|v| [v]), after.map(|v| [v])]);
            let key = (plain.clone(), values.to_string());
            *known.entry(key).or_insert(out.len())
        });
        match same.and_then(|at| out.get_mut(at)) {
            Some((_, _, count)) => *count += 1,
            None => out.push((line, plain, 1)),
        }
    }
    let lines = out.into_iter().map(|(mut line, path, count)| {
        if count > 1 {
            line.label = path.replacen("[]", &format!("[{count} entries]"), 1);
        }
        line
    });
    labels(texts(lines.collect()))
}

/// Many texts of a list, such as ciphers, as one line.
fn texts(fields: Vec<FieldLine<'_>>) -> Vec<FieldLine<'_>> {
    let list_of = |f: &FieldLine<'_>| -> Option<(String, bool)> {
        let text = f.before.or(f.after).filter(|_| f.before.is_none() || f.after.is_none())?.as_str()?;
        let list = f.label.strip_suffix(']')?.strip_suffix(text)?.strip_suffix('[')?;
        Some((list.to_owned(), f.before.is_some()))
    };
    let mut counts: BTreeMap<(String, bool), usize> = BTreeMap::new();
    for list in fields.iter().filter_map(list_of) {
        *counts.entry(list).or_default() += 1;
    }
    let mut out: Vec<FieldLine<'_>> = Vec::new();
    for mut field in fields {
        let Some(list) = list_of(&field) else {
            out.push(field);
            continue;
        };
        let label = list.0.clone();
        let count = counts.entry(list).or_default();
        if *count >= FEW_LABELS {
            field.label = format!("{label}[{count} entries]");
            field.varies = true;
            // The others are counted.
            *count = 0;
            out.push(field);
        } else if *count > 0 {
            field.label = label;
            out.push(field);
        }
    }
    out
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
        out.retain(|f| !are(f));
        out.insert(
            first,
            FieldLine {
                label: format!("{} ({count} of them)", prefix.trim_end_matches('[')),
                varies: true,
                ..FieldLine::default()
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
        let key = part.find(']').filter(|_| !part.starts_with('"'));
        out.push('[');
        out.push_str(&part[key.unwrap_or_default()..]);
    }
    out
}

/// The properties that grouped objects share: their fields, without their own names.
fn pattern(change: &ObjectChange, fields: &[FieldLine<'_>]) -> Vec<String> {
    let own = |label: &str| label.replace(&change.id.name, "{}");
    let sides = |f: &FieldLine<'_>| (f.before.is_some(), f.after.is_some());
    fields.iter().map(|f| format!("{} {:?}", own(&f.label), sides(f))).collect()
}
