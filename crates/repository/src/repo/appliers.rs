//! Finds what applies or renders directories of the repository as they are: hcoplan's own files must not be put there.

use std::collections::BTreeSet;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};
use hcoplan_diagnostics::source::{SourceFile, last_part, normalize_path};
use hcoplan_yaml::{self as yaml, Document, Node};

use super::Repo;
use super::files::FileRole;
use super::kustomization::is_kustomization;
use super::listed;
use super::objects::ClusterRef;
use super::parent;
use super::scan::contains_any;

/// The API groups of the known controllers; a file without any of them isn't parsed.
pub(super) const GROUPS: [&str; 5] = [
    "argoproj.io",
    "toolkit.fluxcd.io",
    "apps.open-cluster-management.io",
    "policy.open-cluster-management.io",
    "fleet.cattle.io",
];

/// The directories of an Ansible role.
const ROLE_DIRECTORIES: [&str; 7] = ["defaults", "files", "handlers", "meta", "tasks", "templates", "vars"];

/// The controllers, charts and generators that apply or render directories of a repository.
#[derive(Debug, Default)]
pub struct Appliers {
    appliers: Vec<Applier>,
    readers: Vec<FileReader>,
    /// Directories with a kustomization, which builds only what it names.
    kustomizations: BTreeSet<Utf8PathBuf>,
    /// Directories with a `Chart.yaml`.
    charts: BTreeSet<Utf8PathBuf>,
    /// The repository's name, if known. An object that reads a repository with another name applies nothing here. Only
    /// the last part of addresses is compared, as a repository has several.
    repository: Option<String>,
    /// The names and addresses of Flux's GitRepositories; several clusters may have one of the same name.
    git_repositories: Vec<(String, String)>,
}

/// What applies or renders a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliedBy<'a> {
    /// A controller's object, `the Application prod in argocd/prod.yaml`.
    Controller(&'a str, Controller),
    /// The Helm chart of this directory renders it.
    Chart(&'a Utf8Path),
    /// It belongs to the role of Ansible in this directory.
    Role(&'a Utf8Path),
}

/// A controller that reads directories of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Controller {
    /// Applications and ApplicationSets.
    ArgoCd,
    /// Kustomizations.
    Flux,
    /// Subscriptions and policy generators of Advanced Cluster Management.
    Acm,
    /// GitRepos of Rancher's Fleet.
    Fleet,
}

impl Controller {
    /// All known controllers.
    pub const ALL: [Self; 4] = [Self::ArgoCd, Self::Flux, Self::Acm, Self::Fleet];

    /// The controller's ignore file, in the syntax of `.gitignore`. Argo CD has none, and skips files without a
    /// Kubernetes object.
    pub const fn ignore_file(self) -> Option<&'static str> {
        match self {
            Self::ArgoCd => None,
            Self::Flux => Some(".sourceignore"),
            Self::Acm => Some(".kubernetesignore"),
            Self::Fleet => Some(".fleetignore"),
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ArgoCd => "Argo CD",
            Self::Flux => "Flux",
            Self::Acm => "Advanced Cluster Management",
            Self::Fleet => "Fleet",
        })
    }
}

impl fmt::Display for AppliedBy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Controller(what, _) => write!(f, "{what} applies it"),
            Self::Chart(chart) => write!(f, "the Helm chart in {} renders it", dotted(chart)),
            Self::Role(role) => write!(f, "it belongs to the Ansible role {role}"),
        }
    }
}

#[derive(Debug)]
struct Applier {
    what: String,
    controller: Controller,
    /// The directories, relative to the root; the root itself is `.`.
    directories: GlobMatcher,
    /// Whether everything below them is applied.
    deep: bool,
    /// The applied files below a directory, by their paths relative to it; `None`: all.
    only: Option<GlobMatcher>,
    /// Files excepted from these.
    except: Option<GlobMatcher>,
    /// Directories that a generator excludes.
    excluded: Vec<GlobMatcher>,
    /// Whether it deletes objects that are removed from the repository.
    prunes: bool,
}

impl Applier {
    /// Whether files of `directory`, which is `above` or below it, are excluded.
    fn excludes(&self, above: &Utf8Path, directory: &Utf8Path) -> bool {
        let file = directory.strip_prefix(above).unwrap_or(directory);
        let file = file.join("a.yaml");
        self.only.as_ref().is_some_and(|only| !only.is_match(&file))
            || self.except.as_ref().is_some_and(|e| e.is_match(&file))
            || self.excluded.iter().any(|l| l.is_match(dotted(above)))
    }
}

/// An ApplicationSet whose generator reads certain files.
#[derive(Debug)]
struct FileReader {
    what: String,
    files: GlobMatcher,
}

impl Repo {
    /// Finds what applies or renders directories of the repository, according to its files. Reads every examined file
    /// again. `repository` is its name, `clusters` of `git@example.com:team/clusters.git`; without it each object is
    /// assumed to be about this repository.
    pub fn appliers(&self, repository: Option<String>) -> Appliers {
        let mut out = Appliers { repository, ..Appliers::default() };
        for used in &self.files {
            let directory = parent(&used.path);
            if is_kustomization(&used.path) {
                out.kustomizations.insert(directory.to_owned());
            }
            if used.path.file_name() == Some("Chart.yaml") {
                out.charts.insert(directory.to_owned());
            }
        }
        self.each_of_controllers(|document| out.add_git_repository(document));
        self.each_of_controllers(|document| out.add_document(document));
        out
    }

    /// The controller that deletes a cluster's HyperConverged once it is removed from the repository, according to its
    /// files.
    pub fn pruner_of(&self, cluster: &ClusterRef) -> Option<String> {
        let appliers = self.appliers.get_or_init(|| self.appliers(None));
        appliers.pruner_of(cluster.directory()).map(str::to_owned)
    }

    /// Visits each object of the files that name a controller's API group.
    pub(super) fn each_of_controllers(&self, mut visit: impl FnMut(&Document)) {
        let read = self.files.iter().filter(|f| !matches!(f.what, FileRole::Skipped(_)));
        for used in read {
            let Ok(bytes) = self.tree.read(&used.path) else {
                continue;
            };
            let file = SourceFile::from_bytes(&*used.path, bytes);
            if !contains_any(file.text(), &GROUPS) {
                continue;
            }
            for document in yaml::parse(&file).documents {
                if listed::is_list(&document.root) {
                    listed::objects(&document.root).iter().for_each(|object| visit(&object.as_document(&document)));
                } else {
                    visit(&document);
                }
            }
        }
    }
}

impl Appliers {
    /// What applies a directory; `None` if nothing is known to.
    pub fn of<'a>(&'a self, directory: &'a Utf8Path) -> Option<AppliedBy<'a>> {
        if let Some(chart) = self.chart_of(directory) {
            return Some(AppliedBy::Chart(chart));
        }
        if let Some(role) = role(directory) {
            return Some(AppliedBy::Role(role));
        }
        let by = self.appliers.iter().find(|a| self.applies(a, directory));
        by.map(|a| AppliedBy::Controller(&a.what, a.controller))
    }

    /// The controller that deletes an object once it is removed from a directory, such as `the Application prod in
    /// argocd/prod.yaml`.
    pub fn pruner_of(&self, directory: &Utf8Path) -> Option<&str> {
        let prunes = |applier: &&Applier| {
            applier.prunes
                && directory.ancestors().any(|above| {
                    let is_below = above == directory || applier.deep || self.is_kustomization(above);
                    is_below && applier.directories.is_match(dotted(above)) && !applier.excludes(above, directory)
                })
        };
        self.appliers.iter().find(prunes).map(|a| a.what.as_str())
    }

    /// The ApplicationSet whose generator creates an Application from this file, such as `the ApplicationSet all in
    /// apps/all.yaml`.
    pub fn reader_of(&self, file: &Utf8Path) -> Option<&str> {
        let mut readers = self.readers.iter();
        let reader = readers.find(|r| r.files.is_match(file))?;
        Some(&reader.what)
    }

    /// Whether a directory has a kustomization, so that only what it names is applied.
    pub fn is_kustomization(&self, directory: &Utf8Path) -> bool {
        self.kustomizations.contains(directory)
    }

    /// The controllers with objects in the repository.
    pub fn controllers(&self) -> BTreeSet<Controller> {
        self.appliers.iter().map(|a| a.controller).collect()
    }

    fn applies(&self, applier: &Applier, directory: &Utf8Path) -> bool {
        let levels = if applier.deep { usize::MAX } else { 1 };
        let mut built = false;
        for above in directory.ancestors().take(levels) {
            let is_kustomization = self.is_kustomization(above);
            // Flux builds a kustomization below its path; the others only one at their own path.
            built |= is_kustomization && applier.controller == Controller::Flux;
            if applier.directories.is_match(dotted(above)) && !applier.excludes(above, directory) {
                return !built && !is_kustomization && !self.charts.contains(above);
            }
        }
        false
    }

    /// The chart whose templates are in a directory.
    fn chart_of<'a>(&self, directory: &'a Utf8Path) -> Option<&'a Utf8Path> {
        directory.ancestors().find_map(|part| {
            let chart = part.parent()?;
            let rendered = matches!(part.file_name()?, "templates" | "crds");
            (rendered && self.charts.contains(chart)).then_some(chart)
        })
    }

    fn add_git_repository(&mut self, document: &Document) {
        let root = &document.root;
        let is_flux = text(root, "apiVersion").is_some_and(|v| v.starts_with("source.toolkit.fluxcd.io/"));
        if is_flux
            && text(root, "kind") == Some("GitRepository")
            && let Some(name) = text(root, "metadata.name")
            && let Some(address) = text(root, "spec.url")
        {
            self.git_repositories.push((name.to_owned(), address.to_owned()));
        }
    }

    fn add_document(&mut self, document: &Document) {
        let root = &document.root;
        let file = document.file.path();
        let kind = text(root, "kind").unwrap_or_default();
        let name = text(root, "metadata.name").unwrap_or_default();
        let what = format!("the {kind} {name} in {file}");
        let version = text(root, "apiVersion").unwrap_or_default();
        let group = version.split('/').next().unwrap_or_default();
        let known = self.appliers.len();
        self.add_object(root, file, (group, kind), &what);
        let paths = ["spec.prune", "spec.syncPolicy.automated.prune", "spec.template.spec.syncPolicy.automated.prune"];
        let prunes = paths.iter().any(|path| below(root, path).is_some_and(is_true));
        for applier in self.appliers.iter_mut().skip(known) {
            applier.prunes = prunes && matches!(applier.controller, Controller::ArgoCd | Controller::Flux);
        }
    }

    fn add_object(&mut self, root: &Node, file: &Utf8Path, (group, kind): (&str, &str), what: &str) {
        match (group, kind) {
            ("argoproj.io", "Application") => {
                if let Some(spec) = root.get("spec") {
                    self.add_sources(spec, what);
                }
            }
            ("argoproj.io", "ApplicationSet") => {
                if let Some(spec) = below(root, "spec.template.spec") {
                    self.add_sources(spec, what);
                }
                if let Some(generators) = below(root, "spec.generators") {
                    self.add_generators(generators, what);
                }
            }
            // An artifact's path isn't one of the repository.
            ("kustomize.toolkit.fluxcd.io", "Kustomization")
                if text(root, "spec.sourceRef.kind").is_none_or(|k| k == "GitRepository")
                    && self.is_flux_source(text(root, "spec.sourceRef.name")) =>
            {
                let path = text(root, "spec.path").unwrap_or_default();
                self.add(path, true, what, Controller::Flux);
            }
            ("apps.open-cluster-management.io", "Subscription") => {
                let annotations = below(root, "metadata.annotations");
                for entry in annotations.map_or(&[][..], Node::entries) {
                    let is_path = entry.key.text.ends_with("/git-path") || entry.key.text.ends_with("/github-path");
                    if let Some(value) = entry.value.as_str().filter(|_| is_path) {
                        self.add(value, true, what, Controller::Acm);
                    }
                }
            }
            ("policy.open-cluster-management.io", "PolicyGenerator") => {
                for policy in root.list_at("policies") {
                    for manifest in policy.list_at("manifests") {
                        if let Some(path) = text(manifest, "path") {
                            let path = parent(file).join(path);
                            self.add(path.as_str(), false, what, Controller::Acm);
                        }
                    }
                }
            }
            ("fleet.cattle.io", "GitRepo") if root.get("spec").is_some_and(|s| self.is_read_by(s, "repo")) => {
                let paths = below(root, "spec.paths").map_or(&[][..], Node::items);
                for path in paths.iter().filter_map(Node::as_str) {
                    self.add(path, true, what, Controller::Fleet);
                }
            }
            _ => {}
        }
    }

    /// Adds the sources of an Application. A Helm chart's are examined as directories too: once the chart is removed,
    /// the rest is applied. hcoplan's own plugin skips inventories.
    fn add_sources(&mut self, spec: &Node, what: &str) {
        let many = spec.list_at("sources").iter();
        for source in many.chain(spec.get("source")) {
            if !self.is_read_by(source, "repoURL") {
                continue;
            }
            let is_own_plugin = text(source, "plugin.name").is_some_and(|p| p.starts_with("hcoplan"));
            let deep = below(source, "directory.recurse").is_some_and(is_true);
            let files = |key: &str| file_pattern(text(source, key)?);
            if let Some(path) = text(source, "path").filter(|_| !is_own_plugin)
                && let Some(applier) = applier(path, deep, what, Controller::ArgoCd)
            {
                self.appliers.push(Applier {
                    only: files("directory.include"),
                    except: files("directory.exclude"),
                    ..applier
                });
            }
        }
    }

    /// Adds the directories and files of an ApplicationSet's git generators, also nested in a matrix or merge.
    fn add_generators(&mut self, node: &Node, what: &str) {
        if !self.is_read_by(node, "repoURL") {
            return;
        }
        for entry in node.entries() {
            let paths = |excluded: bool| {
                let items = entry.value.items().iter();
                let chosen = items.filter(move |d| d.get("exclude").is_some_and(is_true) == excluded);
                chosen.filter_map(|d| text(d, "path"))
            };
            match &*entry.key.text {
                "directories" => {
                    for path in paths(false) {
                        let Some(applier) = applier(path, true, what, Controller::ArgoCd) else {
                            continue;
                        };
                        let excluded = paths(true).filter_map(|path| glob(&pattern(path)?, true));
                        self.appliers.push(Applier { excluded: excluded.collect(), ..applier });
                    }
                }
                "files" => {
                    let files = paths(false).filter_map(|path| file_pattern(&pattern(path)?));
                    self.readers.extend(files.map(|files| FileReader { what: what.to_owned(), files }));
                }
                _ => {}
            }
            self.add_generators(&entry.value, what);
        }
        for item in node.items() {
            self.add_generators(item, what);
        }
    }

    /// Whether the address under `key` may be this repository's.
    fn is_read_by(&self, source: &Node, key: &str) -> bool {
        text(source, key).is_none_or(|a| self.is_ours(a))
    }

    /// Whether a GitRepository of this name may be this repository; one that isn't declared here may be.
    fn is_flux_source(&self, name: Option<&str>) -> bool {
        let mut of_name = self.git_repositories.iter().filter(|(known, _)| Some(known.as_str()) == name).peekable();
        of_name.peek().is_none() || of_name.any(|(_, address)| self.is_ours(address))
    }

    /// Whether an address may be this repository's. A templated one may be.
    fn is_ours(&self, address: &str) -> bool {
        let is_templated = address.contains("{{") || address.contains("${");
        let ours = self.repository.as_deref().filter(|_| !is_templated);
        let names = ours.zip(last_part(address));
        names.is_none_or(|(ours, theirs)| theirs.eq_ignore_ascii_case(ours))
    }

    fn add(&mut self, path: &str, deep: bool, what: &str, controller: Controller) {
        let applier = applier(path, deep, what, controller);
        self.appliers.extend(applier);
    }
}

fn applier(path: &str, deep: bool, what: &str, controller: Controller) -> Option<Applier> {
    Some(Applier {
        what: what.to_owned(),
        controller,
        directories: glob(&pattern(path)?, true)?,
        deep,
        only: None,
        except: None,
        excluded: Vec::new(),
        prunes: false,
    })
}

/// Compiles a pattern; `None` if it is invalid. `whole`: a `*` ends at the next `/`.
fn glob(pattern: &str, whole: bool) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(whole).build();
    Some(glob.ok()?.compile_matcher())
}

/// Compiles a pattern of files like Argo CD: a `*` also matches slashes.
pub(super) fn file_pattern(text: &str) -> Option<GlobMatcher> {
    glob(text, false)
}

/// The Ansible role that a directory belongs to.
fn role(directory: &Utf8Path) -> Option<&Utf8Path> {
    directory.ancestors().find_map(|part| {
        let role = part.parent()?;
        let roles = role.parent()?.file_name()?;
        let is_role = roles == "roles" && ROLE_DIRECTORIES.contains(&part.file_name()?);
        is_role.then_some(role)
    })
}

/// A controller's path as a pattern of directories; `None` if a generator chooses them. A templated part matches any
/// name.
fn pattern(path: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        out.push('*');
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    if out.starts_with('*') && path.starts_with("{{") {
        return None;
    }
    let path = normalize_path(Utf8Path::new(out.trim_start_matches('/')))?;
    Some(dotted(&path).to_owned())
}

/// The directory, `.` for the root, so that a pattern can match it.
fn dotted(directory: &Utf8Path) -> &str {
    match directory.as_str() {
        "" => ".",
        path => path,
    }
}

pub(super) fn below<'n>(node: &'n Node, path: &str) -> Option<&'n Node> {
    path.split('.').try_fold(node, |node, key| node.get(key))
}

pub(super) fn text<'n>(node: &'n Node, path: &str) -> Option<&'n str> {
    below(node, path)?.as_str()
}

fn is_true(node: &Node) -> bool {
    matches!(node.value, yaml::Value::Bool(true))
}
