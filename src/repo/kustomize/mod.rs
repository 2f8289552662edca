//! Kustomizations, built by the program that builds them elsewhere: only when that is asked for.
//!
//! What a kustomization builds takes the place of the files that it reaches: it is one more file of
//! its directory, [`BUILT`], which is on no disk. kustomize fetches what it doesn't find, runs
//! plugins and reads whatever it is told to: so every kustomization is read first ([`read`]), and one
//! that names anything else than files below the root ([`remote`]), or a plugin that isn't
//! kustomize's own, is refused before anything runs. What runs is shut in ([`run`]).

mod layers;
mod read;
mod remote;
mod run;
mod tied;
mod trace;

pub(super) use run::{Place, run_program};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use memchr::memmem::find;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

pub use self::layers::{Layer as BuildLayer, What as LayerKind, selects};
use self::read::{Kustomization, Named};
pub use self::run::builder;
pub use self::tied::is_tied;
use super::build_failed::{FailedBuild, KUSTOMIZE_BUILD_FAILED};
use super::kustomization::{KUSTOMIZATIONS, is_kustomization};
use super::listed::HCO;
use super::scan::{What, scan};
use crate::finding::Finding;
use crate::inventory::SourceKind;
use crate::source::{Listing, Location, Origins, SourceFile, Span, Tree, Unreadable, Walk, normal};
use crate::yaml::{self, Document};

/// What a build is called, in the kustomization's directory.
pub const BUILT: &str = "kustomize-build.yaml";

/// What was built.
#[derive(Debug, Default)]
pub struct Built {
    /// The builds by their paths from the root.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// Where the text of each build is from.
    pub origins: BTreeMap<Utf8PathBuf, Arc<Origins>>,
    /// The documents that went into each build.
    pub documents: BTreeMap<Utf8PathBuf, Vec<Arc<Document>>>,
    /// The files that each build was made of.
    pub inputs: BTreeMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    /// The files that went into them and say nothing by themselves: all but kustomizations.
    pub reached: BTreeSet<Utf8PathBuf>,
    /// What is said about builds that were made.
    pub said: Vec<Finding>,
    /// The builds that failed.
    pub failed: Vec<FailedBuild>,
    /// For each build, how it was made and which file its HyperConverged is from, where that is one.
    pub notes: Vec<String>,
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Nothing to build.
    #[error("{0} has no kustomization with a HyperConverged")]
    Nothing(Utf8PathBuf),
    /// A kustomization names what is not below the root.
    #[error("{file}: {name} is {what}")]
    Elsewhere {
        /// The kustomization.
        file: Utf8PathBuf,
        /// What it names.
        name: String,
        /// Where that is.
        what: &'static str,
    },
    /// A kustomization can't be read, so that nobody knows what it names.
    #[error("{file}: {why}")]
    Broken {
        /// The kustomization.
        file: Utf8PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing to render.
    #[error("{0} has no Helm chart with a HyperConverged in its templates")]
    NoChart(Utf8PathBuf),
    /// There is nothing to render with.
    #[error("helm is not on the PATH")]
    NoHelm,
    /// There is nothing to build with.
    #[error("neither kustomize nor kubectl is on the PATH")]
    NoProgram,
    /// Somebody asked for an end.
    #[error("the build was ended")]
    Interrupted,
    /// There is no place to build in.
    #[error("there is no temporary directory to build in: {0}")]
    NoRoom(std::io::Error),
    /// The root can't be looked at.
    #[error(transparent)]
    Source(#[from] crate::source::Error),
    /// The build failed.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// The command.
        command: String,
        /// The first lines of its standard error.
        said: String,
    },
}

/// Builds the kustomizations of a tree that no other one builds on and that reach a HyperConverged;
/// the one at the top in any case. Nothing is built in the tree itself: what a build needs, and nothing
/// else, is written to a directory of its own, which is gone afterwards. `root` is what paths are
/// reported to be in. `within`: only what lies in this directory, or what a file of it goes into. `stop`
/// is asked while a build runs whether to end it.
///
/// # Errors
/// Where there is nothing to build, and what keeps every build from being made; one that fails is in what is
/// built.
pub fn build(
    tree: &dyn Tree,
    root: &Utf8Path,
    within: Option<&Utf8Path>,
    most_bytes: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Built, BuildError> {
    let listing = tree.list(&Walk::default())?;
    let mut all = All::new(tree, root);
    let files = listing.files.iter().filter(|p| is_kustomization(p));
    let directories: BTreeSet<_> = files.filter_map(|p| p.parent()).collect();
    let mut named = BTreeSet::new();
    for directory in &directories {
        if let Some(kustomization) = all.at(directory) {
            let bases = kustomization.bases();
            named.extend(bases.filter_map(|base| normal(&directory.join(base))));
        }
    }
    let mut jobs = Vec::new();
    for directory in directories {
        let component = all.at(directory).is_none_or(|k| k.component);
        if named.contains(directory) || component {
            continue;
        }
        let job = Job::new(&mut all, directory);
        let is_within = |w: &Utf8Path| job.reached.inputs.iter().any(|i| i.starts_with(w));
        if within.is_some_and(|w| !is_within(w)) {
            continue;
        }
        // What can't be read, or lies elsewhere, may have one.
        let says_so = |input: &Utf8PathBuf| {
            let text = tree.read(input).unwrap_or_default();
            find(&text, b"HyperConverged").is_some()
        };
        let may_be_one =
            || job.reached.inputs.iter().any(says_so) || has_inventory(tree, &listing, directory);
        if !job.sources.is_empty()
            || directory.as_str().is_empty()
            || job.allowed.is_err() && may_be_one()
        {
            jobs.push(job);
        }
    }
    if jobs.is_empty() {
        return Err(BuildError::Nothing(root.to_owned()));
    }
    // kustomize is waited for most of the time.
    let run = |job: Job| job.run(tree, root, most_bytes, stop);
    let done: Vec<_> = jobs.into_par_iter().map(run).collect();
    let mut built = Built::default();
    for (job, run) in done {
        built.take(tree, root, job, run)?;
    }
    Ok(built)
}

/// What kustomize makes of the kustomization of one directory, whoever builds on it; `None` where the directory
/// has none. `printed`: what it has printed elsewhere, so that nothing is run.
///
/// # Errors
/// What keeps every build from being made; one that fails is in what is built.
pub fn build_one(
    tree: &dyn Tree,
    root: &Utf8Path,
    directory: &Utf8Path,
    printed: Option<Vec<u8>>,
    most_bytes: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Built>, BuildError> {
    let mut all = All::new(tree, root);
    if all.at(directory).is_none() && printed.is_none() {
        return Ok(None);
    }
    let job = Job::new(&mut all, directory);
    let (job, run) = match printed {
        Some(bytes) => (job, Ok(("standard input".to_owned(), bytes))),
        None => job.run(tree, root, most_bytes, stop),
    };
    let mut built = Built::default();
    built.take(tree, root, job, run)?;
    Ok(Some(built))
}

/// The files with a HyperConverged that the kustomization in a directory builds on.
pub fn hyperconvergeds_of(
    tree: &dyn Tree,
    root: &Utf8Path,
    directory: &Utf8Path,
) -> Vec<Utf8PathBuf> {
    Job::new(&mut All::new(tree, root), directory).sources
}

/// What goes into the build of a directory, in the order in which kustomize applies it.
pub(super) fn layers_of(tree: &dyn Tree, directory: &Utf8Path) -> Vec<BuildLayer> {
    layers::layers(tree, directory)
}

/// Whether a directory has a kustomization.
pub fn has_kustomization(tree: &dyn Tree, directory: &Utf8Path) -> bool {
    let paths = KUSTOMIZATIONS.map(|name| directory.join(name));
    paths.iter().any(|path| tree.check(path).is_ok())
}

/// A kustomization to build.
struct Job {
    directory: Utf8PathBuf,
    /// The files with a HyperConverged that it builds on.
    sources: Vec<Utf8PathBuf>,
    reached: Reached,
    /// Why kustomize must not be given it.
    allowed: Result<(), BuildError>,
}

/// The command as it would be typed, and what it printed.
type Run = Result<(String, Vec<u8>), BuildError>;

impl Job {
    fn new(all: &mut All<'_>, directory: &Utf8Path) -> Self {
        let mut reached = Reached::default();
        let allowed = reached.follow(all, directory);
        let resources = reached.resources.iter();
        let sources = resources.filter(|f| has_hyperconverged(all.tree, f));
        Self {
            directory: directory.to_owned(),
            sources: sources.cloned().collect(),
            reached,
            allowed,
        }
    }

    fn run(
        mut self,
        tree: &dyn Tree,
        root: &Utf8Path,
        most_bytes: usize,
        stop: &dyn Fn() -> bool,
    ) -> (Self, Run) {
        let allowed = std::mem::replace(&mut self.allowed, Ok(()));
        let run = allowed.and_then(|()| {
            let place = Place {
                tree,
                root,
                directory: &self.directory,
                inputs: &self.reached.inputs,
            };
            run::run(&place, most_bytes, stop)
        });
        (self, run)
    }
}

/// Whether a directory of a listing has a ClusterInventory in it.
fn has_inventory(tree: &dyn Tree, listing: &Listing, directory: &Utf8Path) -> bool {
    let mut own = listing
        .files
        .iter()
        .filter(|f| f.parent() == Some(directory));
    own.any(|file| {
        let found = scan(tree, file).found;
        let declared = What::Inventory(SourceKind::Declared);
        found.iter().any(|f| f.what == declared)
    })
}

impl Built {
    /// Takes in what was built by something else.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.origins.extend(other.origins);
        self.documents.extend(other.documents);
        self.inputs.extend(other.inputs);
        self.reached.extend(other.reached);
        self.said.extend(other.said);
        self.failed.extend(other.failed);
        self.notes.extend(other.notes);
    }

    /// Takes in what came of a job. One that failed is a finding, unless all would fail by it.
    fn take(
        &mut self,
        tree: &dyn Tree,
        root: &Utf8Path,
        job: Job,
        run: Run,
    ) -> Result<(), BuildError> {
        let Job {
            directory,
            sources,
            reached,
            ..
        } = job;
        let inputs = reached.inputs.iter().filter(|i| !is_kustomization(i));
        self.reached.extend(inputs.cloned());
        self.reached.extend(reached.resources);
        match run {
            Ok((command, bytes)) => {
                let name = shown(root, &directory.join(BUILT));
                let from = match sources.as_slice() {
                    [only] => format!(", its HyperConverged from {}", shown(root, only)),
                    _ => String::new(),
                };
                let note = format!("{name} is what `{command}` prints{from}");
                self.notes.push(note);
                self.add(tree, &directory, bytes);
                self.inputs.insert(directory.join(BUILT), reached.inputs);
            }
            Err(
                error @ (BuildError::Interrupted | BuildError::NoProgram | BuildError::NoRoom(_)),
            ) => return Err(error),
            Err(error) => {
                let place = whole(tree, &directory);
                let file = format!("{}: ", shown(root, place.file.path()));
                let said = error.to_string();
                let said = said.strip_prefix(&file).unwrap_or(&said);
                let finding = Finding::new(&KUSTOMIZE_BUILD_FAILED, said).at(place);
                self.failed.push(FailedBuild {
                    directory,
                    finding: finding.label("this cluster is not planned"),
                });
            }
        }
        Ok(())
    }

    fn add(&mut self, tree: &dyn Tree, directory: &Utf8Path, bytes: Vec<u8>) {
        let path = directory.join(BUILT);
        let layers = layers::layers(tree, directory);
        let file = SourceFile::from_bytes(&path, bytes.clone());
        let parsed = yaml::parse(&file);
        let origins = trace::origins(&parsed.documents, &layers, &whole(tree, directory));
        let mut documents: Vec<Arc<Document>> = layers.into_iter().map(|l| l.document()).collect();
        documents.dedup_by_key(|d| (d.file.path().to_owned(), d.index));
        self.documents.insert(path.clone(), documents);
        self.origins.insert(path.clone(), Arc::new(origins));
        self.files.insert(path, bytes);
    }
}

/// The place that stands for a directory's kustomization: its first line.
pub(super) fn whole(tree: &dyn Tree, directory: &Utf8Path) -> Location {
    let paths = KUSTOMIZATIONS.map(|name| directory.join(name));
    let mut read = paths
        .iter()
        .filter_map(|path| Some((path, tree.read(path).ok()?)));
    let file = match read.next() {
        Some((path, bytes)) => SourceFile::from_bytes(path, bytes),
        None => SourceFile::new(directory.join(KUSTOMIZATIONS[0]), ""),
    };
    let first = file.line(0).map_or(0, |(_, line)| line.len());
    Location::new(&file, Span::new(0, first))
}

/// Whether a HyperConverged is in a file, or a word of one in a file that can't be read as YAML.
fn has_hyperconverged(tree: &dyn Tree, path: &Utf8Path) -> bool {
    let found = scan(tree, path).found;
    found.iter().any(|f| f.what == What::HyperConverged) || tree.mentions(path, &[HCO])
}

/// The kustomizations of a tree, each read once.
struct All<'t> {
    tree: &'t dyn Tree,
    root: &'t Utf8Path,
    read: BTreeMap<Utf8PathBuf, Option<Kustomization>>,
}

impl<'t> All<'t> {
    fn new(tree: &'t dyn Tree, root: &'t Utf8Path) -> Self {
        Self {
            tree,
            root,
            read: BTreeMap::new(),
        }
    }

    /// The kustomization in a directory.
    fn at(&mut self, directory: &Utf8Path) -> Option<&Kustomization> {
        let (tree, root) = (self.tree, self.root);
        let entry = self.read.entry(directory.to_owned());
        let read = entry.or_insert_with(|| Kustomization::of(tree, root, directory));
        read.as_ref()
    }
}

/// What is said about what a kustomization must not name.
const FETCHED: &str = "not in the directory, and nothing is fetched";
const OUTSIDE: &str = "outside the directory that is read";
const NOTHING: &str = "neither a file nor a kustomization here";
const CHART: &str = "for Helm charts, which kustomize would have helm fetch";
const PROGRAM: &str = "a plugin that isn't kustomize's own, and no program is run for it";
const CHANGED: &str = "a directory of plugins that does more than list them";

/// What a kustomization reaches.
#[derive(Debug, Default)]
struct Reached {
    directories: BTreeSet<Utf8PathBuf>,
    /// The files that it builds on.
    resources: Vec<Utf8PathBuf>,
    /// Every file that kustomize reads for it.
    inputs: BTreeSet<Utf8PathBuf>,
}

impl Reached {
    /// Follows everything that a directory's kustomization names. The first thing that kustomize must
    /// not be given is the error, and the rest is followed all the same.
    fn follow(&mut self, all: &mut All<'_>, top: &Utf8Path) -> Result<(), BuildError> {
        let mut allowed = Ok(());
        let mut open = vec![top.to_owned()];
        while let Some(directory) = open.pop() {
            if !self.directories.insert(directory.clone()) {
                continue;
            }
            let Some(kustomization) = all.at(&directory) else {
                continue;
            };
            let (file, named) = (kustomization.path.clone(), kustomization.named.clone());
            self.inputs.insert(kustomization.input.clone());
            let refused = kustomization.refused.clone();
            allowed = allowed.and(refused.map_or(Ok(()), |r| Err(r.error(file.clone()))));
            for named in named {
                let refuse = |name: &str, what| BuildError::Elsewhere {
                    file: file.clone(),
                    name: name.to_owned(),
                    what,
                };
                let one = self.name(all, &directory, &named, &mut open);
                allowed = allowed.and(one.map_err(|(name, what)| refuse(&name, what)));
            }
        }
        allowed
    }

    /// Follows one thing that the kustomization of a directory names; directories that are built on
    /// are `open` for later. Else what must not be named, and why.
    fn name(
        &mut self,
        all: &mut All<'_>,
        directory: &Utf8Path,
        named: &Named,
        open: &mut Vec<Utf8PathBuf>,
    ) -> Result<(), (String, &'static str)> {
        match named {
            Named::Base(name) => {
                let path = below(directory, name)?;
                let refuse = |what| (name.clone(), what);
                if all.tree.check(&path).is_ok() {
                    self.inputs.insert(path.clone());
                    self.resources.push(path);
                    return Ok(());
                }
                // kustomize takes a name that it doesn't find for a repository to clone.
                match all.at(&path) {
                    Some(_) => open.push(path),
                    None => return Err(refuse(NOTHING)),
                }
                Ok(())
            }
            Named::File(name) => self.file(all, directory, name),
            Named::Patch(text) if read::is_inline(text) => Ok(()),
            Named::Patch(name) => self.file(all, directory, name),
            Named::Plugin(text) => self.plugin(all, directory, text),
        }
    }

    fn file(
        &mut self,
        all: &All<'_>,
        directory: &Utf8Path,
        name: &str,
    ) -> Result<(), (String, &'static str)> {
        let path = below(directory, name)?;
        match all.tree.check(&path) {
            Ok(()) => {
                self.inputs.insert(path);
                Ok(())
            }
            // What isn't there is kustomize's to say.
            Err(Unreadable::Missing) => Ok(()),
            Err(Unreadable::LeavesRoot) => Err((name.to_owned(), OUTSIDE)),
            Err(_) => Err((name.to_owned(), "no file")),
        }
    }

    /// Checks a plugin: its configuration, a file of it, or a directory that lists such files.
    fn plugin(
        &mut self,
        all: &mut All<'_>,
        directory: &Utf8Path,
        text: &str,
    ) -> Result<(), (String, &'static str)> {
        if read::is_inline(text) {
            let first = || text.lines().next().unwrap_or_default().to_owned();
            let named = read::plugins(text).map_err(|what| (first(), what))?;
            return self.all_files(all, directory, &named);
        }
        let path = below(directory, text)?;
        let refuse = |what| (text.to_owned(), what);
        if let Ok(bytes) = all.tree.read(&path) {
            self.inputs.insert(path.clone());
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let named = read::plugins(&text).map_err(refuse)?;
            return self.all_files(all, directory, &named);
        }
        let names: Vec<String> = match all.at(&path) {
            Some(list) if list.refused.is_some() => {
                return Err(refuse("a kustomization that can't be read"));
            }
            Some(list) if list.only_lists => {
                self.inputs.insert(list.input.clone());
                list.bases().map(ToOwned::to_owned).collect()
            }
            Some(_) => return Err(refuse(CHANGED)),
            None => return Err(refuse(NOTHING)),
        };
        for name in names {
            let file = below(&path, &name)?;
            let bytes = all.tree.read(&file).map_err(|_| (name.clone(), NOTHING))?;
            self.inputs.insert(file.clone());
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let named = read::plugins(&text).map_err(|what| (name.clone(), what))?;
            self.all_files(all, &path, &named)?;
        }
        Ok(())
    }

    fn all_files(
        &mut self,
        all: &All<'_>,
        directory: &Utf8Path,
        named: &[Named],
    ) -> Result<(), (String, &'static str)> {
        for named in named {
            match named {
                Named::Patch(text) if read::is_inline(text) => {}
                Named::Base(name)
                | Named::File(name)
                | Named::Patch(name)
                | Named::Plugin(name) => {
                    self.file(all, directory, name)?;
                }
            }
        }
        Ok(())
    }
}

/// The path from the root of what a kustomization names.
fn below(directory: &Utf8Path, name: &str) -> Result<Utf8PathBuf, (String, &'static str)> {
    if remote::looks_remote(name) {
        return Err((name.to_owned(), FETCHED));
    }
    normal(&directory.join(name)).ok_or_else(|| (name.to_owned(), OUTSIDE))
}

/// A path as it is reported, and as programs take it.
fn shown(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    match (root.as_str(), path.as_str()) {
        (_, "") => root.to_owned(),
        (".", _) => path.to_owned(),
        _ => root.join(path),
    }
}
