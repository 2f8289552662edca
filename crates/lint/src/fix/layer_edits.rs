//! Fixes of a kustomize build, moved to the layers of the build.
//!
//! A rule edits the build. What its edits do to the tree is done to the layer that set the value: a file, a
//! patch, or a patch in a kustomization. Where no single layer can be changed so that the build becomes what
//! was meant, there is no fix, and a reason. Nothing is built here: whoever applies a fix builds again and
//! compares.

use camino::Utf8Path;
use hcoplan_diagnostics::finding::BuildFix;
use hcoplan_repository::repo::{BuildLayer, LayerKind, LayerValue, layer_values};
use hcoplan_yaml::edit::{self, Change, EditableFile, apply_and_read};
use hcoplan_yaml::{Style, Value, block_of, edit_part, parse};
use serde_json::Value as Json;

use super::delta::{Delta, DeltaKind, deltas};
use super::round::by_file;
use crate::prelude::*;

/// Moves the fixes of a finding that edit a build to the build's layers. Removes those that can't be moved; the
/// finding says why.
pub fn move_to_layers<'l>(finding: &mut Finding, layers: impl Fn(&Utf8Path) -> &'l [BuildLayer]) {
    let place = finding.location.as_ref();
    let near = place.and_then(Location::origin).map(|o| o.file);
    let mut fixes = std::mem::take(&mut finding.fixes);
    fixes.retain_mut(|fix| {
        let is_generated = |e: &Edit| e.file.is_generated();
        if !fix.edits.iter().any(is_generated) {
            return true;
        }
        let (build_edits, own): (Vec<_>, Vec<_>) = fix.edits.iter().cloned().partition(is_generated);
        let mut edits = build_edits.clone();
        let moved = if edits.iter_mut().all(Edit::move_to_origin) {
            Ok(edits)
        } else {
            edits_of_layers(&build_edits, &layers, near.as_ref().map(|f| f.path()))
        };
        match moved {
            Ok(edits) => {
                fix.edits = [edits, own].concat();
                if loses_comment(&fix.edits) {
                    fix.mark_comment_removal();
                }
                let edits = fix.edits.clone();
                finding.build_fixes.push(BuildFix { edits, build_edits });
                true
            }
            Err(why) => {
                let why = format!("can't {}: {why}", fix.title);
                finding.not_fixed.get_or_insert(why.into());
                false
            }
        }
    });
    finding.fixes = fixes;
}

/// Whether edits take a comment of one of their files away.
fn loses_comment(edits: &[Edit]) -> bool {
    let loses = |edits: &Vec<Edit>| {
        let first = edits.first();
        first.is_some_and(|e| EditableFile::of(&e.file).loses_comment(edits))
    };
    by_file(edits).values().any(loses)
}

/// Whether a build equals the build before with edits applied; else the first path at which it differs.
///
/// # Errors
/// That path, or why it is unknown.
pub fn is_as_intended(build_edits: &[&Edit], built: &str) -> Result<(), edit::Reason> {
    let Some(first) = build_edits.first() else {
        return Ok(());
    };
    let mut edits: Vec<Edit> = Vec::new();
    for edit in build_edits {
        if edit.file.text() != first.file.text() {
            return Err(edit::Reason::Overlap);
        }
        if !edits.iter().any(|e| e.span == edit.span && e.text == edit.text) {
            edits.push((*edit).clone());
        }
    }
    let meant = apply_and_read(&EditableFile::of(&first.file), &edits)?.documents;
    let built = SourceFile::new(first.file.path(), built);
    let is = EditableFile::of(&built);
    if meant.len() != is.documents().len() {
        return Err(edit::Reason::Layout);
    }
    let meant: Vec<Json> = meant.into_iter().map(without_empty).collect();
    let is: Vec<Json> = is.documents().iter().cloned().map(without_empty).collect();
    match deltas(&meant, &is).first() {
        None => Ok(()),
        Some(delta) => Err(edit::Reason::Differs(below(&delta.path).to_string())),
    }
}

/// An object without annotations and labels that are none.
fn without_empty(mut object: Json) -> Json {
    let is_empty = |v: &Json| v.as_object().is_some_and(serde_json::Map::is_empty);
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.retain(|key, value| !matches!(&**key, "annotations" | "labels") || !is_empty(value));
    }
    object
}

/// The keys that are around a value in another one that holds nothing else.
fn keys_around(new: &Json, value: &Json) -> Option<Vec<String>> {
    if new == value {
        return Some(Vec::new());
    }
    let entries = new.as_object().filter(|entries| entries.len() == 1)?;
    let (key, inner) = entries.iter().next()?;
    let mut keys = keys_around(inner, value)?;
    keys.insert(0, key.clone());
    Some(keys)
}

/// A path without the document's index.
fn below(path: &Path) -> Path {
    Path(path.0.get(1..).unwrap_or_default().to_vec())
}

/// The changes to each layer.
#[derive(Default)]
struct LayerPlan {
    changes: BTreeMap<usize, Vec<Change>>,
    /// Edits that are there already: of a layer's document, and of files.
    parts: Vec<(usize, Edit)>,
    edits: Vec<Edit>,
}

/// Edits of a build as edits of its layers, preferably of a file.
fn edits_of_layers<'l>(
    build_edits: &[Edit],
    layers: impl Fn(&Utf8Path) -> &'l [BuildLayer],
    near: Option<&Utf8Path>,
) -> Result<Vec<Edit>, String> {
    let Some(first) = build_edits.first() else {
        return Ok(Vec::new());
    };
    let layers = layers(first.file.path());
    if layers.is_empty() {
        return Err("what it is rendered from can't be edited here".to_owned());
    }
    if build_edits.iter().any(|e| e.file.path() != first.file.path()) {
        return Err("it changes several builds".to_owned());
    }
    let said = |reason: edit::Reason| reason.to_string();
    let before = EditableFile::of(&first.file);
    let after = apply_and_read(&before, build_edits).map_err(said)?;
    if after.documents.len() != before.documents().len() {
        return Err("it adds or takes away an object".to_owned());
    }
    let documents = parse(&first.file).documents;
    let mut plan = LayerPlan::default();
    let all = deltas(before.documents(), &after.documents);
    let mut renamed = Vec::new();
    for delta in &all {
        let document = match delta.path.0.first() {
            Some(Segment::Index(index)) => documents.get(*index),
            _ => None,
        };
        let document = document.ok_or("the build reads otherwise")?;
        let writer = LayerWriter { layers, object: &document.root, near };
        if renamed.contains(&&delta.path) {
            continue;
        }
        match writer.rename(delta, &all, &mut plan) {
            Some(to) => renamed.push(&to.path),
            None => writer.delta(delta, &mut plan)?,
        }
    }
    let mut by_layer: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
    for (index, mut changes) in plan.changes {
        // Items from the last one, so that the others stay where they are.
        changes.sort_by(|a, b| match (a, b) {
            (Change::Remove(a), Change::Remove(b)) => b.0.cmp(&a.0),
            _ => std::cmp::Ordering::Equal,
        });
        let edits = edit::edits(&layers[index].document, &changes).map_err(said)?;
        by_layer.entry(index).or_default().extend(edits);
    }
    for (index, edit) in plan.parts {
        by_layer.entry(index).or_default().push(edit);
    }
    let mut out = plan.edits;
    for (index, edits) in by_layer {
        let layer = &layers[index];
        let place = || at(layer, layer.document.root.span);
        let edits = layer.in_file(edits);
        out.extend(edits.ok_or_else(|| format!("the patch at {} isn't written as a block", place()))?);
    }
    Ok(out)
}

struct LayerWriter<'c> {
    layers: &'c [BuildLayer],
    /// The object in the build.
    object: &'c Node,
    /// The file in which something is put, where there is a choice.
    near: Option<&'c Utf8Path>,
}

impl LayerWriter<'_> {
    fn delta(&self, delta: &Delta, plan: &mut LayerPlan) -> Result<(), String> {
        let path = below(&delta.path);
        let old = self.object.at(&path);
        match (&delta.what, old) {
            _ if path.0.is_empty() => Err("it rewrites the whole object".to_owned()),
            (DeltaKind::Gone, _) => self.remove(&path, plan),
            (DeltaKind::Part(range, text), Some(old)) => {
                let found = self.own(&path, old)?;
                let mut string = old.as_str().unwrap_or_default().to_owned();
                string.replace_range(range.clone(), text);
                if !matches!(found.node.style, Style::Literal | Style::Folded) {
                    let change = Change::Set(self.path_of(&found)?, string.into());
                    plan.changes.entry(found.layer).or_default().push(change);
                    return Ok(());
                }
                let document = &self.layers[found.layer].document;
                let edits = match edit_part(document, found.node, range.clone(), text) {
                    Some(edit) => vec![edit],
                    None if found.node.style == Style::Literal => {
                        let (mut whole, span) = (document.file.text().to_owned(), found.node.span);
                        let block = block_of(&whole[span.range()], &string);
                        whole.replace_range(span.range(), &block);
                        edit::line_edits(&document.file, &whole)
                    }
                    None => return Err(format!("{} is written as a folded text", self.at(&found))),
                };
                plan.parts.extend(edits.into_iter().map(|e| (found.layer, e)));
                Ok(())
            }
            (DeltaKind::Set(value), Some(old)) => match (&old.value, value) {
                (Value::Seq(_), Json::Array(new)) => self.list(&path, old, new, plan),
                _ => self.replace(&path, old, value, plan),
            },
            (DeltaKind::Set(value), None) => self.insert(&path, value, plan),
            (DeltaKind::Part(..), None) => Err("the build reads otherwise".to_owned()),
        }
    }

    /// Moves a value that one operation adds where the operation says so: what is put elsewhere instead would go into
    /// other clusters, too. Where it goes then; `None` where it isn't that.
    fn rename<'d>(&self, gone: &Delta, all: &'d [Delta], plan: &mut LayerPlan) -> Option<&'d Delta> {
        let path = below(&gone.path);
        let old = self.object.at(&path).filter(|_| gone.what == DeltaKind::Gone)?;
        let value = old.to_json();
        let (to, keys) = all.iter().find_map(|d| {
            let DeltaKind::Set(new) = &d.what else {
                return None;
            };
            let keys = keys_around(new, &value)?;
            self.object.at(&below(&d.path)).is_none().then_some((d, keys))
        })?;
        let said = self.said(&path);
        let [only] = said.as_slice() else {
            return None;
        };
        let layer = &self.layers[only.layer];
        let mut at = self.path_of(only).ok()?;
        let is_value = matches!(at.0.as_slice(), [_, Segment::Key(key)] if key == "value");
        let pointer = layer.document.root.at(&at.parent().key("path")).and_then(Node::as_str)?;
        let is_add = layer.document.root.at(&at.parent().key("op")).and_then(Node::as_str) == Some("add");
        let same_parent = to.path.parent() == gone.path.parent() && keys.is_empty();
        if layer.what != LayerKind::Operations || !is_value || !(is_add || same_parent) || pointer != path.to_pointer()
        {
            return None;
        }
        if !keys.is_empty() {
            let is_flow = !matches!(only.node.style, Style::Literal | Style::Folded)
                && (only.node.style == Style::Flow || only.node.entries().is_empty() && only.node.items().is_empty());
            if is_flow {
                // In braces its comment stays.
                let (open, close) = keys.iter().fold((String::new(), String::new()), |(open, close), key| {
                    (format!("{open}{{{key}: "), format!("{close}}}"))
                });
                let text = format!("{open}{}{close}", &layer.document.file.text()[only.node.span.range()]);
                let file = Arc::clone(&layer.document.file);
                plan.parts.push((only.layer, Edit { file, span: only.node.span, text }));
            } else if let DeltaKind::Set(new) = &to.what {
                plan.changes.entry(only.layer).or_default().push(Change::Set(at.clone(), new.clone()));
            }
        }
        at = at.parent().key("path");
        let change = Change::Set(at, below(&to.path).to_pointer().into());
        plan.changes.entry(only.layer).or_default().push(change);
        Some(to)
    }

    fn said(&self, path: &Path) -> Vec<LayerValue<'_>> {
        layer_values(self.layers, self.object, path)
    }

    /// The layer that has the whole of a value.
    fn own(&self, path: &Path, old: &Node) -> Result<LayerValue<'_>, String> {
        let json = old.to_json();
        let said = self.said(path);
        let last = said.first().ok_or_else(|| unknown(path))?;
        let found = said.iter().find(|s| !s.is_value || s.node.to_json() == json);
        let found = found.ok_or_else(|| format!("{} isn't all of {path}", self.at(last)))?;
        self.is_editable(found)?;
        Ok(*found)
    }

    fn replace(&self, path: &Path, old: &Node, new: &Json, plan: &mut LayerPlan) -> Result<(), String> {
        let found = self.own(path, old)?;
        let change = Change::Set(self.path_of(&found)?, new.clone());
        plan.changes.entry(found.layer).or_default().push(change);
        Ok(())
    }

    /// A list that has other items, fewer, or more at its end.
    fn list(&self, path: &Path, old: &Node, new: &[Json], plan: &mut LayerPlan) -> Result<(), String> {
        let items: Vec<Json> = old.items().iter().map(Node::to_json).collect();
        if let Some(more) = new.strip_prefix(items.as_slice()) {
            let said = self.said(path);
            let is_list = |s: &&LayerValue<'_>| s.is_value && matches!(s.node.value, Value::Seq(_));
            let list = said.iter().find(is_list).ok_or_else(|| unknown(path))?;
            self.is_editable(list)?;
            let to = self.path_of(list)?;
            let changes = more.iter().map(|item| Change::Append(to.clone(), item.clone()));
            plan.changes.entry(list.layer).or_default().extend(changes);
            return Ok(());
        }
        let mut kept = new.iter().peekable();
        let mut gone = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match kept.next_if_eq(&item) {
                Some(_) => {}
                None => gone.push(index),
            }
        }
        if kept.peek().is_some() {
            return self.replace(path, old, &Json::Array(new.to_vec()), plan);
        }
        gone.into_iter().try_for_each(|index| self.remove(&path.index(index), plan))
    }

    fn remove(&self, path: &Path, plan: &mut LayerPlan) -> Result<(), String> {
        let old = self.object.at(path).ok_or_else(|| unknown(path))?;
        let said = self.said(path);
        let found = match path.0.last() {
            Some(Segment::Index(_)) => &self.own(path, old)?,
            _ => said.first().ok_or_else(|| unknown(path))?,
        };
        self.is_editable(found)?;
        if let (Some(Segment::Key(_)), Some(other)) = (path.0.last(), said.get(1)) {
            return Err(format!("{} sets it, too, and would then apply: remove it there first", self.at(other)));
        }
        let layer = &self.layers[found.layer];
        let mut place = self.path_of(found)?;
        let operations = layer.document.root.items().len();
        match (layer.what, place.0.as_slice()) {
            (LayerKind::Operations, [index, Segment::Key(_)]) if operations > 1 => {
                place = Path(vec![index.clone()]);
            }
            (LayerKind::Operations, [_, Segment::Key(_)]) => {
                plan.edits.extend(without_patch(layer)?);
                return Ok(());
            }
            (LayerKind::Merge, _) => {
                // What a patch says of a mapping that others fill needn't be said any more.
                let is_alone = |p: &Path| layer.document.root.at(p).is_some_and(|n| n.entries().len() == 1);
                let is_filled = self.object.at(&path.parent()).is_some_and(|n| n.entries().len() > 1);
                while is_filled && place.0.len() > 1 && is_alone(&place.parent()) {
                    place = place.parent();
                }
            }
            _ => {}
        }
        plan.changes.entry(found.layer).or_default().push(Change::Remove(place));
        Ok(())
    }

    /// Inserts a missing value into the deepest parent that a layer sets.
    fn insert(&self, path: &Path, value: &Json, plan: &mut LayerPlan) -> Result<(), String> {
        for depth in (0..path.0.len()).rev() {
            if !matches!(path.0[depth], Segment::Key(_)) {
                break;
            }
            let said = self.said(&Path(path.0[..depth].to_vec()));
            let may = |s: &&LayerValue<'_>| {
                self.is_editable(s).is_ok() && matches!(s.node.value, Value::Map(_) | Value::Null)
            };
            let is_near = |s: &&LayerValue<'_>| self.near == Some(self.layers[s.layer].document.file.path());
            let mut fit = said.iter().filter(may);
            let Some(found) = fit.clone().find(is_near).or_else(|| fit.next()) else {
                continue;
            };
            let mut to = self.path_of(found)?;
            to.0.extend_from_slice(&path.0[depth..]);
            let change = Change::Set(to, value.clone());
            plan.changes.entry(found.layer).or_default().push(change);
            return Ok(());
        }
        Err(unknown(path))
    }

    fn is_editable(&self, found: &LayerValue<'_>) -> Result<(), String> {
        let is_field = self.layers[found.layer].what == LayerKind::Fields;
        if found.is_value && !is_field {
            Ok(())
        } else {
            Err(format!("kustomize makes it, as {} says", self.at(found)))
        }
    }

    fn path_of(&self, found: &LayerValue<'_>) -> Result<Path, String> {
        let root = &self.layers[found.layer].document.root;
        let path = root.path_to(found.node.span);
        path.ok_or_else(|| format!("{} is written with an alias", self.at(found)))
    }

    fn at(&self, found: &LayerValue<'_>) -> String {
        at(&self.layers[found.layer], found.node.span)
    }
}

fn at(layer: &BuildLayer, span: Span) -> String {
    let place = layer.place(span);
    format!("{}:{}", place.file.path(), place.start().line)
}

fn unknown(path: &Path) -> String {
    format!("no file has {path} as it is built")
}

/// The edits that take a patch out of the kustomization that it is in.
fn without_patch(layer: &BuildLayer) -> Result<Vec<Edit>, String> {
    let Some((kustomization, entry)) = layer.entry() else {
        return Err(format!(
            "it is all that {} does: remove the patch, and its entry in the kustomization",
            layer.document.file.path()
        ));
    };
    if entry.0.is_empty() {
        let file = kustomization.file.path();
        return Err(format!("it is all that {file} does: remove the transformer, and its entry in the kustomization"));
    }
    let path = match list_of(kustomization, &entry) {
        1 => entry.parent(),
        _ => entry,
    };
    let edits = edit::edits(kustomization, &[Change::Remove(path)]);
    edits.map_err(|reason| reason.to_string())
}

/// How many items the list of an item has.
fn list_of(document: &Document, item: &Path) -> usize {
    let list = document.root.at(&item.parent());
    list.map_or(0, |l| l.items().len())
}
