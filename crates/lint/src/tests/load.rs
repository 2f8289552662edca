//! Loads and plans a fixture directory or golden case.

use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, LazyLock};

use camino::Utf8PathBuf;
use hcoplan_diagnostics::finding::{ClusterName, Finding};
use hcoplan_diagnostics::source::{Location, Memory, SourceFile, max_bytes};
use hcoplan_explain::why::PlanInput;
use hcoplan_planner::plan::{Plan, plan};
use hcoplan_planner::release::Release;
use hcoplan_repository::inventory::{self, LoadedInventory, Source, SourceKind};
use hcoplan_repository::repo::{
    self, BuildRequest, ClusterFilter, Layer, OtherObjects, annotation_layers, known_release,
};
use hcoplan_testing::annotations;
use hcoplan_yaml::{self as yaml, Document};
use serde_json::Value;

use crate::{Context, Input, Run, Selection, Settings, Site, run};

/// The name of each fixture's cluster.
static NAME: LazyLock<ClusterName> = LazyLock::new(|| ClusterName::of_root("fixture"));

/// The HyperConverged before the change, in a fixture's directory.
const BEFORE: &str = "before.yaml";

/// A loaded and planned cluster.
pub(crate) struct Case {
    release: Arc<Release>,
    document: Document,
    object: Value,
    inventory: LoadedInventory,
    pub(crate) plan: Plan,
    /// The HyperConverged before the change, `before.yaml`.
    before: Option<Value>,
    /// The other objects of that file.
    objects_before: OtherObjects,
    /// The directory of the other objects.
    directory: Option<PathBuf>,
}

impl Case {
    /// Loads `hyperconverged.yaml`, `inventory.yaml` and `nodes.yaml` of a directory; the default release is the
    /// inventory's.
    pub(crate) fn read(dir: &FilePath, release: Option<&str>) -> Option<Self> {
        let files = annotations::read(dir).unwrap_or_default();
        let of = |name: &str| {
            let bytes = files.iter().find(|(path, _)| path == FilePath::new(name)).map(|(_, bytes)| bytes);
            documents(name, &String::from_utf8_lossy(bytes.map_or(&[], Vec::as_slice)))
        };
        let document = of("hyperconverged.yaml").into_iter().next()?;
        let before = of(BEFORE);
        let is_own = |d: &&Document| d.text("kind") == "HyperConverged";
        Some(Self {
            before: before.iter().find(is_own).map(|d| d.root.to_json()),
            objects_before: before.into_iter().map(Arc::new).collect(),
            directory: Some(dir.to_owned()),
            ..Self::plan(document, of("inventory.yaml"), of("nodes.yaml"), release)
        })
    }

    /// A HyperConverged and its inventory.
    pub(crate) fn of(hyperconverged: &str, inventory: &str) -> Self {
        let document = documents("hyperconverged.yaml", hyperconverged).remove(0);
        let declared = documents("inventory.yaml", inventory);
        Self::plan(document, declared, Vec::new(), None)
    }

    /// The same for a release.
    pub(crate) fn with(hyperconverged: &str, inventory: &str, release: &str) -> Self {
        let document = documents("hyperconverged.yaml", hyperconverged).remove(0);
        let declared = documents("inventory.yaml", inventory);
        Self::plan(document, declared, Vec::new(), Some(release))
    }

    /// The rules' context, with the documents of `others` as other objects.
    pub(crate) fn context<'c>(&'c self, settings: &'c Settings, others: &'c str) -> Context<'c> {
        Context::new(self.input(), settings).with_site(others)
    }

    fn plan(document: Document, declared: Vec<Document>, dumped: Vec<Document>, release: Option<&str>) -> Self {
        let object = document.root.to_json();
        let declared = declared.into_iter().map(|d| (SourceKind::Declared, d));
        let dumped = dumped.into_iter().map(|d| (SourceKind::Nodes, d));
        let sources = declared.chain(dumped).map(|(kind, document)| Source { kind, document: Arc::new(document) });
        let (inventory, findings) = inventory::load(&sources.collect::<Vec<_>>());
        assert!(inventory.valid, "{findings:?}");
        let name = release.or(inventory.inventory.release.as_deref());
        let release = known_release(name.expect("a release")).expect("a known release");
        let plan = plan(&release, &inventory.inventory, &object);
        Self {
            release,
            document,
            object,
            inventory,
            plan,
            before: None,
            objects_before: OtherObjects::default(),
            directory: None,
        }
    }

    /// The documents that may contain suppressions.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &Document> {
        let declared = self.inventory.documents.iter().map(Arc::as_ref);
        std::iter::once(&self.document).chain(declared)
    }

    pub(crate) fn input(&self) -> Input<'_> {
        Input {
            cluster: &NAME,
            release: &self.release,
            document: &self.document,
            object: &self.object,
            inventory: &self.inventory,
            plan: &self.plan,
        }
    }

    /// Its inputs, for checking the effect of each.
    pub(crate) fn plan_input(&self) -> PlanInput<'_> {
        PlanInput::new(&self.release, &self.document, &self.object, &self.inventory)
    }

    /// Whether a location is in the HyperConverged's document.
    pub(crate) fn is_inside(&self, place: &Location) -> bool {
        let whole = self.document.span;
        place.file.path() == self.document.file.path() && place.span.start >= whole.start && place.span.end <= whole.end
    }

    pub(crate) fn lint(&self, settings: &Settings) -> Vec<Finding> {
        self.run(settings).findings
    }

    pub(crate) fn run(&self, settings: &Settings) -> Run {
        run(&self.surroundings(settings), &Selection::of(settings))
    }

    /// The context with the fixture's other files.
    pub(crate) fn surroundings<'c>(&'c self, settings: &'c Settings) -> Context<'c> {
        Context::new(self.input(), settings)
            .with_site(self)
            .with_before(self.before.as_ref())
            .with_objects_before(Some(&self.objects_before))
    }
}

/// The documents of a text.
impl Site for &str {
    fn other_objects(&self) -> Arc<OtherObjects> {
        Arc::new(documents("others.yaml", self).into_iter().map(Arc::new).collect())
    }
}

impl Site for &Case {
    fn other_objects(&self) -> Arc<OtherObjects> {
        Arc::new(self.directory.iter().flat_map(|d| below(d)).collect())
    }

    fn texts(&self) -> Vec<Arc<SourceFile>> {
        self.directory.iter().flat_map(|d| texts(d)).collect()
    }

    fn layers(&self) -> Vec<Layer> {
        self.directory.iter().flat_map(|d| layers(d)).collect()
    }
}

/// All documents of a directory.
fn below(directory: &FilePath) -> Vec<Arc<Document>> {
    let mut found = Vec::new();
    for (path, bytes) in annotations::read(directory).expect("a directory") {
        if path != FilePath::new(BEFORE) && path.extension().is_some_and(|e| e == "yaml" || e == "json") {
            let text = String::from_utf8(bytes).expect("UTF-8");
            found.extend(documents(&path.to_string_lossy(), &text).into_iter().map(Arc::new));
        }
    }
    found
}

/// The files of a directory that are neither manifests nor expected output.
fn texts(directory: &FilePath) -> Vec<Arc<SourceFile>> {
    let entries = fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|e| e.expect("an entry").path());
    let others = paths.filter(|p| {
        let known = ["yaml", "json", "txt"];
        p.is_file() && p.extension().is_none_or(|e| !known.iter().any(|k| e == *k))
    });
    let read = others.map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = text(&path).expect("a fixture");
        SourceFile::new(name.into_owned(), text)
    });
    read.collect()
}

/// The layers of a directory's kustomizations over its HyperConverged.
fn layers(directory: &FilePath) -> Vec<Layer> {
    let files = annotations::read(directory).expect("a directory");
    let files = files.into_iter().map(|(path, bytes)| (Utf8PathBuf::try_from(path).expect("UTF-8"), bytes));
    let tree: Memory = files.collect();
    let asked = BuildRequest {
        within: None,
        chosen: &ClusterFilter::default(),
        is_off: false,
        fetches: false,
        is_exact: false,
        most_bytes: max_bytes(),
        stop: &|| false,
    };
    let built = repo::build(&tree, ".".into(), &asked, &Default::default()).expect("built in memory");
    built.layers.values().max_by_key(|layers| layers.len()).map(|layers| annotation_layers(layers)).unwrap_or_default()
}

/// A fixture's file without annotations.
fn text(path: &FilePath) -> std::io::Result<String> {
    fs::read_to_string(path).map(|text| annotations::strip(&text))
}

fn documents(file: &str, text: &str) -> Vec<Document> {
    yaml::parse(&SourceFile::new(file, text)).documents
}
