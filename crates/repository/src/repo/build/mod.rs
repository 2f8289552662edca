//! Builds kustomizations: in memory where hcoplan computes what kustomize does, else with kustomize.
//!
//! A build replaces the files that it includes: it is an additional file of its directory, [`BUILT`], which isn't on
//! disk. A [`native`] build runs nothing. Where a kustomization has something that only kustomize computes, kustomize
//! runs in a sandbox ([`run`]); it fetches missing files, runs plugins and reads every path that it gets, so that a
//! kustomization with anything but files below the root ([`remote`]), or a plugin that isn't kustomize's own, is
//! rejected before ([`inputs`]).

mod additions;
mod built;
mod controllers;
mod failed;
mod inputs;
mod kinds;
mod layer_values;
mod layers;
mod native;
mod plugins;
mod post_renderer;
mod remote;
mod run;
mod tops;

use std::mem;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

pub(crate) use self::additions::Additions;
pub use self::built::Built;
pub use self::controllers::build_controllers;
use self::inputs::{BuildInputs, generates_policies, nowhere};
use self::kinds::{changes_kinds, has_inventory, installs, is_policy_generator};
pub use self::layer_values::{LayerValue, layer_values};
pub use self::layers::{BuildLayer, LayerKind};
use self::native::{Accumulated, Refused, accumulate, emitted};
pub(super) use self::native::{DISABLED, split_image, whole};
pub use self::native::{UNKNOWN_HASH, selects};
pub(super) use self::post_renderer::post_render;
pub(super) use self::remote::looks_remote;
pub(super) use self::run::{BuildTarget, run_program};
use self::tops::to_build;

use super::build_failed::name_of;
use super::candidate::is_candidate;
use super::charts::is_chart;
use super::cluster_filter::ClusterFilter;
use super::gitops;
use super::kustomization::{Kustomization, Kustomizations};
use super::mentions::{HCO, has_any};
use super::paths::{file_in, parent, start_of};
use super::scan::{FoundKind, may_name_hyperconverged, scan};
use crate::prelude::*;

/// The name of a build, in the kustomization's directory.
pub const BUILT: &str = "kustomize-build.yaml";

/// What the text of machines, disks and networks has: a kustomization of these alone is built, too.
const MACHINE_WORDS: [&str; 2] = ["kubevirt.io/", "k8s.cni.cncf.io/"];

/// An error that keeps a kustomization or chart from being built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Building is disabled.
    #[error("hcoplan.yaml sets `kustomize: off`, so it is not built")]
    Off,
    /// kustomize refuses to build it.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// A kustomization names something that kustomize must not read.
    #[error("{name} is {what}")]
    Forbidden {
        /// The entry.
        place: Location,
        /// The name.
        name: String,
        /// What the name is instead.
        what: &'static str,
    },
    /// An unreadable kustomization, whose files are unknown.
    #[error("{why}")]
    Unread {
        /// The kustomization, or the part that can't be read.
        place: Location,
        /// The error.
        why: String,
    },
    /// helm isn't installed.
    #[error("helm is not on the PATH")]
    NoHelm,
    /// Neither kustomize nor kubectl is installed, and only they can build this.
    #[error("hcoplan doesn't compute {what}, and neither kustomize nor kubectl is on the PATH")]
    NoProgram {
        /// The first entry that only they can build.
        place: Location,
        /// What it is.
        what: String,
    },
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
    /// Whether the output has to be all that kustomize prints, as it is applied, not only what hcoplan reads.
    pub is_exact: bool,
    /// The largest output of a build, in bytes.
    pub most_bytes: usize,
    /// Returns whether to stop a running build.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Builds the selected kustomizations of a tree that no other one uses and that reach a HyperConverged, or may create
/// one, and what controllers apply with changes. `root` prefixes reported paths; `controllers` has the builds of
/// [`build_controllers`].
///
/// # Errors
/// An error that prevents all builds; a single failed build is part of the result.
pub fn build(
    tree: &dyn Tree,
    root: &Utf8Path,
    request: &BuildRequest<'_>,
    controllers: &Built,
) -> Result<Built, BuildError> {
    let listing = tree.list(&Walk::default())?;
    let view = controllers.over(tree);
    let gitops = gitops::read(&view, &view.list(&Walk::default())?.files);
    let all = Kustomizations::new(tree);
    let mut jobs = Vec::new();
    let mut built = Built::default();
    let mut known = HashMap::new();
    let mut by_directory: HashMap<&Utf8Path, Vec<&Utf8PathBuf>> = HashMap::new();
    for file in &listing.files {
        by_directory.entry(parent(file)).or_default().push(file);
    }
    let beside = |directory: &Utf8Path| by_directory.get(directory).into_iter().flatten().copied();
    // One that leads nowhere is a mistake if a directory next to it, or to what it names, leads to a HyperConverged.
    let mut leading: HashSet<Utf8PathBuf> = HashSet::new();
    // Kustomizations whose resources are unknown, and those of machines alone.
    let (mut unknown, mut others) = (Vec::new(), Vec::new());
    for (directory, output, additions) in to_build(&all, &listing.files, &gitops) {
        let mut job = BuildJob::new(&all, &directory, output, additions, request.fetches);
        let around = job.reached.directories.iter().filter(|_| !job.sources.is_empty());
        leading.extend(around.map(|directory| parent(directory).to_owned()));
        let is_within = |w: &Utf8Path| job.output.starts_with(w) || job.reached.inputs.iter().any(|i| i.starts_with(w));
        if request.within.is_some_and(|w| !is_within(w)) {
            if !job.sources.is_empty() {
                built.leave(job);
            } else if job.reads_machines(tree) {
                others.push(job);
            }
            continue;
        }
        let is_stray = |file: &Utf8PathBuf| tree.mentions(file, &[HCO]) && has_hyperconverged(tree, file);
        let mut named = nowhere(&job.allowed).into_iter().flatten().chain([job.directory.clone()]);
        job.has_stray = job.sources.is_empty() && named.any(|directory| beside(&directory).any(is_stray));
        if !job.sources.is_empty() || job.has_stray || job.may_create_hyperconverged(tree, &mut known) {
            jobs.push(job);
        } else if job.allowed.is_ok() && job.reads_machines(tree) {
            others.push(job);
        } else if (job.allowed.is_err() || job.reached.is_remote) && !generates_policies(&job.allowed) {
            unknown.push(job);
        }
    }
    // An inventory above clusters belongs to them.
    let known = jobs.iter().flat_map(|j| j.directory.ancestors());
    let above_clusters: HashSet<_> = known.map(Utf8Path::to_path_buf).collect();
    for mut job in unknown {
        job.has_inventory = !above_clusters.contains(&job.directory) && has_inventory(tree, beside(&job.directory));
        // What is missing below it may be generated, as may a file.
        let named = nowhere(&job.allowed).filter(|[_, path]| !is_candidate(path) && !path.starts_with(&job.directory));
        job.has_stray =
            named.is_some_and(|[_, path]| [&job.directory, &path].iter().any(|at| leading.contains(parent(at))));
        job.installs = job.reached.resources.iter().any(|file| installs(tree, file));
        if job.has_inventory || job.has_stray || job.installs {
            jobs.push(job);
        }
    }
    jobs.sort_by(|a, b| a.output.cmp(&b.output));
    let is_selected = |job: &BuildJob| request.chosen.has(&name_of(tree, &job.output));
    let (jobs, unselected): (Vec<_>, Vec<_>) = jobs.into_iter().partition(is_selected);
    for job in unselected.into_iter().filter(|job| !job.sources.is_empty() || job.has_inventory) {
        built.unselected.insert(job.output.clone());
        built.leave(job);
    }
    let start = |job: BuildJob| {
        if request.is_off {
            return (job, Started::Done(Err(BuildError::Off)));
        }
        job.start(&all, request.is_exact, request.fetches)
    };
    let native: Vec<_> = jobs.into_iter().chain(others).map(start).collect();
    // Most of the time is waiting for kustomize.
    let run = |(mut job, started): (BuildJob, Started)| {
        let done = job.finish(started, tree, root, request.most_bytes, request.stop);
        (job, done)
    };
    let done: Vec<_> = native.into_par_iter().map(run).collect();
    for (job, run) in done {
        built.add_result(tree, root, job, run)?;
    }
    Ok(built)
}

/// Builds the kustomization of one directory, even if another one uses it, with its text; `None` if the directory has none.
/// `printed`: output that was printed elsewhere, so that nothing is run.
///
/// # Errors
/// An error that prevents all builds; a single failed build is part of the result.
pub fn build_one(
    tree: &dyn Tree,
    root: &Utf8Path,
    directory: &Utf8Path,
    printed: Option<Vec<u8>>,
    most_bytes: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<(Built, Vec<u8>)>, BuildError> {
    let all = Kustomizations::new(tree);
    if all.at(directory).is_none() && printed.is_none() {
        return Ok(None);
    }
    let job = BuildJob::new(&all, directory, directory.to_owned(), Additions::default(), false);
    let (mut job, started) = job.start(&all, true, false);
    let run = match printed {
        Some(bytes) => {
            let here = match started {
                Started::Done(Ok(done)) => done.accumulated,
                Started::Program(accumulated) => accumulated,
                Started::Done(Err(_)) => Accumulated::default(),
            };
            job.allowed = Ok(());
            Ok(job.of_program(&here, "standard input".to_owned(), bytes))
        }
        None => job.finish(started, tree, root, most_bytes, stop),
    };
    let mut built = Built::default();
    let text = run.as_ref().map(|done| done.bytes.clone()).unwrap_or_default();
    built.add_result(tree, root, job, run)?;
    Ok(Some((built, text)))
}

/// The files with a HyperConverged that a directory's kustomization uses; `None` where it uses something outside of the
/// tree.
pub fn hyperconvergeds_of(tree: &dyn Tree, directory: &Utf8Path) -> Option<Vec<Utf8PathBuf>> {
    let all = Kustomizations::new(tree);
    let own = all.at(directory);
    let mut names = own.iter().flat_map(|own| &own.entries).flat_map(|entry| entry.files());
    let leaves = |name: &str| !all.is_remote(directory, name) && file_in(directory, name).is_none();
    (!names.any(leaves)).then_some(())?;
    let job = BuildJob::new(&all, directory, directory.to_owned(), Additions::default(), false);
    Some(job.sources)
}

/// Whether kustomizations refer into or out of a directory or file of a tree, such as an overlay to its base.
pub fn has_outside_references(tree: &dyn Tree, below: &Utf8Path) -> bool {
    let references = Kustomizations::new(tree).references();
    references.iter().any(|(by, named)| named.starts_with(below) != by.starts_with(below))
}

/// A kustomization to build.
struct BuildJob {
    directory: Utf8PathBuf,
    /// The directory that names the cluster.
    output: Utf8PathBuf,
    additions: Additions,
    /// Its kustomization's first line.
    whole: Location,
    /// Its resource files with a HyperConverged.
    sources: Vec<Utf8PathBuf>,
    reached: BuildInputs,
    /// The error if kustomize must not build it.
    allowed: Result<(), BuildError>,
    /// The kustomization with the additions, if kustomize has to read another one than that in the directory.
    written: Option<(Utf8PathBuf, Vec<u8>)>,
    /// Whether an inventory is next to it, which marks it as a cluster.
    has_inventory: bool,
    /// Whether all charts that it inflates are in the repository, so that helm renders them.
    has_local_charts: bool,
    /// Whether it installs HCO, so that what it fetches may have the HyperConverged.
    installs: bool,
    /// Whether a HyperConverged is next to it, or where it leads to, that it doesn't name: then a mistake in it is
    /// reported.
    has_stray: bool,
}

/// A build that is done in memory, or what only kustomize can finish.
enum Started {
    Done(Result<Done, BuildError>),
    Program(Accumulated),
}

/// A finished build.
struct Done {
    /// What built it, as typed in a shell; `None` for a build in memory.
    command: Option<String>,
    bytes: Vec<u8>,
    /// The printed objects, and what they were made of.
    accumulated: Accumulated,
}

impl BuildJob {
    fn new(
        all: &Kustomizations<'_>,
        directory: &Utf8Path,
        output: Utf8PathBuf,
        additions: Additions,
        fetches: bool,
    ) -> Self {
        let mut reached = BuildInputs::default();
        let allowed = reached.follow(all, directory, &additions, fetches);
        let resources = reached.resources.iter();
        let sources = resources.filter(|f| has_hyperconverged(all.tree, f)).cloned().collect();
        let own = all.at(directory);
        let generated = || additions.generates.as_ref().map(|(document, span)| document.location(*span));
        let whole = own.as_deref().map(Kustomization::first_line).or_else(generated);
        Self {
            directory: directory.to_owned(),
            output,
            whole: whole.unwrap_or_else(|| start_of(&directory.join("kustomization.yaml"))),
            written: additions.written(own.as_deref(), directory),
            additions,
            sources,
            reached,
            allowed,
            has_inventory: false,
            has_local_charts: own.iter().flat_map(|own| own.local_charts()).all(|(_, path)| is_chart(all.tree, &path)),
            installs: false,
            has_stray: false,
        }
    }

    /// Builds it in memory as far as hcoplan computes it; `is_exact` and `fetches` as in a [`BuildRequest`].
    fn start(self, all: &Kustomizations<'_>, is_exact: bool, fetches: bool) -> (Self, Started) {
        let mut accumulated = match accumulate(all, &self.directory, &self.additions) {
            Ok(accumulated) => accumulated,
            Err(refused) => return (self, Started::Done(Err(BuildError::Refused(Box::new(refused))))),
        };
        let is_native = accumulated.beyond.is_empty()
            && (accumulated.unfetched.is_empty() || !fetches && !is_exact)
            && (accumulated.is_exact || !is_exact);
        if !is_native {
            return (self, Started::Program(accumulated));
        }
        self.additions.finish(&mut accumulated.objects);
        let bytes = emitted(&accumulated.objects);
        let done = Done { command: None, bytes, accumulated };
        (self, Started::Done(Ok(done)))
    }

    /// Has kustomize build what hcoplan doesn't compute.
    fn finish(
        &mut self,
        started: Started,
        tree: &dyn Tree,
        root: &Utf8Path,
        most_bytes: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Done, BuildError> {
        let accumulated = match started {
            Started::Done(done) => return done,
            Started::Program(accumulated) => accumulated,
        };
        mem::replace(&mut self.allowed, Ok(()))?;
        let (reached, mut inputs) = (&self.reached, self.reached.inputs.clone());
        inputs.extend(self.written.iter().map(|(path, _)| path.clone()));
        let tree = EditedTree::new(tree, self.written.iter().cloned().collect());
        let place = BuildTarget {
            tree: &tree,
            root,
            directory: &self.directory,
            inputs: &inputs,
            links: &reached.links,
            network: reached.is_remote,
        };
        match run::run(&place, self.additions.is_unrestricted, most_bytes, stop) {
            Some(run) => run.map(|(command, bytes)| self.of_program(&accumulated, command, bytes)),
            None => {
                let first = accumulated.beyond.first().map(|beyond| (beyond.place.clone(), beyond.what.to_string()));
                let (place, what) = first.unwrap_or_else(|| (self.whole.clone(), "all that this builds".to_owned()));
                Err(BuildError::NoProgram { place, what })
            }
        }
    }

    /// What a program printed, with the places of what is built here.
    fn of_program(&self, here: &Accumulated, command: String, bytes: Vec<u8>) -> Done {
        let file = SourceFile::from_bytes(self.output.join(BUILT), bytes.clone());
        let printed = yaml::parse_yaml(&file).documents;
        let mut objects = native::placed(&printed, &here.objects, &self.whole, &here.beyond);
        let is_changed = self.additions.variables.is_some() || self.additions.common.is_some();
        self.additions.finish(&mut objects);
        let bytes = if is_changed { emitted(&objects) } else { bytes };
        let accumulated = Accumulated { objects, layers: here.layers.clone(), ..Accumulated::default() };
        Done { command: Some(command), bytes, accumulated }
    }

    /// Whether one of its files mentions a HyperConverged, such as a patch or component, or can change an object's
    /// kind: then only the build shows the result. `known` caches the answers about files. Objects of a PolicyGenerator
    /// are examined in their own files.
    fn may_create_hyperconverged(&self, tree: &dyn Tree, known: &mut HashMap<Utf8PathBuf, bool>) -> bool {
        let added = || {
            self.additions.entries.iter().any(|entry| may_name_hyperconverged(entry.document.file.text().as_bytes()))
        };
        added()
            || self.reached.inputs.iter().any(|input| {
                let may = || {
                    tree.read(input).is_ok_and(|bytes| {
                        may_name_hyperconverged(&bytes) && !is_policy_generator(input, &bytes)
                            || changes_kinds(input, bytes)
                    })
                };
                *known.entry(input.clone()).or_insert_with(may)
            })
    }

    /// Whether one of its resources is an object of KubeVirt's or CDI's, or a network.
    fn reads_machines(&self, tree: &dyn Tree) -> bool {
        self.reached.resources.iter().any(|file| tree.read(file).is_ok_and(|bytes| has_any(&bytes, &MACHINE_WORDS)))
    }

    /// Whether one of its files contains HCO's kind or group.
    fn names_hyperconverged(&self, tree: &dyn Tree) -> bool {
        let mut inputs = self.reached.inputs.iter();
        inputs.any(|input| tree.read(input).is_ok_and(|bytes| has_any(&bytes, &["HyperConverged", HCO])))
    }
}

/// Whether a file has a HyperConverged, or mentions one if it can't be parsed as YAML.
fn has_hyperconverged(tree: &dyn Tree, path: &Utf8Path) -> bool {
    if tree.read(path).is_ok_and(|bytes| !may_name_hyperconverged(&bytes)) {
        return false;
    }
    let scanned = scan(tree, path);
    scanned.has(FoundKind::HyperConverged)
        || scanned.content.is_none_or(|content| content.is_broken()) && tree.mentions(path, &[HCO])
}

/// A path below the reported root.
fn shown(root: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    match (root.as_str(), path.as_str()) {
        (_, "") => root.to_owned(),
        (".", _) => path.to_owned(),
        _ => root.join(path),
    }
}
