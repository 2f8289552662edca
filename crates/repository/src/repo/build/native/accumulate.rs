//! Accumulates the objects of a kustomization, in kustomize's order.

use std::rc::Rc;

use hcoplan_yaml::locate_in_scalar;

use super::super::inputs::is_foreign_generator;
use super::super::layers::{BuildLayer, LayerKind};
use super::generators;
use super::merge::{NotMerged, merge};
use super::metadata;
use super::object::{Id, Object, Placed, Value};
use super::operations;
use super::selector::Selector;
use super::{Beyond, BeyondKind, Refused, RefusedReason};
use crate::prelude::*;
use crate::repo::build::Additions;
use crate::repo::kustomization::{
    Entry, Field, Kustomization, Kustomizations, PatchSource, Rejected, UnreadableFile, value,
};
use crate::repo::paths::file_in;
use crate::repo::problem::start_of;

/// What kustomize does with each kind of field, in its order; resources, components and generators come before.
const TRANSFORMERS: [Field; 11] = [
    Field::MergePatches,
    Field::Patches,
    Field::Namespace,
    Field::NamePrefix,
    Field::NameSuffix,
    Field::CommonLabels,
    Field::Labels,
    Field::CommonAnnotations,
    Field::JsonPatches,
    Field::Replicas,
    Field::Images,
];

/// The most kustomizations of a build: two that each name the next two double the work with each level.
pub(super) const MAX_VISITS: usize = 10_000;

/// An annotation of objects that no build prints.
const LOCAL: &str = "config.kubernetes.io/local-config";

/// The objects of a kustomization, and what they were made of.
#[derive(Debug, Default)]
pub(in crate::repo) struct Accumulated {
    pub(in crate::repo) objects: Vec<Object>,
    /// The documents that set values, in kustomize's order.
    pub(in crate::repo) layers: Vec<BuildLayer>,
    /// What only kustomize computes; it is left out of `objects`.
    pub(in crate::repo) beyond: Vec<Beyond>,
    /// Remote resources and charts, which aren't fetched: their places.
    pub(in crate::repo) unfetched: Vec<(Location, Unfetched)>,
    /// Whether the objects are those that kustomize prints, not only those that hcoplan reads.
    pub(in crate::repo) is_exact: bool,
}

impl Accumulated {
    /// Whether something isn't fetched that a patch of a HyperConverged may be for.
    pub(in crate::repo) fn patches_unfetched(&self) -> bool {
        let is_patch = |layer: &&BuildLayer| matches!(layer.what, LayerKind::Merge | LayerKind::Operations);
        !self.unfetched.is_empty() && self.layers.iter().filter(is_patch).any(|layer| layer.is_for("HyperConverged"))
    }
}

/// A source of objects that isn't in the repository.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::repo) enum Unfetched {
    /// A resource of this address.
    Resource(String),
    /// Helm charts.
    Charts,
    /// What a generator makes that only a program or helm runs.
    Generator,
}

/// The objects of a directory's kustomization, with what a controller adds to it.
pub(in crate::repo) fn accumulate(
    all: &Kustomizations<'_>,
    directory: &Utf8Path,
    additions: &Additions,
) -> Result<Accumulated, Refused> {
    let mut work = Accumulation {
        all,
        out: Accumulated { is_exact: true, ..Accumulated::default() },
        open: BTreeSet::new(),
        visits: 0,
        is_unrestricted: additions.is_unrestricted,
    };
    let place = additions.entries.first().map_or_else(|| start_of(&directory.join("kustomization.yaml")), Entry::place);
    let kustomization = match all.at(directory) {
        Some(own) => (*own).clone(),
        None if !additions.generated.is_empty() => Kustomization {
            path: directory.join("kustomization.yaml"),
            entries: additions.generated.clone(),
            ..Kustomization::default()
        },
        None => return Err(Refused { place, why: RefusedReason::Missing(directory.to_string()) }),
    };
    let added = additions.entries.iter().cloned();
    let whole =
        Kustomization { entries: kustomization.entries.iter().cloned().chain(added).collect(), ..kustomization };
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
            let why = RefusedReason::Kustomization(rejected.clone());
            return Err(Refused { place: place_of(own, rejected), why });
        }
        let directory = own.directory().to_owned();
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(Refused { place: first_line(own), why: RefusedReason::TooMany });
        }
        if !self.open.insert(directory.clone()) {
            return Err(Refused { place: first_line(own), why: RefusedReason::Cycle(directory.to_string()) });
        }
        for entry in own.of_field(Field::Resources) {
            self.resource(&directory, entry, &mut objects)?;
        }
        for entry in own.of_field(Field::Components) {
            self.component(&directory, entry, &mut objects)?;
        }
        for entry in &own.entries {
            self.unbuilt(&directory, entry, &mut objects)?;
        }
        for field in TRANSFORMERS {
            for entry in own.of_field(field) {
                self.transform(&directory, entry, field, &mut objects)?;
            }
            if field == Field::CommonAnnotations {
                let mut documents: Vec<&Arc<Document>> = own.document.iter().collect();
                let added = own.entries.iter().filter(|e| e.what.is_metadata());
                documents.extend(added.map(|entry| &entry.document));
                documents.dedup_by(|a, b| Arc::ptr_eq(a, b));
                self.out.layers.extend(documents.into_iter().map(|d| BuildLayer::of_file(d, LayerKind::Fields)));
            }
        }
        self.layers_beyond(&directory, own);
        self.open.remove(&directory);
        Ok(objects)
    }

    /// The files and transformers that kustomize itself has to apply, as layers.
    fn layers_beyond(&mut self, directory: &Utf8Path, own: &Kustomization) {
        let files = |entry: &Entry| {
            let paths = entry.files().into_iter().filter_map(|name| file_in(directory, name));
            let read = paths.filter_map(|path| self.all.documents(&path).ok());
            read.flat_map(|documents| documents.to_vec()).collect::<Vec<_>>()
        };
        let mut layers = Vec::new();
        for entry in own.of_field(Field::Replacements) {
            layers.extend(files(entry).iter().map(|d| BuildLayer::of_file(d, LayerKind::Replacements)));
        }
        for entry in own.of_field(Field::Plugins) {
            let configured = files(entry);
            let unknown = || BuildLayer::of_file(&entry.document, LayerKind::Unknown(entry.node.span));
            for configuration in &configured {
                match configuration.text("kind") {
                    "PatchTransformer" | "PatchJson6902Transformer" => {
                        let root = &configuration.root;
                        let patch = ["patch", "jsonop", "path"].into_iter().find_map(|key| value(root, key));
                        let target = value(root, "target");
                        let read = patch.and_then(|patch| self.patch_documents(directory, configuration, patch));
                        layers.extend(read.into_iter().flatten().map(|d| d.layer(target)));
                    }
                    "ReplacementTransformer" => {
                        layers.push(BuildLayer::of_file(configuration, LayerKind::Replacements));
                    }
                    _ => layers.push(unknown()),
                }
            }
            if configured.is_empty() {
                layers.push(unknown());
            }
        }
        self.out.layers.append(&mut layers);
    }

    /// The path of a resource, component or patch; `None` for one that has to be fetched.
    fn local(&mut self, directory: &Utf8Path, place: &Location, name: &str) -> Result<Option<Utf8PathBuf>, Refused> {
        if self.all.is_remote(directory, name) {
            self.out.unfetched.push((place.clone(), Unfetched::Resource(name.to_owned())));
            return Ok(None);
        }
        let outside = || Refused { place: place.clone(), why: RefusedReason::OutsideRoot(name.to_owned()) };
        file_in(directory, name).map(Some).ok_or_else(outside)
    }

    /// Adds the objects of a file or of another kustomization.
    fn resource(&mut self, directory: &Utf8Path, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        let refused = |why| Refused { place: entry.place(), why };
        let Some(name) = entry.node.as_str() else { return Ok(()) };
        let Some(path) = self.local(directory, &entry.place(), name)? else { return Ok(()) };
        let mut added = Vec::new();
        if self.all.tree.check(&path).is_ok() {
            for document in self.documents(directory, &path, name, entry.place())?.iter() {
                self.out.layers.push(BuildLayer::of_file(document, LayerKind::Object));
                objects_of(Placed::of_document(document), &mut added)?;
            }
        } else {
            let inner = self.inner(entry, name, &path)?;
            if inner.is_component {
                return Err(refused(RefusedReason::OtherKind(name.to_owned(), "a component", "resources")));
            }
            added = self.kustomization(&inner, Vec::new())?;
        }
        for object in added {
            let id = object.id();
            if let Some(other) = objects.iter().find(|other| other.id().is_same(&id)) {
                // The same file again is the fault of the list that names it.
                let place = Some(object.root.place.clone()).filter(|own| !own.is_same(&other.root.place));
                let place = place.unwrap_or_else(|| entry.place());
                return Err(Refused { place, why: RefusedReason::Twice(Box::new(id)) });
            }
            objects.push(object);
        }
        Ok(())
    }

    /// The kustomization in a directory that an entry names.
    fn inner(&self, entry: &Entry, name: &str, path: &Utf8Path) -> Result<Rc<Kustomization>, Refused> {
        let missing = || Refused { place: entry.place(), why: RefusedReason::Missing(name.to_owned()) };
        self.all.at(&self.all.tree.real(path)).ok_or_else(missing)
    }

    fn component(&mut self, directory: &Utf8Path, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        let Some(name) = entry.node.as_str() else { return Ok(()) };
        let Some(path) = self.local(directory, &entry.place(), name)? else { return Ok(()) };
        let inner = self.inner(entry, name, &path)?;
        if !inner.is_component && inner.rejected.is_none() {
            let why = RefusedReason::OtherKind(name.to_owned(), "no component", "components");
            return Err(Refused { place: entry.place(), why });
        }
        *objects = self.kustomization(&inner, std::mem::take(objects))?;
        Ok(())
    }

    /// The documents of an existing file, which kustomize loads if it, and a link's target, is at or below the directory.
    /// A refusal is at the file's broken part, else where it is named.
    fn documents(
        &self,
        directory: &Utf8Path,
        path: &Utf8Path,
        name: &str,
        named_at: Location,
    ) -> Result<Rc<[Arc<Document>]>, Refused> {
        let (real, above) = (self.all.tree.real(path), self.all.tree.real(directory));
        let is_loaded = real.starts_with(&above) && (path.starts_with(directory) || real != *path);
        if !is_loaded && !self.is_unrestricted {
            return Err(Refused { place: named_at, why: RefusedReason::OutsideDirectory(name.to_owned()) });
        }
        self.all.documents(path).map_err(|why| {
            let text = why.to_string();
            let place = if let UnreadableFile::Broken(place, _) = why { place } else { named_at };
            Refused { place, why: RefusedReason::Unreadable { name: name.to_owned(), why: text } }
        })
    }

    /// Records what isn't computed here; adds what a generator makes.
    fn unbuilt(&mut self, directory: &Utf8Path, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), Refused> {
        let what = match entry.what {
            Field::Plugins if is_foreign_generator(self.all, directory, entry) => {
                self.out.unfetched.push((entry.place(), Unfetched::Generator));
                return Ok(());
            }
            Field::Replacements => BeyondKind::Replacements,
            Field::Plugins => BeyondKind::Plugins,
            Field::Configurations | Field::OpenApi => BeyondKind::Configurations,
            Field::Variables => BeyondKind::Variables,
            Field::BuildMetadata => BeyondKind::BuildMetadata,
            Field::Charts => {
                self.out.unfetched.push((entry.place(), Unfetched::Charts));
                return Ok(());
            }
            Field::Generators(kind) => {
                self.out.is_exact = false;
                generators::check(self.all, directory, entry)?;
                objects.extend(generators::generated(self.all, directory, entry, kind));
                return Ok(());
            }
            // References to what is renamed aren't followed.
            Field::NamePrefix | Field::NameSuffix => {
                self.out.is_exact = false;
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.out.beyond.push(Beyond { place: entry.place(), what });
        Ok(())
    }

    fn transform(
        &mut self,
        directory: &Utf8Path,
        entry: &Entry,
        field: Field,
        objects: &mut Vec<Object>,
    ) -> Result<(), Refused> {
        let done = match field {
            Field::MergePatches | Field::Patches | Field::JsonPatches => self.patch(directory, entry, objects),
            _ => metadata::apply(objects, entry),
        };
        match done {
            Ok(()) => Ok(()),
            // What isn't fetched may have it.
            Err(NotMerged::Refused(Refused { why: RefusedReason::NoReplicas(_), .. }))
                if !self.out.unfetched.is_empty() || !self.out.beyond.is_empty() =>
            {
                Ok(())
            }
            Err(NotMerged::Refused(refused)) => Err(refused),
            Err(NotMerged::Beyond(beyond)) => {
                self.out.beyond.push(beyond);
                Ok(())
            }
        }
    }

    fn patch(&mut self, directory: &Utf8Path, entry: &Entry, objects: &mut Vec<Object>) -> Result<(), NotMerged> {
        let refused = |why| NotMerged::refused(&entry.place(), why);
        let Some(source) = entry.source() else { return Err(refused(RefusedReason::NoText)) };
        let node = match source {
            PatchSource::File(node) => {
                let name = node.as_str().unwrap_or_default();
                let place = entry.document.location(node.span);
                let Some(path) = self.local(directory, &place, name)? else { return Ok(()) };
                if self.all.tree.check(&path).is_err() {
                    return Err(NotMerged::refused(&place, RefusedReason::Missing(name.to_owned())));
                }
                self.documents(directory, &path, name, place)?;
                node
            }
            PatchSource::Inline(node) => node,
        };
        let place = entry.document.location(node.span);
        let patches = self.patch_documents(directory, &entry.document, node).unwrap_or_default();
        let target = entry.target();
        self.out.layers.extend(patches.iter().map(|patch| patch.layer(target)));
        let roots: Vec<Placed> = patches.iter().map(PatchDocument::placed).collect();
        let no_patch = || NotMerged::refused(&place, RefusedReason::NoPatch);
        let selector = match target.map(Selector::of) {
            Some(None) => {
                let place = entry.document.location(target.unwrap_or(node).span);
                return Err(NotMerged::beyond(&place, BeyondKind::Pattern));
            }
            Some(Some(selector)) => Some(selector),
            None => None,
        };
        if let [operations, ..] = roots.as_slice()
            && matches!(operations.value, Value::List(_))
        {
            let selector = selector.ok_or_else(|| refused(RefusedReason::NoTarget))?;
            for object in objects.iter_mut().filter(|object| selector.matches(object)) {
                object.remember_id();
                operations::apply(&mut object.root, operations)?;
            }
            return Ok(());
        }
        let is_object =
            |root: &Placed| !root.text(&["kind"]).is_empty() && !root.text(&["metadata", "name"]).is_empty();
        if roots.is_empty() || !roots.iter().all(is_object) {
            return Err(no_patch());
        }
        let options = Options::of(entry);
        let Some(selector) = selector else {
            for patch in &roots {
                let id = Id::of(patch);
                let matching: Vec<usize> = (0..objects.len()).filter(|at| objects[*at].has_been(&id)).collect();
                // What isn't fetched may have it.
                if matching.is_empty() && !self.out.unfetched.is_empty() {
                    continue;
                }
                let [at] = matching.as_slice() else {
                    let why = if matching.is_empty() {
                        RefusedReason::NoMatch(Box::new(id))
                    } else {
                        RefusedReason::SeveralMatches(Box::new(id))
                    };
                    return Err(NotMerged::refused(&patch.place, why));
                };
                merge_into(objects, *at, patch, options)?;
            }
            return Ok(());
        };
        let [patch] = roots.as_slice() else { return Err(refused(RefusedReason::SeveralPatches)) };
        for at in (0..objects.len()).rev() {
            if selector.matches(&objects[at]) {
                merge_into(objects, at, patch, options)?;
            }
        }
        Ok(())
    }

    /// The documents of a patch: of the file that a scalar names, or of its text.
    fn patch_documents(
        &self,
        directory: &Utf8Path,
        document: &Arc<Document>,
        node: &Node,
    ) -> Option<Vec<PatchDocument>> {
        let text = node.as_str()?;
        let path = file_in(directory, text).filter(|_| !text.contains('\n'));
        if let Some(path) = path.filter(|path| self.all.tree.check(path).is_ok()) {
            let documents = self.all.documents(&path).ok()?;
            return Some(documents.iter().map(|d| PatchDocument { document: Arc::clone(d), inline: None }).collect());
        }
        // What begins as JSON has to be JSON for kustomize.
        if text.starts_with('[') && serde_json::from_str::<serde_json::Value>(text).is_err() {
            return None;
        }
        let parsed = yaml::parse_yaml(&SourceFile::new(document.file.path(), text));
        let inline = |d| PatchDocument { document: Arc::new(d), inline: Some((Arc::clone(document), node.clone())) };
        (!parsed.is_broken()).then(|| parsed.documents.into_iter().map(inline).collect())
    }
}

/// A document of a patch.
struct PatchDocument {
    document: Arc<Document>,
    /// The scalar with its text, if it has no file.
    inline: Option<(Arc<Document>, Node)>,
}

impl PatchDocument {
    /// Its values: those of operations as kubectl reads them, by way of JSON, those of an object as kustomize does.
    fn placed(&self) -> Placed {
        let root = &self.document.root;
        let text = if root.items().is_empty() { self.document.file.text() } else { "" };
        Placed::of(root, text, &|span| match &self.inline {
            None => self.document.location(span),
            Some((around, scalar)) => around.location(locate_in_scalar(around, scalar, span.range())),
        })
    }

    fn layer(&self, target: Option<&Node>) -> BuildLayer {
        let is_merge = self.document.root.items().is_empty();
        let what = if is_merge { LayerKind::Merge } else { LayerKind::Operations };
        BuildLayer::patch(&self.document, what, self.inline.clone(), target.cloned())
    }
}

/// What a patch may change of an object's identity.
#[derive(Clone, Copy)]
struct Options {
    name: bool,
    kind: bool,
}

impl Options {
    fn of(entry: &Entry) -> Self {
        let options = value(&entry.node, "options");
        let is = |key: &str| options.and_then(|o| value(o, key)).is_some_and(Node::is_true);
        Self { name: is("allownamechange"), kind: is("allowkindchange") }
    }
}

/// Merges a patch into an object, which keeps its identity unless the patch may change it.
fn merge_into(objects: &mut Vec<Object>, at: usize, patch: &Placed, options: Options) -> Result<(), NotMerged> {
    let object = &objects[at];
    let id = object.id();
    let of = |path: &[&str]| object.root.at(path).cloned();
    let (version, kind) = (of(&["apiVersion"]), of(&["kind"]));
    let (name, namespace) = (of(&["metadata", "name"]), of(&["metadata", "namespace"]));
    let Some(mut merged) = merge(Some(object.root.clone()), patch, id.is_built_in())? else {
        objects.remove(at);
        return Ok(());
    };
    let place = patch.place.clone();
    if !options.kind {
        version.into_iter().for_each(|v| merged.set("apiVersion", &v.place.clone(), v));
        kind.into_iter().for_each(|v| merged.set("kind", &v.place.clone(), v));
    }
    let metadata = merged.map_of("metadata", &place);
    if let Some(name) = name.filter(|_| !options.name) {
        metadata.set("name", &name.place.clone(), name);
    }
    match namespace {
        Some(namespace) => metadata.set("namespace", &namespace.place.clone(), namespace),
        None => {
            metadata.remove("namespace");
        }
    }
    if options.name || options.kind {
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
    if kind.ends_with("List") && root.get("items").is_some() {
        return root
            .get("items")
            .into_iter()
            .flat_map(Placed::items)
            .try_for_each(|item| objects_of(item.clone(), out));
    }
    let missing = [("kind", kind.is_empty()), ("metadata.name", root.text(&["metadata", "name"]).is_empty())];
    if let Some((field, _)) = missing.iter().find(|(_, is_missing)| *is_missing) {
        return Err(Refused { place: root.place.clone(), why: RefusedReason::NoObject(field) });
    }
    out.push(Object { root, previous: Vec::new() });
    Ok(())
}

/// Where a kustomization is rejected.
pub(in crate::repo) fn place_of(own: &Kustomization, why: &Rejected) -> Location {
    own.rejected_at.clone().filter(|_| own.rejected.as_ref() == Some(why)).unwrap_or_else(|| first_line(own))
}

/// A kustomization's first line.
pub(in crate::repo) fn first_line(own: &Kustomization) -> Location {
    let Some(document) = &own.document else { return start_of(&own.path) };
    let file = &document.file;
    let end = file.line(0).map_or(0, |(_, line)| line.len());
    Location::new(file, Span::new(0, end))
}
