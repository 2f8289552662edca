//! A HyperConverged of v1beta1, rewritten in v1.
//!
//! The target is the result of the operator's own conversion. Entries are moved one by one, which keeps comments, quotes
//! and layout; comments of entries that v1 doesn't need go above the first field. Where that isn't possible, `spec` is
//! rewritten, if it has no comment. The result is parsed again: it has to equal the conversion, and the release has to
//! store and render the same.

mod layers;
mod moves;
mod place;
mod same;
#[cfg(test)]
mod tests;

pub use layers::{UnmigratableLayer, kustomization_by_hand, operation_by_hand, resource_to_v1};
pub use place::without_place;

use crate::prelude::*;
use std::fmt;

use hcoplan_kubernetes::tree::get;
use hcoplan_planner::hyperconverged::{MOVES, convert, version_of};
use hcoplan_planner::inventory::Inventory;
use hcoplan_yaml::edit::{self, Reason};
use hcoplan_yaml::parse;
use serde_json::{Value as Json, json};

/// A document that was not rewritten, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotMigrated {
    /// The release doesn't serve v1; its name.
    NotServed(String),
    /// It isn't v1beta1; its version.
    Version(String),
    /// It would be rejected as it is.
    Rejected(String),
    /// It would be rejected in v1.
    RejectedAfter(String),
    /// The cluster would hold something else: the first path at which it differs.
    StoresOther(String),
    /// The operands would be others: the first object that differs.
    RendersOther(String),
    /// A feature gate at this path is ignored, and a field that took its place would do what it says:
    /// it would be lost with the gate.
    Ignored {
        /// The gate.
        gate: String,
        /// The field that replaces it, in v1beta1.
        field: String,
    },
    /// A field that v1beta1 doesn't know, at this path: v1 has no place for what is meant by it, either.
    Unknown(String),
    /// It is written in a way that can't be rewritten.
    Text(Reason),
}

impl fmt::Display for NotMigrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotServed(release) => write!(f, "{release} doesn't serve v1"),
            Self::Version(version) => write!(f, "it is {version}, not v1beta1"),
            Self::Rejected(message) => write!(f, "it would be rejected as it is: {message}"),
            Self::RejectedAfter(message) => write!(f, "it would be rejected in v1: {message}"),
            Self::StoresOther(path) => {
                write!(f, "the cluster would store something else at {path}")
            }
            Self::RendersOther(object) => write!(f, "{object} would be another one"),
            Self::Ignored { gate, field } => write!(
                f,
                "{gate} is ignored and would be lost: {field} took its place (fix --unsafe \
                 --select ignored-field carries it over)"
            ),
            Self::Unknown(field) => write!(
                f,
                "{field} isn't a field of v1beta1 and would be lost: fix it first (fix --select \
                 hco-unknown-field), or remove it"
            ),
            Self::Text(reason) => reason.fmt(f),
        }
    }
}

impl From<Reason> for NotMigrated {
    fn from(reason: Reason) -> Self {
        Self::Text(reason)
    }
}

/// A document's file with the document in v1.
#[derive(Debug, Clone)]
pub struct Migrated {
    /// The file's text.
    pub text: String,
    /// Fields that v1 has no place for and that the release ignores, below the root.
    pub dropped: Vec<String>,
}

/// Rewrites a HyperConverged of v1beta1 in v1.
///
/// # Errors
/// Why it stays as it is.
pub fn to_v1(release: &Release, inventory: &Inventory, document: &Document) -> Result<Migrated, NotMigrated> {
    let object = document.root.to_json();
    if !release.serves("v1") {
        return Err(NotMigrated::NotServed(release.display_name()));
    }
    if version_of(&object) != "v1beta1" {
        let version = version_of(&object).to_owned();
        return Err(NotMigrated::Version(version));
    }
    let renames = deprecated_names(&document.root, &Path::root());
    let mut renamed = object.clone();
    renames.iter().try_for_each(|rename| rename.apply(&mut renamed))?;
    let intended = intended(release, &renamed);
    is_same(release, inventory, &object, &intended)?;
    let text = rewritten(release, document, &intended)?;
    Ok(Migrated { text, dropped: without_place(&object) })
}

/// Lists of mediated devices under the name that v1 doesn't have: HCO's webhook copies them to the new one, so they are
/// renamed before anything moves.
fn deprecated_names(object: &Node, at: &Path) -> Vec<Change> {
    const SECTION: &str = "spec.mediatedDevicesConfiguration";
    let Some(section) = object.below(SECTION) else {
        return Vec::new();
    };
    let all = mediated_device_lists(section, at.below(SECTION)).into_iter();
    let old = all.filter(|(node, _)| node.get(NEW_DEVICES).is_none() && node.get(OLD_DEVICES).is_some());
    old.map(|(_, path)| Change::Rename(path.key(OLD_DEVICES), NEW_DEVICES.to_owned())).collect()
}

/// A list of mediated devices under the deprecated name of v1beta1, and under the one that stays.
pub(crate) const OLD_DEVICES: &str = "mediatedDevicesTypes";
pub(crate) const NEW_DEVICES: &str = "mediatedDeviceTypes";

/// What may hold such a list, each with its path: the section itself, and what it says of single nodes.
pub(crate) fn mediated_device_lists(section: &Node, path: Path) -> Vec<(&Node, Path)> {
    let list = path.key("nodeMediatedDeviceTypes");
    let nodes = section.list_at("nodeMediatedDeviceTypes");
    let nodes = nodes.iter().enumerate().map(|(index, node)| (node, list.index(index)));
    std::iter::once((section, path)).chain(nodes).collect()
}

/// Whether a cluster would store and render the same of what layers built as v1beta1 and of what they build now.
///
/// # Errors
/// What would be another one.
pub fn is_same(release: &Release, inventory: &Inventory, before: &Json, after: &Json) -> Result<(), NotMigrated> {
    if !release.serves("v1") {
        return Err(NotMigrated::NotServed(release.name().to_owned()));
    }
    if let Some(lost) = lost(release, before) {
        return Err(lost);
    }
    same::check(release, inventory, before, after)
}

/// A value that v1beta1 has and v1 would lose.
fn lost(release: &Release, object: &Json) -> Option<NotMigrated> {
    ignored_gate(release, object).or_else(|| unknown_field(release, object))
}

/// A field without a place in v1 that v1beta1 doesn't know, either: something else is meant by it.
fn unknown_field(release: &Release, object: &Json) -> Option<NotMigrated> {
    let schema = release.hyperconverged_schema("v1beta1")?;
    let mut fields = without_place(object).into_iter();
    let unknown = fields.find(|field| schema.field(&Path::dotted(field)).is_none());
    unknown.map(NotMigrated::Unknown)
}

/// A gate that became a field of v1beta1 long ago, and says something else than that field.
fn ignored_gate(release: &Release, object: &Json) -> Option<NotMigrated> {
    let schema = release.hyperconverged_schema("v1beta1")?;
    let gates = object.pointer("/spec/featureGates")?.as_object()?;
    let moved = gates.iter().find_map(|(gate, on)| {
        let (field, _) = MOVES.iter().find(|(field, _)| field == gate)?;
        let field = format!("spec.{field}");
        let default = schema.default_at(&Path::dotted(&field));
        let is_written = get(object, &field).is_some();
        let says_so = default.map_or(*on == false, |default| default == on);
        (!is_written && on.is_boolean() && !says_so).then_some((gate, field))
    });
    moved.map(|(gate, field)| NotMigrated::Ignored { gate: format!("spec.featureGates.{gate}"), field })
}

/// The document in v1, as the operator converts it.
fn intended(release: &Release, object: &Json) -> Json {
    let mut out = convert(release, object, "v1");
    let Some(spec) = out.get_mut("spec").and_then(Json::as_object_mut) else {
        return out;
    };
    // A section that lost all that was in it on the way.
    spec.retain(|_, section| section.as_object().is_none_or(|s| !s.is_empty()));
    if spec.is_empty()
        && object.get("spec").is_none()
        && let Some(out) = out.as_object_mut()
    {
        out.remove("spec");
    }
    out
}

/// The file's text with the object rewritten, verified.
fn rewritten(release: &Release, document: &Document, intended: &Json) -> Result<String, Reason> {
    let file = EditableFile::of(&document.file);
    let whole = file.document(document.index).ok_or(Reason::Layout)?;
    let at = whole.root.path_to(document.root.span).ok_or(Reason::Layout)?;
    let mut trees = file.documents().to_vec();
    let tree = trees.get_mut(document.index).ok_or(Reason::Layout)?;
    Change::Set(at.clone(), intended.clone()).apply(tree)?;
    let mut changes = deprecated_names(&document.root, &at);
    changes.extend(moves::changes(release, &document.root, &at, intended));
    // Each move was verified; together they change the order of comments.
    let moved = edit::edits_of(&file, whole, &changes).and_then(|edits| edit::apply(document.file.text(), &edits));
    let moved = moved.map(|text| with_comments(document, &SourceFile::new("", text), &at.key("spec")));
    let is_meant = |text: &String| EditableFile::of(&SourceFile::new("", text.clone())).documents() == trees;
    if let Some(text) = moved.ok().filter(is_meant) {
        return Ok(text);
    }
    let mut changes = vec![Change::Set(at.key("apiVersion"), json!("hco.kubevirt.io/v1"))];
    if let Some(spec) = intended.get("spec") {
        changes.push(Change::Set(at.key("spec"), spec.clone()));
    }
    let after = edit::apply_and_verify(&file, &edit::edits_of(&file, whole, &changes)?, &trees)?;
    Ok(after.file().text().to_owned())
}

/// The text of a moved document, with the comments of what v1 doesn't need above the first field of its `spec`.
fn with_comments(before: &Document, after: &Arc<SourceFile>, spec: &Path) -> String {
    let mut text = after.text().to_owned();
    let documents = parse(after).documents;
    let Some(document) = documents.get(before.index) else { return text };
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for comment in &document.comments {
        *kept.entry(&text[comment.span.range()]).or_default() += 1;
    }
    let all = before.comments.iter().map(|c| &before.file.text()[c.span.range()]);
    let mut lost: Vec<&str> = all.collect();
    lost.retain(|comment| match kept.get_mut(*comment) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let entries = document.root.at(spec).map_or(&[][..], Node::entries);
    let key = entries.first().map(|entry| entry.key.span).or_else(|| Some(document.root.key_at(spec)?.span));
    if let Some(key) = key.filter(|_| !lost.is_empty()) {
        let line = edit::line_start(&text, key.start as usize);
        let indent = " ".repeat(key.start as usize - line);
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines: String = lost.iter().map(|comment| format!("{indent}{}{line_break}", comment.trim_end())).collect();
        text.insert_str(line, &lines);
    }
    text
}
