//! Who applies or renders directories of the repository as they are: nothing that a cluster doesn't know
//! may be put there.

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

/// The API groups of the controllers that are known; a file without any of them isn't parsed.
const GROUPS: [&str; 5] = [
    "argoproj.io",
    "toolkit.fluxcd.io",
    "apps.open-cluster-management.io",
    "policy.open-cluster-management.io",
    "fleet.cattle.io",
];

/// Directories of a role of Ansible.
const OF_ROLE: [&str; 7] = ["defaults", "files", "handlers", "meta", "tasks", "templates", "vars"];

/// What applies or renders directories of a repository.
#[derive(Debug, Default)]
pub struct Appliers {
    appliers: Vec<Applier>,
    readers: Vec<FileReader>,
    /// Directories with a kustomization, which builds what it names and nothing else.
    kustomizations: BTreeSet<Utf8PathBuf>,
    /// Directories with a `Chart.yaml`.
    charts: BTreeSet<Utf8PathBuf>,
    /// What the repository is called, where that is known. An object that reads a repository of another
    /// name applies nothing here; of its address only the name counts, since there are many ways to one.
    repository: Option<String>,
    /// The names of Flux's GitRepositories with their addresses; clusters may have one of a name each.
    git_repositories: Vec<(String, String)>,
}

/// Why nothing may be put into a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliedBy<'a> {
    /// A controller's object, `the Application prod in argocd/prod.yaml`.
    Controller(&'a str, Controller),
    /// The Helm chart of this directory renders it.
    Chart(&'a Utf8Path),
    /// It belongs to the role of Ansible in this directory.
    Role(&'a Utf8Path),
}

/// What reads a directory in a cluster's stead.
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
    /// All that are known.
    pub const ALL: [Self; 4] = [Self::ArgoCd, Self::Flux, Self::Acm, Self::Fleet];

    /// The file, of the syntax of `.gitignore`, that says what it leaves out of the repository. Argo CD
    /// has none, and passes over by itself what is no object of Kubernetes.
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
    /// Whether everything below them is applied, too.
    deep: bool,
    /// The files below a directory that are applied, by their paths from there; all where empty.
    only: Option<GlobMatcher>,
    /// Of those the ones that aren't.
    except: Option<GlobMatcher>,
    /// Directories that a generator leaves out.
    left_out: Vec<GlobMatcher>,
    /// Whether it deletes what the repository no longer has.
    prunes: bool,
}

impl Applier {
    /// Whether files of `directory`, which is `above` or is below it, are left out.
    fn leaves_out(&self, above: &Utf8Path, directory: &Utf8Path) -> bool {
        let file = directory.strip_prefix(above).unwrap_or(directory);
        let file = file.join("a.yaml");
        self.only.as_ref().is_some_and(|only| !only.is_match(&file))
            || self.except.as_ref().is_some_and(|e| e.is_match(&file))
            || self.left_out.iter().any(|l| l.is_match(dotted(above)))
    }
}

/// What reads certain files wherever they are.
#[derive(Debug)]
struct FileReader {
    what: String,
    files: GlobMatcher,
}

impl Repo {
    /// What applies or renders directories of the repository, as far as its files say. Every file that
    /// was examined is read again. `repository` is what it is called, `clusters` of
    /// `git@example.com:team/clusters.git`; without it each object is taken to be about this repository.
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
        self.each_of_controllers(|document| out.take_git_repository(document));
        self.each_of_controllers(|document| out.take(document));
        out
    }

    /// What deletes the HyperConverged of a cluster once the repository no longer has it, as far as its files say.
    pub fn pruner_of(&self, cluster: &ClusterRef) -> Option<String> {
        self.appliers(None).pruner_of(cluster.directory()).map(str::to_owned)
    }

    /// Examines each object of the files that name a controller's API group.
    pub(super) fn each_of_controllers(&self, mut look: impl FnMut(&Document)) {
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
                    listed::objects(&document.root).iter().for_each(|object| look(&object.alone(&document)));
                } else {
                    look(&document);
                }
            }
        }
    }
}

impl Appliers {
    /// Why nothing may be put into a directory; `None` where nobody is known to apply it.
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

    /// What deletes an object that a directory no longer has, such as `the Application prod in argocd/prod.yaml`.
    pub fn pruner_of(&self, directory: &Utf8Path) -> Option<&str> {
        let takes = |applier: &&Applier| {
            applier.prunes
                && directory.ancestors().any(|above| {
                    let is_below = above == directory || applier.deep || self.is_kustomization(above);
                    is_below && applier.directories.is_match(dotted(above)) && !applier.leaves_out(above, directory)
                })
        };
        self.appliers.iter().find(takes).map(|a| a.what.as_str())
    }

    /// The ApplicationSet whose generator makes an Application of this file, such as `the ApplicationSet
    /// all in apps/all.yaml`.
    pub fn reader_of(&self, file: &Utf8Path) -> Option<&str> {
        let mut readers = self.readers.iter();
        let reader = readers.find(|r| r.files.is_match(file))?;
        Some(&reader.what)
    }

    /// Whether a directory has a kustomization, so that what it doesn't name is applied by nobody.
    pub fn is_kustomization(&self, directory: &Utf8Path) -> bool {
        self.kustomizations.contains(directory)
    }

    /// The controllers whose objects are there.
    pub fn controllers(&self) -> BTreeSet<Controller> {
        self.appliers.iter().map(|a| a.controller).collect()
    }

    fn applies(&self, applier: &Applier, directory: &Utf8Path) -> bool {
        let most = if applier.deep { usize::MAX } else { 1 };
        let mut built = false;
        for above in directory.ancestors().take(most) {
            let is_kustomization = self.is_kustomization(above);
            // Flux takes a kustomization on the way as one; the others ask at their own path only.
            built |= is_kustomization && applier.controller == Controller::Flux;
            if applier.directories.is_match(dotted(above)) && !applier.leaves_out(above, directory) {
                return !built && !is_kustomization && !self.charts.contains(above);
            }
        }
        false
    }

    /// The chart whose templates a directory holds.
    fn chart_of<'a>(&self, directory: &'a Utf8Path) -> Option<&'a Utf8Path> {
        directory.ancestors().find_map(|part| {
            let chart = part.parent()?;
            let rendered = matches!(part.file_name()?, "templates" | "crds");
            (rendered && self.charts.contains(chart)).then_some(chart)
        })
    }

    fn take_git_repository(&mut self, document: &Document) {
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

    fn take(&mut self, document: &Document) {
        let root = &document.root;
        let file = document.file.path();
        let kind = text(root, "kind").unwrap_or_default();
        let name = text(root, "metadata.name").unwrap_or_default();
        let what = format!("the {kind} {name} in {file}");
        let version = text(root, "apiVersion").unwrap_or_default();
        let group = version.split('/').next().unwrap_or_default();
        let known = self.appliers.len();
        self.take_object(root, file, (group, kind), &what);
        let paths = ["spec.prune", "spec.syncPolicy.automated.prune", "spec.template.spec.syncPolicy.automated.prune"];
        let prunes = paths.iter().any(|path| below(root, path).is_some_and(is_true));
        for applier in self.appliers.iter_mut().skip(known) {
            applier.prunes = prunes && matches!(applier.controller, Controller::ArgoCd | Controller::Flux);
        }
    }

    fn take_object(&mut self, root: &Node, file: &Utf8Path, (group, kind): (&str, &str), what: &str) {
        match (group, kind) {
            ("argoproj.io", "Application") => {
                if let Some(spec) = root.get("spec") {
                    self.sources(spec, what);
                }
            }
            ("argoproj.io", "ApplicationSet") => {
                if let Some(spec) = below(root, "spec.template.spec") {
                    self.sources(spec, what);
                }
                if let Some(generators) = below(root, "spec.generators") {
                    self.generators(generators, what);
                }
            }
            // The path of an artifact is none of the repository.
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
                    let path = entry.key.text.ends_with("/git-path") || entry.key.text.ends_with("/github-path");
                    if let Some(value) = entry.value.as_str().filter(|_| path) {
                        self.add(value, true, what, Controller::Acm);
                    }
                }
            }
            ("policy.open-cluster-management.io", "PolicyGenerator") => {
                for policy in root.get("policies").map_or(&[][..], Node::items) {
                    for manifest in policy.get("manifests").map_or(&[][..], Node::items) {
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

    /// The sources of an Application. A Helm chart's are examined as directories, too: what is in one
    /// that is no chart any more is applied. hcoplan's own plugin leaves inventories out.
    fn sources(&mut self, spec: &Node, what: &str) {
        let many = spec.get("sources").map_or(&[][..], Node::items).iter();
        for source in many.chain(spec.get("source")) {
            if !self.is_read_by(source, "repoURL") {
                continue;
            }
            let plugin = text(source, "plugin.name").is_some_and(|p| p.starts_with("hcoplan"));
            let deep = below(source, "directory.recurse").is_some_and(is_true);
            let files = |key: &str| file_pattern(text(source, key)?);
            if let Some(path) = text(source, "path").filter(|_| !plugin)
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

    /// The directories and files of an ApplicationSet's git generators, however deep in a matrix or a
    /// merge.
    fn generators(&mut self, node: &Node, what: &str) {
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
                        let left_out = paths(true).filter_map(|path| glob(&pattern(path)?, true));
                        self.appliers.push(Applier { left_out: left_out.collect(), ..applier });
                    }
                }
                "files" => {
                    let files = paths(false).filter_map(|path| file_pattern(&pattern(path)?));
                    self.readers.extend(files.map(|files| FileReader { what: what.to_owned(), files }));
                }
                _ => {}
            }
            self.generators(&entry.value, what);
        }
        for item in node.items() {
            self.generators(item, what);
        }
    }

    /// Whether the address under `key` may be this repository's.
    fn is_read_by(&self, source: &Node, key: &str) -> bool {
        text(source, key).is_none_or(|a| self.is_ours(a))
    }

    /// Whether a GitRepository of this name may be this repository; one that isn't declared here may be.
    fn is_flux_source(&self, name: Option<&str>) -> bool {
        let of_name = |(known, _): &&(String, String)| Some(known.as_str()) == name;
        let mut of_name = self.git_repositories.iter().filter(of_name).peekable();
        of_name.peek().is_none() || of_name.any(|(_, address)| self.is_ours(address))
    }

    /// Whether an address may be this repository's. One that a generator fills in may be.
    fn is_ours(&self, address: &str) -> bool {
        let filled_in = address.contains("{{") || address.contains("${");
        let ours = self.repository.as_deref().filter(|_| !filled_in);
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
        left_out: Vec::new(),
        prunes: false,
    })
}

/// A pattern, or nothing where it is none. `whole`: a `*` ends at the next `/`.
fn glob(pattern: &str, whole: bool) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(whole).build();
    Some(glob.ok()?.compile_matcher())
}

/// A pattern of files, as Argo CD matches it: a `*` matches slashes, too.
pub(super) fn file_pattern(text: &str) -> Option<GlobMatcher> {
    glob(text, false)
}

/// The role of Ansible that a directory belongs to.
fn role(directory: &Utf8Path) -> Option<&Utf8Path> {
    directory.ancestors().find_map(|part| {
        let role = part.parent()?;
        let roles = role.parent()?.file_name()?;
        let is_one = roles == "roles" && OF_ROLE.contains(&part.file_name()?);
        is_one.then_some(role)
    })
}

/// A controller's path as a pattern of directories; `None` where a generator chooses them. A part that a generator
/// fills in matches any name.
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

/// The root has a name, so that a pattern can match it.
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
