//! Fixes of a kustomize build, moved to the layers of the build.
//!
//! A rule edits the build. What its edits do to the tree is done to the layer that set the value: a file, a
//! patch, or a patch in a kustomization. Where no single layer can be changed so that the build becomes what
//! was meant, there is no fix, and a reason. Nothing is built here: whoever applies a fix builds again and
//! compares.

use hcoplan_diagnostics::finding::BuildFix;
use hcoplan_repository::repo::{BuildLayer, LayerKind, LayerValue, layer_values};
use hcoplan_yaml::edit::{self, apply_and_read};
use serde_json::Value as Json;

use super::round::by_file;
use super::trees::changes;
use crate::lists::items;
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
    by_file(edits).values().any(|edits| EditableFile::of(&edits[0].file).loses_comment(edits))
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
    let meant = apply_and_read(&EditableFile::of(&first.file), &edits)?;
    let built = SourceFile::new(first.file.path(), built);
    let is = EditableFile::of(&built);
    if meant.documents().len() != is.documents().len() {
        return Err(edit::Reason::Layout);
    }
    let [meant, is] = [meant, is].map(|f| f.documents().iter().cloned().map(without_empty).collect::<Vec<_>>());
    match changes(&meant, &is).first() {
        None => Ok(()),
        Some(change) => Err(edit::Reason::Differs(below(change.path()).to_string())),
    }
}

/// An object without annotations and labels that are none.
fn without_empty(mut object: Json) -> Json {
    let is_empty = |v: &Json| v.as_object().is_some_and(Map::is_empty);
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
    /// Edits of files.
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
    if after.documents().len() != before.documents().len() {
        return Err("it adds or takes away an object".to_owned());
    }
    let mut plan = LayerPlan::default();
    let all = changes(before.documents(), after.documents());
    let mut moved = Vec::new();
    for is_move in [true, false] {
        for change in &all {
            let document = match change.path().0.first() {
                Some(Segment::Index(index)) => before.document(*index),
                _ => None,
            };
            let document = document.ok_or("the build reads otherwise")?;
            let mut writer = LayerWriter { layers, object: &document.root, near, plan: &mut plan };
            if is_move {
                moved.extend(writer.rename(change, &all).into_iter().flat_map(|to| [change.path(), to]));
            } else if !moved.contains(&change.path()) {
                writer.change(change)?;
            }
        }
    }
    let mut out = plan.edits;
    for (index, mut changes) in plan.changes {
        // Items from the last one, so that the others stay where they are.
        changes.sort_by(|a, b| match (a, b) {
            (Change::Remove(a), Change::Remove(b)) => b.0.cmp(&a.0),
            _ => std::cmp::Ordering::Equal,
        });
        let layer = &layers[index];
        let edits = edit::edits(&layer.document, &changes).map_err(said)?;
        let not_a_block = || format!("the patch at {} isn't written as a block", at(layer, layer.document.root.span));
        out.extend(layer.in_file(edits).ok_or_else(not_a_block)?);
    }
    Ok(out)
}

struct LayerWriter<'c> {
    layers: &'c [BuildLayer],
    /// The object in the build.
    object: &'c Node,
    /// The file in which something is put, where there is a choice.
    near: Option<&'c Utf8Path>,
    plan: &'c mut LayerPlan,
}

impl<'c> LayerWriter<'c> {
    fn add(&mut self, layer: usize, change: Change) {
        self.plan.changes.entry(layer).or_default().push(change);
    }

    fn change(&mut self, change: &Change) -> Result<(), String> {
        let path = below(change.path());
        // A near patch says for its clusters only what another layer says for all.
        let is_patch = |s: &LayerValue<'_>| self.is_near(s) && self.layers[s.layer].what == LayerKind::Merge;
        let is_elsewhere =
            || self.said(&Path::root()).iter().any(is_patch) && !self.said(&path).iter().any(|s| self.is_near(s));
        match (change, self.object.at(&path)) {
            _ if path.0.is_empty() => Err("it rewrites the whole object".to_owned()),
            (Change::Set(_, Json::Array(new)), Some(old)) if matches!(old.value, Value::Seq(_)) => {
                self.list(&path, old, new)
            }
            (Change::Set(_, value), Some(old)) if !is_elsewhere() => self.replace(&path, old, value),
            (Change::Set(_, value), _) => self.insert(&path, value),
            _ => self.remove(&path),
        }
    }

    /// Moves a value within the layer that has it, and one that an operation adds where the operation says so: what is
    /// put elsewhere instead would go into other clusters, too. Where it goes then; `None` where it isn't that.
    fn rename<'d>(&mut self, change: &Change, all: &'d [Change]) -> Option<&'d Path> {
        let Change::Remove(gone) = change else {
            return None;
        };
        let path = below(gone);
        let value = self.object.at(&path)?.to_json();
        let (to, new, keys, inner) = all.iter().find_map(|change| {
            let Change::Set(to, new) = change else {
                return None;
            };
            // What is moved may leave the mapping that it is alone in.
            let inner = keys_around(&value, new).unwrap_or_default();
            if let Some(last) = inner.last() {
                return (to.keys().last() == Some(last)).then_some((to, new, Vec::new(), inner));
            }
            let keys = keys_around(new, &value)?;
            // Another layer may have the meant key, too.
            let is_free = self.object.at(&below(to)).is_none() || keys.is_empty() && to.parent() == gone.parent();
            is_free.then_some((to, new, keys, inner))
        })?;
        let same_parent = keys.is_empty() && inner.is_empty() && to.parent() == gone.parent();
        let said = self.said(&path);
        let [only] = said.as_slice() else {
            return None;
        };
        let layer = &self.layers[only.layer];
        let mut at = self.path_of(only).ok()?;
        let is_value = matches!(at.0.as_slice(), [_, Segment::Key(key)] if key == "value");
        if layer.what != LayerKind::Operations || !is_value {
            self.is_editable(only).ok()?;
            // The layer may be about a part of the object.
            let shared = at.0.iter().rev().zip(path.0.iter().rev()).take_while(|(own, built)| own == built).count();
            let (above, around) = (&at.0[..at.0.len() - shared], &path.0[..path.0.len() - shared]);
            let rest = below(to).0.strip_prefix(around)?.to_vec();
            let keys = keys.into_iter().map(Segment::Key).collect();
            let target = Path([above.to_vec(), rest, keys].concat());
            let change = match target.0.last() {
                _ if layer.document.root.at(&target).is_some() => return None,
                Some(Segment::Key(name)) if same_parent => Change::Rename(at, name.clone()),
                _ => {
                    at.0.extend(inner.into_iter().map(Segment::Key));
                    Change::Move(at, target, None)
                }
            };
            self.add(only.layer, change);
            return Some(to);
        }
        let pointer = layer.document.root.str_at(&at.parent().key("path"))?;
        let is_add = layer.document.root.str_at(&at.parent().key("op")) == Some("add");
        if !(is_add || same_parent) || pointer != path.to_pointer() {
            return None;
        }
        if !keys.is_empty() || !inner.is_empty() {
            self.add(only.layer, Change::Set(at.clone(), new.clone()));
        }
        at = at.parent().key("path");
        let change = Change::Set(at, below(to).to_pointer().into());
        self.add(only.layer, change);
        Some(to)
    }

    fn said(&self, path: &Path) -> Vec<LayerValue<'c>> {
        layer_values(self.layers, self.object, path)
    }

    /// The layer that has the whole of a value.
    fn own(&self, path: &Path, old: &Node) -> Result<LayerValue<'c>, String> {
        let json = old.to_json();
        let said = self.said(path);
        let last = said.first().ok_or_else(|| unknown(path))?;
        let found = said.iter().find(|s| !s.is_value || s.node.to_json() == json);
        let found = found.ok_or_else(|| format!("{} isn't all of {path}", self.at(last)))?;
        self.is_editable(found)?;
        Ok(*found)
    }

    fn replace(&mut self, path: &Path, old: &Node, new: &Json) -> Result<(), String> {
        let found = self.own(path, old)?;
        let change = Change::Set(self.path_of(&found)?, new.clone());
        self.add(found.layer, change);
        Ok(())
    }

    /// A list that has other items, fewer, or more at its end.
    fn list(&mut self, path: &Path, old: &Node, new: &[Json]) -> Result<(), String> {
        let items: Vec<Json> = old.items().iter().map(Node::to_json).collect();
        if let Some(more) = new.strip_prefix(items.as_slice()) {
            let said = self.said(path);
            let is_list = |s: &&LayerValue<'_>| s.is_value && matches!(s.node.value, Value::Seq(_));
            let list = said.iter().find(is_list).ok_or_else(|| unknown(path))?;
            self.is_editable(list)?;
            let to = self.path_of(list)?;
            more.iter().for_each(|item| self.add(list.layer, Change::Append(to.clone(), item.clone())));
            return Ok(());
        }
        let mut kept = new.iter().peekable();
        let gone = items.iter().enumerate().filter(|(_, item)| kept.next_if_eq(item).is_none());
        let gone: Vec<usize> = gone.map(|(index, _)| index).collect();
        if kept.peek().is_some() {
            return self.replace(path, old, &Json::Array(new.to_vec()));
        }
        gone.into_iter().try_for_each(|index| self.remove(&path.index(index)))
    }

    fn remove(&mut self, path: &Path) -> Result<(), String> {
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
                self.plan.edits.extend(without_patch(layer)?);
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
        self.add(found.layer, Change::Remove(place));
        Ok(())
    }

    /// Inserts a value into the deepest parent that the near layer sets: other layers go into other clusters. Else into
    /// the deepest one of any layer.
    fn insert(&mut self, path: &Path, value: &Json) -> Result<(), String> {
        let is_key = |depth: &usize| matches!(path.0[*depth], Segment::Key(_));
        let parents = (0..path.0.len()).rev().take_while(is_key).flat_map(|depth| {
            let said = self.said(&Path(path.0[..depth].to_vec())).into_iter();
            said.map(move |parent| (depth, parent))
        });
        let parents = parents.filter(|(_, parent)| {
            self.is_editable(parent).is_ok() && matches!(parent.node.value, Value::Map(_) | Value::Null)
        });
        let parents: Vec<_> = parents.collect();
        let found = parents.iter().find(|(_, parent)| self.is_near(parent)).or(parents.first());
        let (depth, found) = found.ok_or_else(|| unknown(path))?;
        let mut to = self.path_of(found)?;
        to.0.extend_from_slice(&path.0[*depth..]);
        self.add(found.layer, Change::Set(to, value.clone()));
        Ok(())
    }

    /// Whether a layer is the one that a finding is about.
    fn is_near(&self, found: &LayerValue<'_>) -> bool {
        self.near == Some(self.layers[found.layer].document.file.path())
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
    let is_all = |file: &SourceFile, what: &str| {
        Err(format!("it is all that {} does: remove the {what}, and its entry in the kustomization", file.path()))
    };
    let Some((kustomization, entry)) = layer.entry() else {
        return is_all(&layer.document.file, "patch");
    };
    if entry.0.is_empty() {
        return is_all(&kustomization.file, "transformer");
    }
    let path = match items(kustomization.root.at(&entry.parent())).len() {
        1 => entry.parent(),
        _ => entry,
    };
    let edits = edit::edits(kustomization, &[Change::Remove(path)]);
    edits.map_err(|reason| reason.to_string())
}
