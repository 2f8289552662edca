//! The release's field map, from the operand's side: finds the field that sets a path.

use super::Context;
use super::prelude::*;
use hcoplan_planner::release::HyperConvergedField;

impl Context<'_> {
    /// The HyperConverged's field that sets a path of an operand or its nearest parent, in the document's version, and
    /// whether it is copied unchanged.
    pub fn field_behind(&self, kind: &str, place: &Path) -> Option<(Path, bool)> {
        let keys = hcoplan_planner::jsonpatch::segments(&place.to_pointer());
        row(self, kind, &keys).map(|row| (row.path, row.how == Transform::Copy))
    }
}

/// A segment of a row's path: a key, or any element of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathStep<'a> {
    Key(&'a str),
    Element,
}

/// The segments of a row's path.
pub(super) fn steps(path: &str) -> PathSteps<'_> {
    PathSteps(path)
}

/// The remaining path of a row.
#[derive(Debug)]
pub(super) struct PathSteps<'a>(&'a str);

impl<'a> Iterator for PathSteps<'a> {
    type Item = PathStep<'a>;

    fn next(&mut self) -> Option<PathStep<'a>> {
        if let Some(rest) = self.0.strip_prefix("[]") {
            self.0 = rest;
            return Some(PathStep::Element);
        }
        let path = self.0.strip_prefix('.').unwrap_or(self.0);
        let end = path.bytes().position(|b| matches!(b, b'.' | b'['));
        let (key, rest) = path.split_at(end.unwrap_or(path.len()));
        self.0 = rest;
        (!key.is_empty()).then_some(PathStep::Key(key))
    }
}

/// The indexes of a pointer at the lists of a row's path, up to the shorter of both; `None` if they differ.
pub(super) fn along(keys: &[String], path: &str) -> Option<Vec<usize>> {
    let mut indices = Vec::new();
    for (key, step) in keys.iter().zip(steps(path)) {
        match step {
            PathStep::Key(name) if key == name => {}
            PathStep::Element => indices.push(key.parse().ok()?),
            PathStep::Key(_) => return None,
        }
    }
    Some(indices)
}

/// A row's path in the HyperConverged with indexes inserted, until they run out.
pub(super) fn with_indices(path: &str, indices: &[usize]) -> Path {
    let mut indices = indices.iter();
    let mut out = Path::root();
    for step in steps(path) {
        out.0.push(match step {
            PathStep::Key(key) => Segment::Key(key.to_owned()),
            PathStep::Element => match indices.next() {
                Some(index) => Segment::Index(*index),
                None => return out,
            },
        });
    }
    out
}

/// A row that sets a path or a parent of it.
pub(super) struct Row<'c> {
    pub field: &'c HyperConvergedField,
    pub how: Transform,
    /// The field's path, or a path below it.
    pub path: Path,
}

/// The rows for this operand in the document's version: field, path and transformation.
pub(super) fn rows<'c, 'a>(
    cx: &'c Context<'a>,
    kind: &'c str,
) -> impl Iterator<Item = (&'c HyperConvergedField, &'c str, Transform)> + use<'c, 'a> {
    let fields = cx.release().fields().iter();
    let fields = fields.filter(move |f| f.api_version == cx.version() && !f.ignored);
    fields.flat_map(move |field| {
        let feeds = field.operands.iter().filter(move |o| o.kind == kind);
        // A field that only contributes to a value isn't its source.
        let own = feeds.filter(|o| o.how != Transform::Part);
        own.map(move |o| (field, o.path.as_str(), o.how))
    })
}

/// The row for a path: its own, else that of the nearest parent.
pub(super) fn row<'c>(cx: &'c Context<'_>, kind: &'c str, keys: &[String]) -> Option<Row<'c>> {
    let leading = rows(cx, kind).filter_map(|(field, place, how)| {
        let indices = along(keys, place)?;
        let depth = steps(place).count();
        let rest = keys.get(depth..)?;
        let mut path = with_indices(&field.path, &indices);
        // Children of a field that is transformed can't be mapped.
        let kind = || cx.schema()?.field(&path).map(|field| field.kind);
        let list = !rest.is_empty() && kind() == Some("array");
        for key in rest.iter().filter(|_| how == Transform::Copy) {
            path = match key.parse() {
                Ok(index) if list => path.index(index),
                _ => path.key(key),
            };
        }
        Some((depth, how != Transform::Derive, Row { field, how, path }))
    });
    // Of several rows, use the first invertible one.
    let rows: Vec<_> = leading.collect();
    let best = rows.iter().map(|(depth, plain, _)| (*depth, *plain)).max()?;
    let mut rows = rows.into_iter();
    let row = rows.find(|(depth, plain, _)| (*depth, *plain) == best)?;
    Some(row.2)
}
