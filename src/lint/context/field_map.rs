//! The release's field map, read from the operand's side: which field feeds a place.

use super::Context;
use crate::release::HyperConvergedField;
use crate::yaml::Path;

impl Context<'_> {
    /// The HyperConverged's field behind a place of an operand, in the document's own version, or
    /// behind the nearest place above it.
    pub fn field_behind(&self, kind: &str, place: &Path) -> Option<Path> {
        let keys = crate::jsonpatch::segments(&place.to_pointer());
        row(self, kind, &keys).map(|row| row.path)
    }
}

/// How a field gets into an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// As it is.
    Copied,
    /// The opposite switch.
    Negated,
    /// `true` becomes an empty object.
    EmptyObject,
    /// Each element becomes a key with `true`.
    Keys,
    /// In a way that isn't turned round here.
    Derived,
}

/// How a row of the field map does it; `None` where something else than this field is the
/// place's own.
fn how(transform: &str) -> Option<How> {
    let table = [
        ("copy of the effective", How::Derived),
        ("copy", How::Copied),
        ("rename", How::Copied),
        ("negate", How::Negated),
        ("derive: parsed as Kubernetes quantity", How::Copied),
        ("derive: same duration", How::Copied),
        ("derive: same rule", How::Copied),
        ("derive: RemoveWorkloads", How::Copied),
        ("derive: this map", How::Copied),
        ("derive: this value, else", How::Copied),
        ("derive: true => {}", How::EmptyObject),
        ("derive: map model", How::Keys),
        ("derive: merged with the common", How::Derived),
        ("derive: effective profile", How::Derived),
        ("derive: value \"annotation\"", How::Derived),
        ("derive: true => {domain", How::Derived),
    ];
    let row = table.into_iter().find(|(t, _)| transform.starts_with(t))?;
    Some(row.1)
}

/// A step of a row's path: a key, or any element of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Element,
}

fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let key = part.trim_end_matches("[]");
        steps.push(Step::Key(key));
        steps.extend((key.len()..part.len()).step_by(2).map(|_| Step::Element));
    }
    steps
}

/// The indices of a pointer where a row's path leads through lists, as far as both go; `None`
/// where they part.
pub(super) fn along(keys: &[String], steps: &[Step<'_>]) -> Option<Vec<usize>> {
    let mut indices = Vec::new();
    for (key, step) in keys.iter().zip(steps) {
        match step {
            Step::Key(name) if key == name => {}
            Step::Element => indices.push(key.parse().ok()?),
            Step::Key(_) => return None,
        }
    }
    Some(indices)
}

/// A row's path in the HyperConverged with the indices in their places; it ends where they do.
pub(super) fn with_indices(path: &str, indices: &[usize]) -> Path {
    let mut indices = indices.iter();
    let mut out = Path::root();
    for step in steps(path) {
        out = match step {
            Step::Key(key) => out.key(key),
            Step::Element => match indices.next() {
                Some(index) => out.index(*index),
                None => return out,
            },
        };
    }
    out
}

/// A row that leads to a place, or above it.
pub(super) struct Row<'c> {
    pub field: &'c HyperConvergedField,
    pub how: How,
    /// The field's path, or what is below it.
    pub path: Path,
}

/// The rows of the field map for this operand and the document's version.
pub(super) fn rows<'c, 'a>(
    cx: &'c Context<'a>,
    kind: &'c str,
) -> impl Iterator<Item = (&'c HyperConvergedField, Vec<Step<'c>>, How)> + use<'c, 'a> {
    let fields = cx.release().fields().iter();
    let fields = fields.filter(move |f| f.api_version == cx.version() && !f.ignored);
    fields.flat_map(move |field| {
        let feeds = field.operands.iter().filter(move |o| o.kind == kind);
        feeds.filter_map(move |o| Some((field, steps(&o.path), how(&o.transform)?)))
    })
}

/// The row for a place: its own, else the one of the nearest place above it.
pub(super) fn row<'c>(cx: &'c Context<'_>, kind: &'c str, keys: &[String]) -> Option<Row<'c>> {
    let leading = rows(cx, kind).filter_map(|(field, steps, how)| {
        let indices = along(keys, &steps).filter(|_| steps.len() <= keys.len())?;
        let mut path = with_indices(&field.path, &indices);
        let rest = keys.get(steps.len()..)?;
        // Below a field that is no copy, nothing can be named.
        let list = field.ty.starts_with("array");
        for key in rest.iter().filter(|_| how == How::Copied) {
            path = match key.parse() {
                Ok(index) if list => path.index(index),
                _ => path.key(key),
            };
        }
        Some((steps.len(), how != How::Derived, Row { field, how, path }))
    });
    // Of several, the first that can be turned round.
    let rows: Vec<_> = leading.collect();
    let best = rows
        .iter()
        .map(|(depth, plain, _)| (*depth, *plain))
        .max()?;
    let mut rows = rows.into_iter();
    let row = rows.find(|(depth, plain, _)| (*depth, *plain) == best)?;
    Some(row.2)
}
