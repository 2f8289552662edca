//! Accumulates the objects of a kustomization, in kustomize's order.

use std::rc::Rc;

use super::super::inputs::is_foreign_generator;
use super::super::layers::{BuildLayer, LayerKind};
use super::generators;
use super::merge::{NotMerged, merge};
use super::metadata;
use super::object::{Id, Object, Placed, Value};
use super::operations;
use super::selector::Selector;
use super::{Beyond, Refused};
use crate::prelude::*;
use crate::repo::build::Additions;
use crate::repo::kustomization::{Entry, Field, Kustomization, Kustomizations, PatchSource, TRANSFORMERS, value};
use crate::repo::paths::{file_in, start_of};

/// What isn't computed here.
static BEYOND: Table<Vec<(Field, &str)>> = Table::of(include_str!("beyond.json"));

/// The most kustomizations of a build: two that each name the next two double the work with each level.
pub(super) const MAX_VISITS: usize = 10_000;

/// An annotation of objects that no build prints.
const LOCAL: &str = "config.kubernetes.io/local-config";

/// The objects of a kustomization, and what they were made of.
#[derive(Debug, Default)]
pub(crate) struct Accumulated {
    pub(crate) objects: Vec<Object>,
    /// The documents that set values, in kustomize's order.
    pub(crate) layers: Vec<BuildLayer>,
    /// What only kustomize computes; it is left out of `objects`.
    pub(crate) beyond: Vec<Beyond>,
    /// Remote resources and charts, which aren't fetched: their places.
    pub(crate) unfetched: Vec<(Location, Unfetched)>,
    /// Whether the objects are those that kustomize prints, not only those that hcoplan reads.
    pub(crate) is_exact: bool,
}

impl Accumulated {
    /// Whether something isn't fetched that a patch of a HyperConverged may be for.
    pub(crate) fn patches_unfetched(&self) -> bool {
        let is_patch = |layer: &&BuildLayer| matches!(layer.what, LayerKind::Merge | LayerKind::Operations);
        !self.unfetched.is_empty() && self.layers.iter().filter(is_patch).any(|layer| layer.is_for("HyperConverged"))
    }
}

/// A source of objects that isn't in the repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfetched {
    /// A resource of this address.
    Resource(String),
    /// Helm charts.
    Charts,
    /// What a generator makes that only a program or helm runs.
    Generator,
}

/// The objects of a directory's kustomization, with what a controller adds to it.
pub(crate) fn accumulate(
    all: &Kustomizations<'_>,
    directory: &Utf8Path,
    additions: &Additions,
) -> Result<Accumulated, Refused> {
    let mut work = Accumulation {
        all,
        out: Accumulated { is_exact: true, ..Accumulated::default() },
        directory: Utf8PathBuf::new(),
        open: BTreeSet::new(),
        visits: 0,
        is_unrestricted: additions.is_unrestricted,
    };
    let place = additions.entries.first().map_or_else(|| start_of(&directory.join("kustomization.yaml")), Entry::place);
    let mut whole = match all.at(directory) {
        Some(own) => (*own).clone(),
        None if !additions.generated.is_empty() => Kustomization {
            path: directory.join("kustomization.yaml"),
            entries: additions.generated.clone(),
            ..Kustomization::default()
        },
        None => return Err(missing(&place, directory.as_str())),
    };
    whole.entries.extend(additions.entries.iter().cloned());
    let objects = work.kustomization(&whole, Vec::new())?;
    let is_local = |object: &Object| {
        let value = object.root.at(&["metadata", "annotations", LOCAL]);
        value.is_some_and(|value| value.as_str() != Some("false"))
    };
    work.out.objects = objects.into_iter().filter(|object| !is_local(object)).collect();
    Ok(work.out)
}

struct Accumulation<'a, 't> {
    all: &'a Kustomizations<'t>,
    out: Accumulated,
    /// That of the kustomization.
    directory: Utf8PathBuf,
    /// The directories in progress.
    open: BTreeSet<Utf8PathBuf>,
    /// How many were entered, one as often as it is named.
    visits: usize,
    /// Whether files may be outside of their kustomization's directory.
    is_unrestricted: bool,
}

impl Accumulation<'_, '_> {
    /// The objects of a kustomization; a component changes those of its user.
    fn kustomization(&mut self, own: &Kustomization, mut objects: Vec<Object>) -> Result<Vec<Object>, Refused> {
        if let Some(rejected) = &own.rejected {
            return Err(Refused::new(&own.place(), rejected));
        }
        let directory = own.directory();
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(Refused::new(&own.first_line(), format!("it leads to more than {MAX_VISITS} kustomizations")));
        }
        if !self.open.insert(directory.to_owned()) {
            return Err(Refused::new(&own.first_line(), format!("`{directory}` builds on itself")));
        }
        let outer = std::mem::replace(&mut self.directory, directory.to_owned());
        for entry in own.of_field(Field::Resources) {
            self.resource(entry, &mut objects)?;
        }
        for entry in own.of_field(Field::Components) {
            self.component(entry, &mut objects)?;
        }
        for entry in &own.entries {
            self.unbuilt(entry, &mut objects)?;
        }
        for &field in TRANSFORMERS.iter() {
            for entry in own.of_field(field) {
                self.transform(entry, &mut objects)?;
            }
            if field == Field::CommonAnnotations {
                let mut documents: Vec<&Arc<Document>> = own.document.iter().collect();
                let added = own.entries.iter().filter(|e| e.what.is_metadata());
                documents.extend(added.map(|entry| &entry.document));
                documents.dedup_by(|a, b| Arc::ptr_eq(a, b));
                self.out.layers.extend(documents.into_iter().map(|d| BuildLayer::of_file(d, LayerKind::Fields)));
            }
        }
        self.layers_beyond(own);
        self.open.remove(directory);
        self.directory = outer;
        Ok(objects)
    }

    /// The files and transformers that kustomize itself has to apply, as layers.
    fn layers_beyond(&mut self, own: &Kustomization) {
        let files = |entry: &Entry| {
            let paths = entry.files().into_iter().filter_map(|name| file_in(&self.directory, name));
            let read = paths.filter_map(|path| self.all.documents(&path).ok());
            read.flat_map(|documents| documents.to_vec()).collect::<Vec<_>>()
        };
        let mut layers = Vec::new();
        let replacements = own.of_field(Field::Replacements).flat_map(files);
        layers.extend(replacements.map(|d| BuildLayer::of_file(&d, LayerKind::Replacements)));
        for configuration in own.of_field(Field::Plugins).flat_map(files) {
            match configuration.text("kind") {
                "PatchTransformer" | "PatchJson6902Transformer" => {
                    let root = &configuration.root;
                    let patch = ["patch", "jsonop", "path"].into_iter().find_map(|key| value(root, key));
                    let target = value(root, "target");
                    let read = patch.and_then(|patch| self.patch_layers(&configuration, patch, target));
                    layers.extend(read.into_iter().flatten());
                }
                "ReplacementTransformer" => {
                    layers.push(BuildLayer::of_file(&configuration, LayerKind::Replacements));
                }
                _ => {}
            }
        }
        self.out.layers.append(&mut layers);
    }

    /// The path of a resource, component or patch; `None` for one that has to be fetched.
    fn local(&mut self, place: &Location, name: &str) -> Result<Option<Utf8PathBuf>, Refused> {
        if self.all.is_remote(&self.directory, name) {
            self.out.unfetched.push((place.clone(), Unfetched::Resource(name.to_owned())));
            return Ok(None);
        }
        let outside = || Refused::new(place, format!("`{name}` is outside the directory that hcoplan reads"));
        file_in(&self.directory, name).map(Some).ok_or_else(outside)
    }

    /// Adds the objects of a file or of another kustomization.
    fn resource(&mut self, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        let Some(name) = entry.node.as_str() else { return Ok(()) };
        let Some(path) = self.local(&entry.place(), name)? else { return Ok(()) };
        let mut added = Vec::new();
        if self.all.tree.check(&path).is_ok() {
            for document in self.documents(&path, name, entry.place())?.iter() {
                self.out.layers.push(BuildLayer::of_file(document, LayerKind::Object));
                objects_of(Placed::of_node(document, &document.root), &mut added)?;
            }
        } else {
            let inner = self.inner(entry, name, &path)?;
            if inner.is_component {
                let why = format!("`{name}` is a component, which `resources` can't have");
                return Err(Refused::new(&entry.place(), why));
            }
            added = self.kustomization(&inner, Vec::new())?;
        }
        for object in added {
            let id = object.id();
            if let Some(other) = objects.iter().find(|other| other.id().is_same(&id)) {
                // The same file again is the fault of the list that names it.
                let place = Some(object.root.place.clone()).filter(|own| !own.is_same(&other.root.place));
                let place = place.unwrap_or_else(|| entry.place());
                return Err(Refused::new(&place, format!("{id} is declared twice")));
            }
            objects.push(object);
        }
        Ok(())
    }

    /// The kustomization in a directory that an entry names.
    fn inner(&self, entry: &Entry, name: &str, path: &Utf8Path) -> Result<Rc<Kustomization>, Refused> {
        self.all.at(&self.all.tree.real(path)).ok_or_else(|| missing(&entry.place(), name))
    }

    fn component(&mut self, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        let Some(name) = entry.node.as_str() else { return Ok(()) };
        let Some(path) = self.local(&entry.place(), name)? else { return Ok(()) };
        let inner = self.inner(entry, name, &path)?;
        if !inner.is_component && inner.rejected.is_none() {
            let why = format!("`{name}` is no component, which `components` can't have");
            return Err(Refused::new(&entry.place(), why));
        }
        *objects = self.kustomization(&inner, std::mem::take(objects))?;
        Ok(())
    }

    /// The documents of an existing file, which kustomize loads if it, and a link's target, is at or below the directory.
    /// A refusal is at the file's broken part, else where it is named.
    fn documents(&self, path: &Utf8Path, name: &str, named_at: Location) -> Result<Rc<[Arc<Document>]>, Refused> {
        let (real, above) = (self.all.tree.real(path), self.all.tree.real(&self.directory));
        let is_loaded = real.starts_with(&above) && (path.starts_with(&self.directory) || real != *path);
        if !is_loaded && !self.is_unrestricted {
            let why =
                format!("kustomize loads no file from outside of the kustomization's directory, such as `{name}`");
            return Err(Refused::new(&named_at, why));
        }
        self.all
            .documents(path)
            .map_err(|(place, why)| Refused::new(&place.unwrap_or(named_at), format!("`{name}` can't be read: {why}")))
    }

    /// Records what isn't computed here; adds what a generator makes.
    fn unbuilt(&mut self, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        match entry.what {
            Field::Plugins if is_foreign_generator(self.all, &self.directory, entry) => {
                self.out.unfetched.push((entry.place(), Unfetched::Generator));
            }
            Field::Charts => self.out.unfetched.push((entry.place(), Unfetched::Charts)),
            Field::Generators(kind) => {
                self.out.is_exact = false;
                generators::check(self.all, &self.directory, entry)?;
                objects.extend(generators::generated(self.all, &self.directory, entry, kind));
            }
            // References to what is renamed aren't followed.
            Field::NamePrefix | Field::NameSuffix => self.out.is_exact = false,
            field => {
                let beyond = BEYOND.iter().filter(|(known, _)| *known == field);
                self.out.beyond.extend(beyond.map(|(_, what)| Beyond { place: entry.place(), what }));
            }
        }
        Ok(())
    }

    fn transform(&mut self, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        let is_patch = entry.what.is_patch();
        let done = if is_patch { self.patch(entry, objects) } else { metadata::apply(objects, entry) };
        match done {
            Ok(()) => Ok(()),
            // What isn't fetched may have it.
            Err(NotMerged::Absent(_)) if !self.out.unfetched.is_empty() || !self.out.beyond.is_empty() => Ok(()),
            Err(NotMerged::Refused(refused) | NotMerged::Absent(refused)) => Err(refused),
            Err(NotMerged::Beyond(beyond)) => {
                self.out.beyond.push(beyond);
                Ok(())
            }
        }
    }

    fn patch(&mut self, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), NotMerged> {
        let refused = |why: &str| Refused::new(&entry.place(), why);
        let Some(source) = entry.source() else {
            return Err(refused("the patch has both or neither of `patch` and `path`").into());
        };
        let node = match source {
            PatchSource::File(node) => {
                let name = node.as_str().unwrap_or_default();
                let place = entry.document.location(node.span);
                let Some(path) = self.local(&place, name)? else { return Ok(()) };
                if self.all.tree.check(&path).is_err() {
                    return Err(missing(&place, name).into());
                }
                self.documents(&path, name, place)?;
                node
            }
            PatchSource::Inline(node) => node,
        };
        let place = entry.document.location(node.span);
        let target = entry.target();
        let patches = self.patch_layers(&entry.document, node, target).unwrap_or_default();
        let roots: Vec<Placed> = patches.iter().map(BuildLayer::placed).collect();
        self.out.layers.extend(patches);
        let selector = match target.map(Selector::of) {
            Some(None) => {
                let place = entry.document.location(target.unwrap_or(node).span);
                return Err(NotMerged::beyond(&place, "a pattern of Go's"));
            }
            Some(Some(selector)) => Some(selector),
            None => None,
        };
        if let [operations, ..] = roots.as_slice()
            && matches!(operations.value, Value::List(_))
        {
            let selector = selector.ok_or_else(|| refused("a patch of operations needs a `target`"))?;
            for object in objects.iter_mut().filter(|object| selector.matches(object)) {
                object.remember_id();
                operations::apply(&mut object.root, operations)?;
            }
            return Ok(());
        }
        let is_object =
            |root: &Placed| !root.text(&["kind"]).is_empty() && !root.text(&["metadata", "name"]).is_empty();
        if roots.is_empty() || !roots.iter().all(is_object) {
            let why = "the patch is neither an object with kind and name nor a list of operations";
            return Err(Refused::new(&place, why).into());
        }
        let options = value(&entry.node, "options");
        let allows = |key: &str| options.and_then(|options| value(options, key)).is_some_and(Node::is_true);
        let allowed = (allows("allownamechange"), allows("allowkindchange"));
        let Some(selector) = selector else {
            for patch in &roots {
                let id = Id::of(patch);
                let matching: Vec<usize> = (0..objects.len()).filter(|at| objects[*at].has_been(&id)).collect();
                // What isn't fetched may have it.
                if matching.is_empty() && !self.out.unfetched.is_empty() {
                    continue;
                }
                let [at] = matching.as_slice() else {
                    let is = if matching.is_empty() { "isn't built here" } else { "is built here several times" };
                    return Err(Refused::new(&patch.place, format!("the patch is for {id}, which {is}")).into());
                };
                merge_into(objects, *at, patch, allowed)?;
            }
            return Ok(());
        };
        let [patch] = roots.as_slice() else {
            return Err(refused("a patch with a `target` has one object only").into());
        };
        for at in (0..objects.len()).rev() {
            if selector.matches(&objects[at]) {
                merge_into(objects, at, patch, allowed)?;
            }
        }
        Ok(())
    }

    /// The documents of a patch: of the file that a scalar names, or of its text.
    fn patch_layers(&self, document: &Arc<Document>, node: &Node, target: Option<&Node>) -> Option<Vec<BuildLayer>> {
        let text = node.as_str()?;
        let layer = |patch: &Arc<Document>, is_inline: bool| {
            let inline = is_inline.then(|| (Arc::clone(document), node.clone()));
            BuildLayer::patch(patch, inline, target.cloned())
        };
        // What begins as JSON has to be JSON for kustomize.
        let is_readable =
            |text: &str| !text.starts_with('[') || serde_json::from_str::<serde_json::Value>(text).is_ok();
        let path = file_in(&self.directory, text).filter(|_| !text.contains('\n'));
        if let Some(path) = path.filter(|path| self.all.tree.check(path).is_ok()) {
            let patches = self.all.documents(&path).ok()?;
            let patches = patches.iter();
            return patches.map(|patch| is_readable(patch.file.text()).then(|| layer(patch, false))).collect();
        }
        if !is_readable(text) {
            return None;
        }
        let parsed = yaml::parse_yaml(&SourceFile::new(document.file.path(), text));
        let inline = |patch| layer(&Arc::new(patch), true);
        (!parsed.is_broken()).then(|| parsed.documents.into_iter().map(inline).collect())
    }
}

/// Merges a patch into an object, which keeps its name and its kind unless the patch may change them.
fn merge_into(
    objects: &mut Vec<Object>,
    at: usize,
    patch: &Placed,
    (renames, changes_kind): (bool, bool),
) -> Result<(), NotMerged> {
    let own = objects[at].root.clone();
    let Some(mut merged) = merge(Some(own.clone()), patch, objects[at].id().is_built_in())? else {
        objects.remove(at);
        return Ok(());
    };
    let keep = |map: &mut Placed, path: &[&str], key: &str| match own.at(path).and_then(|map| map.get(key)) {
        Some(value) => map.set(key, &value.place, value.clone()),
        None if key == "namespace" => drop(map.remove(key)),
        None => {}
    };
    if !changes_kind {
        keep(&mut merged, &[], "apiVersion");
        keep(&mut merged, &[], "kind");
    }
    let metadata = merged.map_of("metadata", &patch.place);
    if !renames {
        keep(metadata, &["metadata"], "name");
    }
    keep(metadata, &["metadata"], "namespace");
    if renames || changes_kind {
        objects[at].remember_id();
    }
    objects[at].root = merged;
    Ok(())
}

/// Adds the objects of a document; those of a list are objects of their own.
fn objects_of(root: Placed, out: &mut Vec<Object>) -> Result<(), Refused> {
    if root.is_null() {
        return Ok(());
    }
    let kind = root.text(&["kind"]);
    if let Some(list) = root.get("items").filter(|_| kind.ends_with("List")) {
        return list.items().iter().try_for_each(|item| objects_of(item.clone(), out));
    }
    let missing = [("kind", kind.is_empty()), ("metadata.name", root.text(&["metadata", "name"]).is_empty())];
    if let Some((field, _)) = missing.iter().find(|(_, is_missing)| *is_missing) {
        return Err(Refused::new(&root.place, format!("this object lacks `{field}`")));
    }
    out.push(Object { root, previous: Vec::new() });
    Ok(())
}

/// Nothing is where an entry points.
fn missing(place: &Location, name: &str) -> Refused {
    Refused::new(place, format!("there is neither a file nor a kustomization `{name}`"))
}
