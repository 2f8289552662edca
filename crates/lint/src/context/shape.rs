//! An object with its schema.

use super::Context;
use super::prelude::*;
use hcoplan_planner::release::HyperConvergedField;
use hcoplan_yaml::edit::apply;
use hcoplan_yaml::parse;

use crate::suggestion::suggested;

/// An object with its schema: finds the correct path of values that the schema doesn't know, and moves them.
pub struct Shape<'a, 'c> {
    pub(super) document: &'a Document,
    pub(super) schema: &'a Schema,
    /// The context, if the object is its HyperConverged.
    pub(super) own: Option<&'a Context<'c>>,
    /// All fields of the schema.
    pub(super) fields: Cow<'a, [Path]>,
}

impl<'c> Context<'c> {
    /// The HyperConverged with the schema of its version.
    pub fn shape(&self) -> Option<Shape<'_, 'c>> {
        let schema = self.schema()?;
        let fields = self.known.fields.get_or_init(|| fields_of(self.document(), schema));
        Some(Shape { document: self.document(), schema, own: Some(self), fields: Cow::Borrowed(fields) })
    }

    /// The unknown field that is meant for a missing one, for a section around it that has it, or for a part of it: a
    /// misspelt key, or one on another level of the same list item. That field's finding says what is wrong.
    pub fn meant_for(&self, missing: &Path) -> Option<Path> {
        let (shape, root) = (self.shape()?, self.root());
        let item = missing.0.iter().rposition(|segment| matches!(segment, Segment::Index(_)));
        let around = Path(missing.0[..item.map_or(missing.0.len() - 1, |index| index + 1)].to_vec());
        let has = |(from, to): &(Path, Path)| match missing.0.strip_prefix(&to.0[..]) {
            Some(rest) => root.at(&Path([&from.0, rest].concat())).is_some(),
            None => to.starts_with(missing),
        };
        let unknown = self.admission().pruned.iter().map(|field| &field.path).filter(|path| path.starts_with(&around));
        let mut meant = unknown.filter(|path| shape.destinations(path).iter().any(|d| d.moves.iter().any(has)));
        meant.next().cloned()
    }
}

impl<'a> Shape<'a, '_> {
    /// Another object and its schema.
    pub fn of(document: &'a Document, schema: &'a Schema) -> Self {
        Self { document, schema, own: None, fields: fields_of(document, schema).into() }
    }

    /// A fix that changes the object; `None` if its notation doesn't allow it.
    pub fn fix(&self, title: impl Into<String>, applicability: Applicability, changes: &[Change]) -> Option<Fix> {
        match self.own {
            Some(cx) => cx.fix(title, applicability, changes),
            None => Some(Fix { applicability, ..suggested(self.document, title, changes)? }),
        }
    }

    /// The object's API version.
    pub(super) fn api_version(&self) -> &str {
        self.document.root.text_at("apiVersion").unwrap_or_default()
    }

    /// What is known of a field of the HyperConverged.
    pub(super) fn row(&self, path: &Path) -> Option<&HyperConvergedField> {
        let (cx, text) = (self.own?, path.to_string());
        cx.release().fields().iter().find(|f| f.api_version == cx.version() && f.path == text)
    }

    /// Whether the release ignores a field.
    pub(super) fn is_ignored(&self, path: &Path) -> bool {
        self.row(path).is_some_and(|row| row.ignored)
    }
}

/// Maximum number of keys of a map whose values' fields are looked at.
const MAX_KEYS: usize = 16;

/// All fields of a schema, and those of the values that the document's maps have: `networkBinding.passt.migration`. A key
/// that is named like a field of such a value is a misplaced field, not a key.
fn fields_of(document: &Document, schema: &Schema) -> Vec<Path> {
    let mut fields = schema.all_fields();
    // Only operators write a status.
    fields.retain(|field| field.keys().all(|key| key != "status"));
    let maps = fields.iter().filter(|field| schema.takes_any_key(field));
    let keys = maps.flat_map(|map| {
        let entries = entries(document.root.at(map));
        entries.iter().take(MAX_KEYS).map(|entry| map.key(&entry.key.text))
    });
    // A key that is named like a field of its value.
    let mut values: Vec<Path> =
        keys.filter(|at| !key(at).is_some_and(|name| schema.known_fields(at).contains(&name))).collect();
    let (keys, mut next) = (values.len(), 0);
    while let Some(above) = values.get(next).cloned() {
        values.extend(schema.known_fields(&above).into_iter().map(|name| above.key(name)));
        next += 1;
    }
    fields.extend(values.into_iter().skip(keys));
    fields
}

/// A document after edits. `None` if they change another file, can't be applied, or remove the object.
pub(super) fn document_after(document: &Document, edits: &[Edit]) -> Option<Document> {
    let file = &document.file;
    if edits.iter().any(|e| e.file.path() != file.path()) {
        return None;
    }
    let after = parse(&SourceFile::new(file.path(), apply(file.text(), edits).ok()?));
    if after.problems.iter().any(|problem| problem.kind.is_fatal()) {
        return None;
    }
    let mut after = after.documents.into_iter().nth(document.index)?;
    let is_it = |node: &Node| node.text("kind") == document.root.text("kind");
    if !is_it(&after.root) {
        // An item of a List is a separate document here.
        let before = parse(file);
        let item = before.documents.get(document.index)?.root.path_to(document.root.span)?;
        after.root = after.root.at(&item).filter(|node| is_it(node))?.clone();
    }
    Some(after)
}

/// The last step of a path, if it is a key.
pub(crate) fn key(path: &Path) -> Option<&str> {
    match path.0.last()? {
        Segment::Key(key) => Some(key),
        Segment::Index(_) => None,
    }
}
