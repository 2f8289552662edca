//! A repository: its clusters, and everything that is needed to plan one.
//!
//! [`Repo::open`] examines every file once, in parallel, and keeps paths and few details; [`Repo::load`] reads one
//! cluster. So a fleet needs constant memory, and files without relation to HCO cost little more than reading them.
//! Files come from a directory, a git revision or standard input.

mod applied_changes;
mod appliers;
mod build;
mod build_failed;
mod candidate;
mod charts;
mod choose_release;
mod cluster_filter;
mod companions;
mod config;
mod destinations;
mod dump;
mod duplicate_key;
mod error;
mod escapes;
mod fields;
mod file_summary;
mod files;
mod folded_paths;
mod gitops;
mod helm;
mod identity;
mod ignored;
mod kustomization;
mod layers;
mod left;
mod listed;
mod load;
mod mentions;
mod named_file;
mod no_cluster;
mod nodes;
mod objects;
mod one_build;
mod open;
mod other_objects;
mod owners;
mod pair;
mod path_in_tree;
pub(crate) mod paths;
mod problem;
mod recent_files;
mod removed;
mod rendered;
mod scan;
mod statements;
#[cfg(test)]
mod tests;
mod texts;
mod trust;
mod unchanged;
mod unplanned;
mod unplanned_changes;
mod unread;
mod unrecognized;
mod variables;
mod wrapper_changes;
mod wrappers;

use crate::prelude::*;
use charts::is_chart;
use paths::{files_of, parent};

pub use applied_changes::applied_changes;
pub use appliers::{AppliedBy, Appliers, has_facts_above, is_applied_from_top};
pub use build::{
    BUILT, BuildError, BuildLayer, BuildRequest, Built, LayerKind, LayerValue, UNKNOWN_HASH, build, build_controllers,
    build_one, has_outside_references, hyperconvergeds_of, layer_values, selects,
};
pub use build_failed::FailedBuild;
pub use candidate::is_candidate;
pub(crate) use choose_release::nearest_release;
pub use choose_release::{UnknownRelease, known_release, not_modelled, release_name};
pub use cluster_filter::ClusterFilter;
pub use config::{CONFIG_FILE, CONFIG_SCHEMA, ClusterEntry, Config, LintConfig, RuleConfig, SuppressConfig};
pub use dump::{Dump, Fact};
pub use error::{Error, Located};
pub use files::{FileRole, FileUse};
pub use gitops::Controller;
pub use helm::{RENDERED, render_charts};
pub use identity::{FactOrigin, Identity, SYNC_OPTIONS, WithSource, has_sync_option};
pub use ignored::IgnoredField;
pub use kustomization::{has_kustomization, is_kustomization};
pub use layers::{Layer, annotation_layers};
pub use left::removes_workloads;
pub use load::{Loaded, ReleaseBasis, identity_in};
pub use named_file::read_named;
pub use objects::{ClusterRef, Pairing};
pub use other_objects::OtherObjects;
pub use owners::directories_of_clusters;
pub use path_in_tree::check_links;
pub use paths::typed_parent;
pub use problem::Problem;
pub use removed::{removed, removed_finding};
pub use rendered::Rendered;
pub use scan::ObjectPlace;
pub use statements::{HCO_PACKAGES, StatementKind};
pub use trust::{Trust, TrustBase};
pub(crate) use unplanned::unplanned;
pub use unplanned_changes::{ChangedFiles, changes_of_users, unplanned_changes};

use hcoplan_diagnostics::source::{self, ReadOnce, Tracked};

/// The rules whose findings report a HyperConverged that isn't planned.
const UNPLANNED: &[&str] = &[HCO_NOT_PLANNED.name, HCO_NOT_RECOGNIZED.name, HELM_CHART_NOT_RENDERED.name];

/// Which programs build parts of a repository before it is examined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Builds {
    /// Whether building kustomizations is disabled.
    pub is_kustomize_off: bool,
    /// Whether kustomize may fetch remote resources.
    pub remote: bool,
    /// Whether helm renders charts.
    pub helm: bool,
}

/// A directory whose files are read once.
pub type OpenDirectory = Arc<ReadOnce<Tracked<Directory>>>;

/// The command line's options for reading.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The release of every cluster, overriding the files; see [`known_release`].
    pub release: Option<Arc<Release>>,
    /// How every existing HyperConverged is updated, overriding the files.
    pub update: Option<UpdateMethod>,
    /// The inventory of every cluster, overriding the files; relative to the current directory.
    pub inventory: Vec<Utf8PathBuf>,
    /// The trust source of configuration and suppressions.
    pub trust: Trust,
    /// The configuration, instead of the `hcoplan.yaml` at the root.
    pub config: Option<Arc<SourceFile>>,
    /// Files that aren't sources even if below the root, relative to the current directory.
    pub left_out: Vec<Utf8PathBuf>,
    /// Whether the directory has only files that git tracks, so that those in `.gitignore` are read too.
    pub checkout: bool,
    /// The largest total size of searched files, in bytes; `None`: the default.
    pub max_total: Option<u64>,
    /// The programs that build parts of the repository.
    pub builds: Builds,
    /// The results of builds, which replace their source files.
    pub built: Option<Arc<Built>>,
    /// The selected directory or file, relative to the root; `None`: all.
    pub within: Option<Utf8PathBuf>,
    /// The selected clusters, which kustomize builds.
    pub chosen: ClusterFilter,
    /// Files with another content than on disk, such as after fixes or in an editor, by their path relative to the
    /// root.
    pub edited: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// The only directory whose entries in the configuration count.
    pub part: Option<Utf8PathBuf>,
    /// Whether to read only the directory's own files, without subdirectories.
    pub shallow: bool,
    /// The directory, if it is open already.
    pub directory: Option<OpenDirectory>,
}

impl Options {
    /// The directory, opened once.
    ///
    /// # Errors
    /// It can't be read.
    pub fn directory(&mut self, root: &Utf8Path) -> Result<OpenDirectory, source::Error> {
        match &self.directory {
            Some(open) => Ok(Arc::clone(open)),
            None => Ok(Arc::clone(self.directory.insert(Arc::new(ReadOnce::new(self.open(root)?))))),
        }
    }

    /// A directory of which only tracked files are read where a revision is trusted.
    fn open(&self, root: &Utf8Path) -> Result<Tracked<Directory>, source::Error> {
        let directory = Directory::open(root, max_bytes())?;
        let is_all = self.trust.base().is_none();
        Ok(if is_all { Tracked::all(directory) } else { Tracked::of(directory, |_| false) })
    }

    /// The directory as builds see it: in CI without files that git doesn't track, which may hold a token.
    ///
    /// # Errors
    /// It can't be read.
    pub fn directory_to_build(&mut self, root: &Utf8Path) -> Result<Tracked<OpenDirectory>, source::Error> {
        let directory = self.directory(root)?;
        let is_ci = std::env::var("CI").is_ok_and(|ci| ["1", "true"].contains(&&*ci));
        Ok(if is_ci { Tracked::of(directory, is_kustomization) } else { Tracked::all(directory) })
    }
}

/// An examined repository.
pub struct Repo {
    tree: Arc<dyn Tree>,
    config: Config,
    /// Relevant files; indexes refer to them.
    paths: Vec<Arc<Utf8Path>>,
    files: Vec<FileUse>,
    /// Dockerfiles, Makefiles and scripts, sorted.
    texts: Vec<Utf8PathBuf>,
    /// hcoplan's output trees, sorted.
    output_trees: Vec<Utf8PathBuf>,
    problems: Vec<Problem>,
    findings: Vec<Finding>,
    clusters: Vec<ClusterRef>,
    /// What tasks change of HyperConvergeds.
    patches: Vec<Arc<Document>>,
    /// Whose the files outside of clusters' directories are.
    owners: owners::Owners,
    release: Option<Arc<Release>>,
    update: Option<UpdateMethod>,
    /// Inventories that several clusters share, read once.
    shared: Vec<OnceLock<load::InventoryRead>>,
    /// Inventories of the command line outside the root, by their index.
    given: HashMap<u32, Arc<scan::Content>>,
    /// The results of builds.
    built: Arc<Built>,
    recent: recent_files::RecentFiles,
    /// The controllers' objects, read at their first use.
    gitops: OnceLock<gitops::GitOps>,
    /// What the controllers' objects in charts' templates apply, read at its first use.
    applied: OnceLock<gitops::GitOps>,
    /// The controllers' objects in charts' templates, read at their first use.
    in_charts: OnceLock<Vec<Arc<Document>>>,
    /// What kustomizations build on, read at its first use.
    built_on: OnceLock<BTreeSet<Utf8PathBuf>>,
}

/// A cluster that is built from a file, with the origins of its values.
pub type FileUser = (ClusterName, Option<Arc<Origins>>);

/// Whether two documents are the same one of a file.
fn is_same_document(one: &Document, other: &Document) -> bool {
    one.file.path() == other.file.path() && one.span == other.span
}

impl fmt::Debug for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repo({} clusters)", self.clusters.len())
    }
}

impl Repo {
    /// The clusters, sorted by name.
    pub fn clusters(&self) -> &[ClusterRef] {
        &self.clusters
    }

    /// Whether it is a stream of documents, [`Repo::from_stream`].
    pub fn is_stream(&self) -> bool {
        matches!(self.files.as_slice(), [only] if *only.path == *open::STREAM)
    }

    /// Whether a cluster is in a directory or file, or is built from anything in it.
    pub fn is_within(&self, cluster: &ClusterRef, directory: &Utf8Path) -> bool {
        let mut inputs = self.inputs_of(cluster.path()).into_iter().flatten();
        cluster.path().starts_with(directory) || inputs.any(|i| i.starts_with(directory))
    }

    /// The files of which a file was built; `None` if it wasn't.
    fn inputs_of(&self, path: &Utf8Path) -> Option<&BTreeSet<Utf8PathBuf>> {
        self.built.inputs.get(path)
    }

    /// The files of which a failed build would have been made.
    fn inputs_of_failed(&self, failed: &FailedBuild) -> impl Iterator<Item = &Utf8PathBuf> {
        self.built.unbuilt.get(&failed.directory).into_iter().flatten()
    }

    /// The clusters that are built from each file, sorted, with the origins of their values; `None` for clusters that
    /// weren't built.
    pub fn users_of_files(&self) -> BTreeMap<Utf8PathBuf, Vec<FileUser>> {
        let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let built = self.clusters.iter().filter_map(|cluster| {
            let origins = self.built.origins.get(cluster.path())?;
            Some(((cluster.name().clone(), Some(Arc::clone(origins))), self.inputs_of(cluster.path())?))
        });
        let unbuilt = self.built.unbuilt.iter().map(|(directory, inputs)| ((self.name_of(directory), None), inputs));
        for (user, inputs) in built.chain(unbuilt) {
            inputs.iter().for_each(|input| out.entry(input.clone()).or_default().push(user.clone()));
        }
        out
    }

    /// The layers of a built file, in kustomize's order; `None` if kustomize didn't build it.
    pub fn build_layers(&self, path: &Utf8Path) -> Option<&[BuildLayer]> {
        self.built.layers.get(path).map(Vec::as_slice)
    }

    /// The controllers' objects.
    fn gitops(&self) -> &gitops::GitOps {
        self.gitops.get_or_init(|| {
            let mut files = files_of(&*self.tree);
            files.retain(|file| !self.built.reached.contains(file) && !self.built.unapplied.contains(file));
            gitops::read(&*self.tree, &files)
        })
    }

    /// Whether the build of another directory reads files of this one.
    pub fn is_part_of_build(&self, directory: &Utf8Path) -> bool {
        let mut others =
            self.built.inputs.iter().filter(|(output, _)| parent(output) != directory).flat_map(|(_, inputs)| inputs);
        others.any(|input| parent(input) == directory)
    }

    /// Whether anything of it was built.
    pub fn is_built(&self) -> bool {
        !self.built.files.is_empty()
    }

    /// The builds that failed.
    pub fn failed_builds(&self) -> &[FailedBuild] {
        &self.built.failed
    }

    /// The name of a directory's cluster.
    fn name_of(&self, directory: &Utf8Path) -> ClusterName {
        build_failed::name_of(&*self.tree, directory)
    }

    /// The names of clusters that weren't selected, so that kustomize didn't build them; sorted.
    pub fn skipped_builds(&self) -> impl Iterator<Item = ClusterName> + Clone {
        self.built.unselected.iter().map(|directory| self.name_of(directory))
    }

    /// The names of clusters whose build failed or wasn't made, with the findings; with a directory only those with
    /// sources in it.
    pub fn unbuilt(&self, below: Option<&Utf8Path>) -> Vec<(ClusterName, &Finding)> {
        let is_meant = |f: &&FailedBuild| {
            let is_below = |b| f.directory.starts_with(b) || self.inputs_of_failed(f).any(|input| input.starts_with(b));
            below.is_none_or(is_below)
        };
        let failed = self.failed_builds().iter().filter(is_meant);
        failed.map(|f| (self.name_of(&f.directory), &f.finding)).collect()
    }

    /// The names of clusters that can't be planned, with the reasons: their files can't be parsed, or they aren't
    /// built.
    pub fn not_planned(&self) -> Vec<(ClusterName, &Finding)> {
        let fatal = self.problems.iter().filter(|p| p.fatal).map(|p| &p.finding);
        let files = fatal.filter_map(|finding| {
            let path = finding.file()?;
            let name = finding.cluster.clone();
            Some((name.unwrap_or_else(|| self.name_of(parent(path))), finding))
        });
        let mut out = self.unbuilt(None);
        for (name, finding) in files {
            if !out.iter().any(|(known, _)| *known == name) {
                out.push((name, finding));
            }
        }
        out
    }

    /// Why a cluster of another revision is missing here, if its file can't be parsed, or its build failed or wasn't
    /// made.
    pub fn not_built_here(&self, cluster: &ClusterRef) -> Option<&Finding> {
        let mut problems = self.problems.iter().filter(|p| p.fatal).map(|p| &p.finding);
        let is_here = |f: &&Finding| f.file() == Some(cluster.path());
        if let Some(finding) = problems.find(is_here) {
            return Some(finding);
        }
        let name = self.name_of(cluster.directory());
        let uses_it = |failed: &&FailedBuild| {
            let mut inputs = self.inputs_of_failed(failed);
            self.name_of(&failed.directory) == name || inputs.any(|input| parent(input) == cluster.directory())
        };
        let failed = self.failed_builds().iter().find(uses_it).map(|failed| &failed.finding);
        let is_in_chart = |f: &&Finding| {
            let is_in = f.file().is_some_and(|file| file.starts_with(cluster.directory()));
            f.rule.name == HELM_CHART_NOT_RENDERED.name && is_in && is_chart(&*self.tree, cluster.directory())
        };
        failed.or_else(|| self.findings.iter().find(is_in_chart))
    }

    /// The configuration; all defaults without `hcoplan.yaml`.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// hcoplan's output trees that git doesn't ignore; sorted.
    pub fn output_trees(&self) -> &[Utf8PathBuf] {
        &self.output_trees
    }

    /// Files that could not be read, sorted by path.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Findings about the repository as a whole: duplicate names, operators without a HyperConverged.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// These, and those about unreadable files.
    pub fn all_findings(&self) -> Vec<Finding> {
        self.problems.iter().map(|p| &p.finding).chain(&self.findings).cloned().collect()
    }

    /// The findings about a HyperConverged that isn't planned, or an object that was meant to be one; with a directory
    /// only those in it.
    pub fn unplanned(&self, below: Option<&Utf8Path>) -> impl Iterator<Item = &Finding> {
        let is_below =
            move |f: &&Finding| below.is_none_or(|below| f.file().is_some_and(|path| path.starts_with(below)));
        let unplanned = self.findings.iter().filter(|f| UNPLANNED.contains(&f.rule.name));
        unplanned.filter(is_below)
    }

    /// The content of a file, relative to the root.
    pub fn read(&self, path: &Utf8Path) -> Option<Vec<u8>> {
        self.tree.read(path).ok()
    }

    /// Every YAML and JSON file, and every skipped one, with its use; sorted by path, without files that git ignores.
    pub fn files(&self) -> &[FileUse] {
        &self.files
    }
}
