//! Finds patches of an object's annotations in kustomizations.
//!
//! Without building: in the order in which kustomize would apply them. A kustomization reaches a file through its
//! `resources` and through other kustomizations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{Location, SourceFile, Tree, normalize_path};
use hcoplan_yaml::{self as yaml, Document, Node};

use super::kustomization::{KUSTOMIZATIONS, follow_links};

/// An annotation that a kustomization's patch sets on a HyperConverged, or that it has before any does.
#[derive(Debug, Clone)]
pub struct Layer {
    /// The kustomization, relative to the root; in a build also the HyperConverged's file.
    pub kustomization: Utf8PathBuf,
    /// The annotation's key.
    pub name: String,
    /// The value it gets.
    pub text: String,
    /// Its location in the patch.
    pub place: Location,
    /// The document with the annotation in its `metadata`; `None` for a patch of another form.
    pub document: Option<Arc<Document>>,
    /// The kustomizations that this one uses.
    uses: BTreeSet<Utf8PathBuf>,
}

impl Layer {
    /// Whether it is applied after another one, in the same build.
    pub fn covers(&self, earlier: &Self) -> bool {
        self.kustomization == earlier.kustomization || self.uses.contains(&earlier.kustomization)
    }
}

/// The kustomizations of a repository, read once.
#[derive(Debug, Default)]
pub struct Kustomizations(BTreeMap<Utf8PathBuf, Kustomization>);

/// The resources and patched annotations of a kustomization.
#[derive(Debug)]
struct Kustomization {
    /// Files and directories.
    resources: Vec<Utf8PathBuf>,
    patched: Vec<Patched>,
}

impl Kustomizations {
    /// Reads them; skips unreadable ones.
    pub fn read<'p>(tree: &dyn Tree, paths: impl Iterator<Item = &'p Utf8Path>) -> Self {
        let read = paths.filter_map(|path| {
            let document = documents(tree, path)?.into_iter().next()?;
            Some((path.to_owned(), Kustomization::of(tree, path, &document)))
        });
        Self(read.collect())
    }

    /// The annotations of a cluster's build, from the HyperConverged's file outwards.
    pub fn of_build(
        &self,
        tree: &dyn Tree,
        built_by: &Utf8Path,
        files: impl Iterator<Item = Utf8PathBuf>,
    ) -> Vec<Layer> {
        let mut out = Vec::new();
        let inside = self.inside(built_by);
        let named: BTreeSet<&Utf8PathBuf> =
            inside.iter().filter_map(|path| self.0.get(*path)).flat_map(|k| &k.resources).collect();
        for file in files.filter(|file| named.contains(file)) {
            let mut own = Vec::new();
            for document in documents(tree, &file).unwrap_or_default() {
                if document.root.get("kind").and_then(Node::as_str) == Some("HyperConverged") {
                    annotations(&document, &mut own);
                }
            }
            if own.is_empty() {
                continue;
            }
            let mut above = self.layers(&file);
            above.retain(|layer| inside.contains(&*layer.kustomization));
            for layer in &mut above {
                layer.uses.insert(file.clone());
            }
            let own = own.into_iter();
            out.extend(own.map(|(name, text, place, document)| Layer {
                kustomization: file.clone(),
                name,
                text,
                place,
                document,
                uses: BTreeSet::new(),
            }));
            out.extend(above);
        }
        out
    }

    /// The patches on a file's HyperConverged, inner ones first.
    pub fn layers(&self, file: &Utf8Path) -> Vec<Layer> {
        let above = self.above(file);
        let patching = self.0.iter().filter(|(path, k)| !k.patched.is_empty() && above.contains(path.as_path()));
        let mut reaching: Vec<_> = patching
            .map(|(path, k)| {
                let uses = self.inside(path).into_iter().filter(|inner| *inner != path && above.contains(inner));
                let uses: BTreeSet<Utf8PathBuf> = uses.map(Utf8Path::to_owned).collect();
                (uses, path, k)
            })
            .collect();
        // Kustomizations that use more come later.
        reaching.sort_by_key(|(uses, path, _)| (uses.len(), *path));
        let each = reaching.into_iter().flat_map(|(uses, path, k)| {
            let layer = move |(name, text, place, document): &Patched| Layer {
                kustomization: path.clone(),
                name: name.clone(),
                text: text.clone(),
                place: place.clone(),
                document: document.clone(),
                uses: uses.clone(),
            };
            k.patched.iter().map(layer)
        });
        each.collect()
    }

    /// A kustomization and all that it uses.
    fn inside<'k>(&'k self, path: &'k Utf8Path) -> BTreeSet<&'k Utf8Path> {
        let mut found = BTreeSet::new();
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            if let Some((path, kustomization)) = self.0.get_key_value(&path)
                && found.insert(&**path)
            {
                let resources = kustomization.resources.iter();
                pending.extend(resources.flat_map(|resource| KUSTOMIZATIONS.map(|name| resource.join(name))));
            }
        }
        found
    }

    /// The kustomizations that use a file.
    fn above(&self, file: &Utf8Path) -> BTreeSet<&Utf8Path> {
        let mut naming: BTreeMap<&Utf8Path, Vec<&Utf8Path>> = BTreeMap::new();
        for (path, kustomization) in &self.0 {
            kustomization.resources.iter().for_each(|resource| naming.entry(resource).or_default().push(path));
        }
        let mut found = BTreeSet::new();
        let mut pending = vec![file];
        while let Some(below) = pending.pop() {
            let above = naming.get(below).into_iter().flatten();
            pending.extend(above.filter(|path| found.insert(**path)).filter_map(|path| path.parent()));
        }
        found
    }
}

impl Kustomization {
    fn of(tree: &dyn Tree, path: &Utf8Path, document: &Document) -> Self {
        let directory = path.parent().unwrap_or(Utf8Path::new(""));
        let list = |key: &&str| document.root.get(key).map_or(&[][..], Node::items).iter();
        let resources = ["resources", "bases", "components"];
        let resources = resources.iter().flat_map(list).filter_map(Node::as_str);
        let patches = ["patchesStrategicMerge", "patches", "patchesJson6902"];
        let patches = patches.iter().flat_map(list);
        Self {
            resources: resources
                .filter_map(|r| normalize_path(&directory.join(r)))
                .map(|r| follow_links(tree, &r))
                .collect(),
            patched: patches.flat_map(|p| patched(tree, path, document, p)).collect(),
        }
    }
}

fn documents(tree: &dyn Tree, path: &Utf8Path) -> Option<Vec<Arc<Document>>> {
    let file = SourceFile::from_bytes(path, tree.read(path).ok()?);
    let parsed = yaml::parse(&file);
    Some(parsed.documents.into_iter().map(Arc::new).collect())
}

/// Key, value, location, and the document if it has `metadata`.
type Patched = (String, String, Location, Option<Arc<Document>>);

/// The annotations that an entry of a kustomization's patches sets on HyperConvergeds.
fn patched(tree: &dyn Tree, kustomization: &Utf8Path, document: &Document, entry: &Node) -> Vec<Patched> {
    let directory = kustomization.parent().unwrap_or(Utf8Path::new(""));
    let path = entry.as_str().or_else(|| entry.get("path")?.as_str());
    let inline = entry.get("patch").filter(|p| p.as_str().is_some());
    let kind = entry.get("target").and_then(|t| t.get("kind")?.as_str());
    let found = match inline {
        Some(inline) => {
            let text = inline.as_str().unwrap_or_default().to_owned();
            let file = SourceFile::new(kustomization, text);
            let documents = yaml::parse(&file).documents;
            documents.into_iter().map(Arc::new).collect()
        }
        None => {
            path.and_then(|p| normalize_path(&directory.join(p))).and_then(|p| documents(tree, &p)).unwrap_or_default()
        }
    };
    let mut out = Vec::new();
    for patch in found {
        let own = patch.root.get("kind").and_then(Node::as_str).or(kind);
        if own == Some("HyperConverged") {
            annotations(&patch, &mut out);
        }
    }
    if let Some(inline) = inline {
        for patched in &mut out {
            patched.2 = document.location(inline.span);
            patched.3 = None;
        }
    }
    out
}

/// The annotations that a strategic merge patch or a list of operations sets.
fn annotations(patch: &Arc<Document>, out: &mut Vec<Patched>) {
    let annotations = patch.root.get("metadata").and_then(|m| m.get("annotations"));
    for entry in annotations.map_or(&[][..], Node::entries) {
        if let Some(text) = entry.value.as_str() {
            let place = patch.location(entry.key.span);
            let document = Some(Arc::clone(patch));
            out.push((entry.key.text.clone(), text.to_owned(), place, document));
        }
    }
    for operation in patch.root.items() {
        let text = |key: &str| operation.get(key).and_then(Node::as_str);
        let path = text("path").and_then(|p| p.strip_prefix("/metadata/annotations/"));
        if let (Some(name), Some(value)) = (path, text("value"))
            && let Some(place) = operation.get("path")
        {
            let name = name.replace("~1", "/").replace("~0", "~");
            out.push((name, value.to_owned(), patch.location(place.span), None));
        }
    }
}

#[cfg(test)]
mod tests {
    use hcoplan_diagnostics::source::Memory;

    use super::*;

    fn found(files: &[(&str, &str)], file: &str) -> Vec<String> {
        let tree: Memory = files.iter().copied().collect();
        let paths = files.iter().map(|(path, _)| Utf8Path::new(*path));
        let kustomizations = paths.filter(|p| p.file_name() == Some("kustomization.yaml"));
        let layers = Kustomizations::read(&tree, kustomizations).layers(file.into());
        layers.iter().map(|l| format!("{} {}={}", l.kustomization, l.name, l.text)).collect()
    }

    const PATCH: &str = "kind: HyperConverged\nmetadata: {annotations: {a/b: one}}\n";

    #[test]
    fn finds_nested_overlays_in_order() {
        let files = [
            ("base/hc.yaml", ""),
            ("base/kustomization.yaml", "resources: [hc.yaml]\n"),
            (
                "over/kustomization.yaml",
                "resources: [../prod]\npatches:\n- target: {kind: HyperConverged}\n  patch: |-\n    - op: add\n      path: /metadata/annotations/a~1b\n      value: two\n",
            ),
            ("prod/kustomization.yaml", "resources: [../base]\npatches: [{path: p.yaml}]\n"),
            ("prod/p.yaml", PATCH),
        ];
        assert_eq!(
            found(&files, "base/hc.yaml"),
            ["prod/kustomization.yaml a/b=one", "over/kustomization.yaml a/b=two"]
        );
        assert!(found(&files, "elsewhere/hc.yaml").is_empty());
    }

    #[test]
    fn stops_at_circular_references_and_other_kinds() {
        let files = [
            ("hc.yaml", ""),
            ("a/kustomization.yaml", "resources: [../b]\npatches: [{path: p.yaml}]\n"),
            ("b/kustomization.yaml", "resources: [../a, ../hc.yaml]\npatchesStrategicMerge: [p.yaml]\n"),
            ("a/p.yaml", "kind: KubeVirt\nmetadata: {annotations: {a/b: one}}\n"),
            ("b/p.yaml", PATCH),
        ];
        assert_eq!(found(&files, "hc.yaml"), ["b/kustomization.yaml a/b=one"]);
    }
}
