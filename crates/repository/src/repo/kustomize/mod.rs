//! Builds kustomizations with kustomize.
//!
//! A build replaces the files that it includes: it is an additional file of its directory, [`BUILT`], which isn't on
//! disk. kustomize fetches missing files, runs plugins and reads every path that it gets. So hcoplan first parses every
//! kustomization ([`read`]). It rejects one that names anything but files below the root ([`remote`]), or a plugin that
//! isn't kustomize's own, before it runs anything. kustomize runs in a sandbox ([`run`]).

mod failed;
mod layers;
mod reached;
mod read;
mod remote;
mod run;
mod self_contained;
mod trace;

pub(super) use run::{BuildTarget, run_program};

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use memchr::memmem::find;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

pub(super) use self::layers::whole;
pub use self::layers::{BuildLayer, LayerKind, selects};
use self::reached::{BuildInputs, generates_policies};
use self::read::Kustomization;
pub use self::run::builder;
pub use self::self_contained::has_outside_references;
pub(super) use self::self_contained::references;
pub use self::trace::{LayerValue, layer_values};
use hcoplan_diagnostics::finding::Finding;
use hcoplan_diagnostics::source::{Location, Memory, Origins, SourceFile, Span, Tree, Walk, normalize_path};
use hcoplan_planner::inventory::SourceKind;
use hcoplan_yaml::{self as yaml, Document};

use super::build_failed::{FailedBuild, name_of};
use super::cluster_filter::ClusterFilter;
use super::kustomization::{KUSTOMIZATIONS, follow_links, is_kustomization};
use super::listed::HCO;
use super::scan::{FoundKind, FoundObject, may_name_hyperconverged, scan};

/// The name of a build, in the kustomization's directory.
pub const BUILT: &str = "kustomize-build.yaml";

/// The results of builds.
#[derive(Debug, Default)]
pub struct Built {
    /// The builds by their paths from the root.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The origins of each build's text.
    pub origins: BTreeMap<Utf8PathBuf, Arc<Origins>>,
    /// The source documents of each build.
    pub documents: BTreeMap<Utf8PathBuf, Vec<Arc<Document>>>,
    /// The source files of each build.
    pub inputs: BTreeMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    /// The source files of clusters that weren't built, because others were selected or the build failed.
    pub unbuilt: BTreeMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    /// The source files that aren't examined on their own: all but kustomizations.
    pub reached: BTreeSet<Utf8PathBuf>,
    /// The findings about successful builds.
    pub findings: Vec<Finding>,
    /// The builds that failed.
    pub failed: Vec<FailedBuild>,
    /// The directories of clusters that weren't selected, so that they weren't built.
    pub unselected: BTreeSet<Utf8PathBuf>,
    /// For each build its command, and the file of its HyperConverged if there is one.
    pub notes: Vec<String>,
}

/// An error that keeps a kustomization or chart from being built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Building is disabled.
    #[error("hcoplan.yaml sets `kustomize: off`, so it is not built")]
    Off,
    /// A kustomization names something that isn't below the root.
    #[error("{file}: {name} is {what}")]
    OutsideRoot {
        /// The kustomization.
        file: Utf8PathBuf,
        /// The name.
        name: String,
        /// What the name is instead.
        what: &'static str,
    },
    /// An unreadable kustomization, whose files are unknown.
    #[error("{file}: {why}")]
    Broken {
        /// The kustomization.
        file: Utf8PathBuf,
        /// The error.
        why: String,
    },
    /// helm isn't installed.
    #[error("helm is not on the PATH")]
    NoHelm,
    /// Neither kustomize nor kubectl is installed.
    #[error("neither kustomize nor kubectl is on the PATH, so it is not built")]
    NoProgram,
    /// The user stopped hcoplan.
    #[error("the build was interrupted")]
    Interrupted,
    /// The temporary directory can't be created.
    #[error("the temporary directory for the build can't be created: {0}")]
    NoTemporaryDirectory(std::io::Error),
    /// The root can't be examined.
    #[error(transparent)]
    Source(#[from] hcoplan_diagnostics::source::Error),
    /// The build failed.
    #[error("`{command}` failed: {message}")]
    Failed {
        /// The command.
        command: String,
        /// The first lines of its standard error.
        message: String,
    },
}

/// What to build, and how.
pub struct BuildRequest<'a> {
    /// Only builds in this directory, or with a file in it.
    pub within: Option<&'a Utf8Path>,
    /// The selected clusters.
    pub chosen: &'a ClusterFilter,
    /// Whether building is disabled: the configuration has `kustomize: off`.
    pub is_off: bool,
    /// Whether kustomize may fetch remote resources.
    pub fetches: bool,
    /// The largest output of a build, in bytes.
    pub most_bytes: usize,
    /// Returns whether to stop a running build.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Builds the selected kustomizations of a tree that no other one uses and that reach a HyperConverged, or may create
/// one. Builds run in a temporary directory with only the files that they need. `root` prefixes reported paths.
///
/// # Errors
/// An error that prevents all builds; a single failed build is part of the result.
pub fn build(tree: &dyn Tree, root: &Utf8Path, request: &BuildRequest<'_>) -> Result<Built, BuildError> {
    let listing = tree.list(&Walk::default())?;
    let mut all = TreeKustomizations::new(tree, root, request.fetches);
    let files = listing.files.iter().filter(|p| is_kustomization(p));
    let directories: BTreeSet<_> = files.filter_map(|p| p.parent()).collect();
    let mut named = BTreeSet::new();
    for directory in &directories {
        if let Some(kustomization) = all.at(directory) {
            let bases = kustomization.bases();
            let bases = bases.filter_map(|base| normalize_path(&directory.join(base)));
            named.extend(bases.map(|base| follow_links(tree, &base)));
        }
    }
    let mut jobs = Vec::new();
    let mut built = Built::default();
    let mut known = HashMap::new();
    // Kustomizations whose resources are unknown.
    let mut unknown = Vec::new();
    for directory in directories {
        let component = all.at(directory).is_none_or(|k| k.component);
        if named.contains(directory) || component {
            continue;
        }
        let job = BuildJob::new(&mut all, directory);
        let is_within = |w: &Utf8Path| job.reached.inputs.iter().any(|i| i.starts_with(w));
        if request.within.is_some_and(|w| !is_within(w)) {
            if !job.sources.is_empty() {
                built.reached.extend(job.reached.files());
                let inputs = job.reached.inputs;
                built.unbuilt.insert(directory.to_owned(), inputs);
            }
            continue;
        }
        if !job.sources.is_empty() || job.may_create_hyperconverged(tree, &mut known) {
            jobs.push(job);
        } else if (job.allowed.is_err() || job.reached.is_remote) && !generates_policies(&job.allowed) {
            unknown.push(job);
        }
    }
    // An inventory above clusters belongs to them.
    let known = jobs.iter().flat_map(|j| j.directory.ancestors());
    let above_clusters: HashSet<_> = known.map(Utf8Path::to_path_buf).collect();
    let mut by_directory: HashMap<&Utf8Path, Vec<&Utf8PathBuf>> = HashMap::new();
    for file in listing.files.iter().filter(|_| !unknown.is_empty()) {
        let directory = file.parent().unwrap_or(Utf8Path::new(""));
        by_directory.entry(directory).or_default().push(file);
    }
    for mut job in unknown {
        let own = by_directory.get(&*job.directory);
        let own = own.into_iter().flatten().copied();
        job.has_inventory = !above_clusters.contains(&job.directory) && has_inventory(tree, own);
        if job.has_inventory {
            jobs.push(job);
        }
    }
    jobs.sort_by(|a, b| a.directory.cmp(&b.directory));
    let is_selected = |job: &BuildJob| request.chosen.has(name_of(&job.directory));
    let (jobs, unselected): (Vec<_>, Vec<_>) = jobs.into_iter().partition(is_selected);
    for job in unselected.into_iter().filter(|job| !job.sources.is_empty() || job.has_inventory) {
        built.reached.extend(job.reached.files());
        let inputs = job.reached.inputs;
        built.unbuilt.insert(job.directory.clone(), inputs);
        built.unselected.insert(job.directory);
    }
    // Most of the time is waiting for kustomize.
    let run = |job: BuildJob| {
        if request.is_off { (job, Err(BuildError::Off)) } else { job.run(tree, root, request.most_bytes, request.stop) }
    };
    let done: Vec<_> = jobs.into_par_iter().map(run).collect();
    for (job, run) in done {
        built.add_result(tree, root, job, run)?;
    }
    Ok(built)
}

/// Builds the kustomization of one directory, even if another one uses it; `None` if the directory has none. `printed`:
/// output that was printed elsewhere, so that nothing is run.
///
/// # Errors
/// An error that prevents all builds; a single failed build is part of the result.
pub fn build_one(
    tree: &dyn Tree,
    root: &Utf8Path,
    directory: &Utf8Path,
    printed: Option<Vec<u8>>,
    most_bytes: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Built>, BuildError> {
    let mut all = TreeKustomizations::new(tree, root, false);
    if all.at(directory).is_none() && printed.is_none() {
        return Ok(None);
    }
    let job = BuildJob::new(&mut all, directory);
    let (job, run) = match printed {
        Some(bytes) => (job, Ok(("standard input".to_owned(), bytes))),
        None => job.run(tree, root, most_bytes, stop),
    };
    let mut built = Built::default();
    built.add_result(tree, root, job, run)?;
    Ok(Some(built))
}

/// The files with a HyperConverged that a directory's kustomization uses.
pub fn hyperconvergeds_of(tree: &dyn Tree, root: &Utf8Path, directory: &Utf8Path) -> Vec<Utf8PathBuf> {
    BuildJob::new(&mut TreeKustomizations::new(tree, root, false), directory).sources
}

/// The layers of a directory's build, in kustomize's order.
pub(super) fn layers_of(tree: &dyn Tree, directory: &Utf8Path) -> Vec<BuildLayer> {
    layers::layers(tree, directory)
}

/// Whether a directory has a kustomization.
pub fn has_kustomization(tree: &dyn Tree, directory: &Utf8Path) -> bool {
    let paths = KUSTOMIZATIONS.map(|name| directory.join(name));
    paths.iter().any(|path| tree.check(path).is_ok())
}

/// A kustomization to build.
struct BuildJob {
    directory: Utf8PathBuf,
    /// Its resource files with a HyperConverged.
    sources: Vec<Utf8PathBuf>,
    reached: BuildInputs,
    /// The error if kustomize must not build it.
    allowed: Result<(), BuildError>,
    /// Whether an inventory is next to it, which marks it as a cluster.
    has_inventory: bool,
}

/// The command as typed in a shell, and its output.
type BuildOutput = Result<(String, Vec<u8>), BuildError>;

impl BuildJob {
    fn new(all: &mut TreeKustomizations<'_>, directory: &Utf8Path) -> Self {
        let mut reached = BuildInputs::default();
        let allowed = reached.follow(all, directory);
        let resources = reached.resources.iter();
        let sources = resources.filter(|f| has_hyperconverged(all.tree, f));
        let sources = sources.cloned().collect();
        Self { directory: directory.to_owned(), sources, reached, allowed, has_inventory: false }
    }

    fn run(
        mut self,
        tree: &dyn Tree,
        root: &Utf8Path,
        most_bytes: usize,
        stop: &dyn Fn() -> bool,
    ) -> (Self, BuildOutput) {
        let allowed = std::mem::replace(&mut self.allowed, Ok(()));
        let run = allowed.and_then(|()| {
            let reached = &self.reached;
            let place = BuildTarget {
                tree,
                root,
                directory: &self.directory,
                inputs: &reached.inputs,
                links: &reached.links,
                network: reached.is_remote,
            };
            run::run(&place, most_bytes, stop)
        });
        (self, run)
    }
}

impl BuildJob {
    /// Whether one of its files mentions a HyperConverged, such as a patch or component, or can change an object's
    /// kind: then only the build shows the result. `known` caches the answers about files. Objects of a PolicyGenerator
    /// are examined in their own files.
    fn may_create_hyperconverged(&self, tree: &dyn Tree, known: &mut HashMap<Utf8PathBuf, bool>) -> bool {
        self.reached.inputs.iter().any(|input| {
            let may = || {
                tree.read(input).is_ok_and(|bytes| {
                    may_name_hyperconverged(&bytes) && !is_policy_generator(input, &bytes)
                        || changes_kinds(input, bytes)
                })
            };
            *known.entry(input.clone()).or_insert_with(may)
        })
    }

    /// Whether one of its files contains HCO's kind or group.
    fn names_hyperconverged(&self, tree: &dyn Tree) -> bool {
        let words = ["HyperConverged", HCO];
        let mut inputs = self.reached.inputs.iter();
        inputs.any(|input| tree.read(input).is_ok_and(|b| words.iter().any(|w| find(&b, w.as_bytes()).is_some())))
    }
}

/// Whether a file has only PolicyGenerators.
fn is_policy_generator(path: &Utf8Path, bytes: &[u8]) -> bool {
    let parsed = yaml::parse(&SourceFile::from_bytes(path, bytes.to_vec()));
    let kind =
        |document: &Document| document.root.get("kind").and_then(|kind| kind.as_str()) == Some("PolicyGenerator");
    parsed.problems.is_empty() && !parsed.documents.is_empty() && parsed.documents.iter().all(kind)
}

/// Whether a file can change an object's kind without naming it: a patch that may, or a replacement or value that
/// writes `kind` or `apiVersion`.
fn changes_kinds(path: &Utf8Path, bytes: Vec<u8>) -> bool {
    let lower = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    let has = |word: &str| lower.contains(word);
    if has("allowkindchange") || has("valueaddtransformer") || has("varreference") {
        return true;
    }
    if !has("fieldpaths") || !has("kind") && !has("apiversion") {
        return false;
    }
    let parsed = yaml::parse(&SourceFile::from_bytes(path, bytes));
    parsed.documents.iter().any(|document| writes_kinds(&document.root))
}

fn writes_kinds(node: &yaml::Node) -> bool {
    let is_kind = |path: &yaml::Node| {
        let last = path.as_str().and_then(|path| path.rsplit('.').next());
        last.is_some_and(|last| ["kind", "apiVersion"].contains(&last))
    };
    let below = |entry: &yaml::Entry| {
        entry.key.text.eq_ignore_ascii_case("fieldPaths") && entry.value.items().iter().any(is_kind)
            || writes_kinds(&entry.value)
    };
    node.entries().iter().any(below) || node.items().iter().any(writes_kinds)
}

/// Whether one of a directory's files has a ClusterInventory.
fn has_inventory<'f>(tree: &dyn Tree, mut own: impl Iterator<Item = &'f Utf8PathBuf>) -> bool {
    own.any(|file| {
        let found = scan(tree, file).found;
        let declared = FoundKind::Inventory(SourceKind::Declared);
        found.iter().any(|f| f.what == declared)
    })
}

impl Built {
    /// Whether nothing was or had to be built.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.failed.is_empty() && self.findings.is_empty() && self.unselected.is_empty()
    }

    /// Adds other builds.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.origins.extend(other.origins);
        self.documents.extend(other.documents);
        self.inputs.extend(other.inputs);
        self.unbuilt.extend(other.unbuilt);
        self.reached.extend(other.reached);
        self.findings.extend(other.findings);
        self.failed.extend(other.failed);
        self.unselected.extend(other.unselected);
        self.notes.extend(other.notes);
    }

    /// Adds a job's result. A failed job is a finding, unless all would fail for the same reason.
    fn add_result(
        &mut self,
        tree: &dyn Tree,
        root: &Utf8Path,
        job: BuildJob,
        run: BuildOutput,
    ) -> Result<(), BuildError> {
        let has_source = !job.sources.is_empty();
        let names_hyperconverged = has_source || job.has_inventory || job.names_hyperconverged(tree);
        let BuildJob { directory, sources, reached, .. } = job;
        match run {
            Ok((command, bytes)) => {
                let built = directory.join(BUILT);
                let content = scan(&Memory::from_iter([(built.clone(), bytes.clone())]), &built);
                let is_relevant = |f: &FoundObject| {
                    matches!(f.what, FoundKind::HyperConverged | FoundKind::Unrecognized | FoundKind::NotPlanned)
                };
                let has_hyperconverged =
                    content.found.iter().any(is_relevant) || content.content.is_some_and(|c| c.is_broken());
                if !has_hyperconverged {
                    if has_source {
                        self.findings.push(failed::builds_no_hyperconverged(tree, root, &directory, &sources));
                        self.reached.extend(reached.files());
                    }
                    return Ok(());
                }
                self.reached.extend(reached.files());
                let name = shown(root, &built);
                let from = match sources.as_slice() {
                    [only] => format!(", its HyperConverged from {}", shown(root, only)),
                    _ => String::new(),
                };
                let note = format!("{name} is what `{command}` prints{from}");
                self.notes.push(note);
                self.add(tree, &directory, bytes);
                self.inputs.insert(built, reached.inputs);
            }
            Err(error @ (BuildError::Interrupted | BuildError::NoTemporaryDirectory(_))) => return Err(error),
            // A failure without a HyperConverged isn't reported.
            Err(_) if !names_hyperconverged => {}
            Err(error) => {
                self.reached.extend(reached.files());
                let failed = failed::failed(tree, root, directory.clone(), error);
                self.unbuilt.insert(directory, reached.inputs);
                self.failed.push(failed);
            }
        }
        Ok(())
    }

    fn add(&mut self, tree: &dyn Tree, directory: &Utf8Path, bytes: Vec<u8>) {
        let path = directory.join(BUILT);
        let layers = layers::layers(tree, directory);
        let file = SourceFile::from_bytes(&path, bytes.clone());
        let parsed = yaml::parse(&file);
        let origins = trace::origins(&parsed.documents, &layers, &kustomization_location(tree, directory));
        let mut documents: Vec<Arc<Document>> = layers.into_iter().map(BuildLayer::document).collect();
        let mut known = HashSet::new();
        documents.retain(|d| known.insert((d.file.path().to_owned(), d.index)));
        self.documents.insert(path.clone(), documents);
        self.origins.insert(path.clone(), Arc::new(origins));
        self.files.insert(path, bytes);
    }
}

/// The location of a directory's kustomization: its first line.
pub(super) fn kustomization_location(tree: &dyn Tree, directory: &Utf8Path) -> Location {
    let paths = KUSTOMIZATIONS.map(|name| directory.join(name));
    let mut read = paths.iter().filter_map(|path| Some((path, tree.read(path).ok()?)));
    let file = match read.next() {
        Some((path, bytes)) => SourceFile::from_bytes(path, bytes),
        None => SourceFile::new(directory.join(KUSTOMIZATIONS[0]), ""),
    };
    let first = file.line(0).map_or(0, |(_, line)| line.len());
    Location::new(&file, Span::new(0, first))
}

/// Whether a file has a HyperConverged, or mentions one if it can't be parsed as YAML.
fn has_hyperconverged(tree: &dyn Tree, path: &Utf8Path) -> bool {
    let scanned = scan(tree, path);
    let is_broken = scanned.content.is_none_or(|content| content.is_broken());
    scanned.found.iter().any(|f| f.what == FoundKind::HyperConverged) || is_broken && tree.mentions(path, &[HCO])
}

/// The kustomizations of a tree, each read once.
struct TreeKustomizations<'t> {
    tree: &'t dyn Tree,
    root: &'t Utf8Path,
    /// Whether kustomize may fetch remote resources.
    fetches: bool,
    read: BTreeMap<Utf8PathBuf, Option<Kustomization>>,
}

impl<'t> TreeKustomizations<'t> {
    fn new(tree: &'t dyn Tree, root: &'t Utf8Path, fetches: bool) -> Self {
        Self { tree, root, fetches, read: BTreeMap::new() }
    }

    /// The kustomization in a directory.
    fn at(&mut self, directory: &Utf8Path) -> Option<&Kustomization> {
        let (tree, root) = (self.tree, self.root);
        let entry = self.read.entry(directory.to_owned());
        let read = entry.or_insert_with(|| Kustomization::of(tree, root, directory));
        read.as_ref()
    }
}

/// A path below the reported root.
fn shown(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    match (root.as_str(), path.as_str()) {
        (_, "") => root.to_owned(),
        (".", _) => path.to_owned(),
        _ => root.join(path),
    }
}
