//! The controllers' objects of a tree.

use super::destination::destination;
use super::variables::{ConfigMaps, variables};
use super::{Applied, Controller, Kind, Source, acm, argocd, file_of, fleet, flux};
use crate::prelude::*;
use crate::repo::candidate::is_candidate;
use crate::repo::escapes::contains_any;
use crate::repo::listed;
use crate::repo::nodes::{filled, is_on, names_of};
use crate::repo::paths::parent;

/// The API groups of the known controllers; a file without any of them isn't parsed.
pub(in crate::repo) const GROUPS: [&str; 5] = [
    "argoproj.io",
    "toolkit.fluxcd.io",
    "apps.open-cluster-management.io",
    "policy.open-cluster-management.io",
    "fleet.cattle.io",
];

/// The controllers' objects of a tree, and the objects that they take values from.
#[derive(Debug, Default)]
pub(in crate::repo) struct GitOps {
    pub(in crate::repo) applied: Vec<Applied>,
    /// All objects of files that name a controller's group.
    pub(in crate::repo) documents: Vec<Arc<Document>>,
    /// The indexes of `applied` by the directories of their sources, also with links followed, so that none is compared
    /// with each cluster: with 800 clusters and as many Applications that took three times as long.
    by_directory: BTreeMap<Utf8PathBuf, Vec<usize>>,
    /// Those with sources whose directories aren't known.
    elsewhere: Vec<usize>,
    /// Several clusters may have objects of the same name.
    by_identity: BTreeMap<Identity, Vec<usize>>,
    /// GitRepositories and projects by kind and name; several clusters may have one of the same name.
    by_name: BTreeMap<(String, String), Vec<Arc<Document>>>,
    /// The files that name a controller's group and can't be parsed.
    pub(in crate::repo) broken: Vec<Arc<SourceFile>>,
    /// ConfigMaps by namespace and name.
    pub(in crate::repo) config_maps: ConfigMaps,
}

/// What stays the same of an object while its settings change: its kind, namespace and name, and the name of what
/// applies.
type Identity = (Kind, String, String, String);

fn identity(applied: &Applied) -> Identity {
    let [namespace, name] = names_of(&applied.document).map(ToOwned::to_owned);
    (applied.kind, namespace, name, applied.name.clone())
}

/// What controllers apply from a tree.
pub(in crate::repo) fn read(tree: &dyn Tree, files: &[Utf8PathBuf]) -> GitOps {
    let mut out = GitOps::default();
    let mut documents = Vec::new();
    for path in files.iter().filter(|path| is_candidate(path)) {
        let Ok(file) = tree.source(path) else { continue };
        if contains_any(file.text(), &GROUPS) {
            let parsed = yaml::parse(&file);
            out.broken.extend(parsed.is_broken().then_some(file));
            documents.extend(objects(parsed));
        }
    }
    if documents.is_empty() {
        return out;
    }
    let is_read = documents.iter().any(|document| {
        document.root.below("spec.valuesFrom").is_some()
            || document.root.below("spec.postBuild.substituteFrom").is_some()
    });
    for path in files.iter().filter(|path| is_read && is_candidate(path)) {
        let file = tree.source(path).ok().filter(|file| file.text().contains("ConfigMap"));
        for document in file.map_or_else(Vec::new, |file| objects(yaml::parse(&file))) {
            out.config_maps.add(document);
        }
    }
    for kind in [Kind::FluxKustomization, Kind::HelmRelease] {
        out.fill_in_variables(&mut documents, kind, tree);
    }
    flux::follow_chart_refs(&mut documents);
    out.applied = documents.iter().flat_map(|document| of_object(document, tree, files)).collect();
    out.documents = documents;
    out.index_sources();
    out.leave_other_repositories();
    out.index();
    out
}

impl GitOps {
    /// Fills in the variables of Flux's Kustomizations in the objects of a kind that they apply.
    fn fill_in_variables(&self, documents: &mut [Arc<Document>], kind: Kind, tree: &dyn Tree) {
        let with_variables = |document: &Arc<Document>| {
            let by = of_object(document, tree, &[]).into_iter().find(|by| by.kind == Kind::FluxKustomization)?;
            let variables = variables(&by, document.root.below("spec.postBuild")?, &self.config_maps)?;
            Some((by, variables))
        };
        let all: Vec<_> = documents.iter().filter_map(with_variables).collect();
        let is_of_kind =
            |document: &Document| Kind::of(document.text("apiVersion"), document.text("kind")) == Some(kind);
        for document in documents.iter_mut().filter(|document| !all.is_empty() && is_of_kind(document)) {
            let path = document.file.path();
            let is_other = |by: &Applied| !Arc::ptr_eq(&by.document, document);
            if let Some((_, variables)) = all.iter().find(|(by, _)| is_other(by) && by.reaches(tree, path)) {
                let root = variables.fill(&document.root);
                Arc::make_mut(document).root = root;
            }
        }
    }

    fn index(&mut self) {
        for (index, applied) in self.applied.iter().enumerate() {
            self.by_identity.entry(identity(applied)).or_default().push(index);
            for source in &applied.sources {
                match source.directory() {
                    Some(directory) => {
                        for own in BTreeSet::from([Some(directory), source.real.clone()]).into_iter().flatten() {
                            self.by_directory.entry(own).or_default().push(index);
                        }
                    }
                    None => self.elsewhere.push(index),
                }
            }
        }
    }

    fn index_sources(&mut self) {
        for document in self.documents.iter().filter(|d| matches!(d.text("kind"), "GitRepository" | "AppProject")) {
            let key = (document.text("kind").to_owned(), document.text("metadata.name").to_owned());
            self.by_name.entry(key).or_default().push(Arc::clone(document));
        }
    }

    /// Leaves the paths of Flux's objects alone that are in another repository: their GitRepository has another address
    /// than the one from which Flux was bootstrapped.
    fn leave_other_repositories(&mut self) {
        let mut applied = std::mem::take(&mut self.applied);
        let own: Vec<&str> = self.addresses_of(flux::BOOTSTRAPPED).collect();
        let is_own = |address: &str| own.iter().any(|own| argocd::is_same_repository(own, address));
        for applied in applied.iter_mut().filter(|_| !own.is_empty()) {
            let name = flux::repository_of(applied.kind, &applied.object);
            if self.addresses_of(name).next().is_some() && !self.addresses_of(name).any(is_own) {
                applied.sources.iter_mut().for_each(|source| source.is_here = false);
            }
        }
        self.applied = applied;
    }

    /// What may apply something in a directory: what has a source at or above it, or one whose directory isn't known.
    pub(in crate::repo) fn around(&self, directory: &Utf8Path) -> impl Iterator<Item = &Applied> {
        let above = directory.ancestors().filter_map(|above| self.by_directory.get(above)).flatten();
        let indexes: BTreeSet<usize> = above.chain(&self.elsewhere).copied().collect();
        indexes.into_iter().filter_map(|index| self.applied.get(index))
    }

    /// The name of what it applies: its own, after that of its file's directory where several clusters have an object of
    /// the name.
    pub(in crate::repo) fn output_name(&self, applied: &Applied) -> String {
        let is_only = self.by_identity.get(&identity(applied)).is_none_or(|indexes| indexes.len() == 1);
        let directory = parent(applied.document.file.path()).file_name().filter(|_| !is_only);
        directory.map_or_else(|| applied.name.clone(), |directory| format!("{directory}-{}", applied.name))
    }

    /// The same object as in another revision: of several of its name in either one, that in its file.
    pub(in crate::repo) fn same(&self, other: &Applied, revision: &Self) -> Option<&Applied> {
        let key = identity(other);
        let indexes = self.by_identity.get(&key)?;
        let is_only = |known: &Self| known.by_identity.get(&key).is_none_or(|indexes| indexes.len() == 1);
        let is_only = is_only(self) && is_only(revision);
        let mut all = indexes.iter().filter_map(|index| self.applied.get(*index));
        all.find(|own| is_only || own.document.file.path() == other.document.file.path())
    }

    /// The set that made an Application in another revision.
    pub(in crate::repo) fn same_set(&self, other: &Applied) -> Option<&Arc<Document>> {
        let (path, of) = (other.document.file.path(), names_of(&other.document));
        let mut sets = self.documents.iter().filter(|_| other.kind == Kind::ApplicationSet);
        sets.find(|set| set.file.path() == path && set.text("kind") == "ApplicationSet" && names_of(set) == of)
    }

    /// The objects that decide with one what it applies: Flux's GitRepository, Argo CD's project.
    pub(in crate::repo) fn related(&self, applied: &Applied) -> &[Arc<Document>] {
        let (kind, name) = match applied.kind.controller() {
            Controller::Flux => ("GitRepository", flux::repository_of(applied.kind, &applied.document.root)),
            _ => ("AppProject", applied.document.text("spec.project")),
        };
        self.named(kind, name)
    }

    /// The files that say what an object applies, and with which values.
    pub(in crate::repo) fn files_of<'a>(&'a self, applied: &'a Applied) -> impl Iterator<Item = Arc<SourceFile>> + 'a {
        let overrides = applied.sources.iter().flat_map(|source| &source.overrides);
        let lists = ["spec.postBuild.substituteFrom", "spec.valuesFrom"].map(|list| applied.object.list_at(list));
        let named = |from| self.config_maps.named_by(&applied.document, from);
        let config_maps = lists.into_iter().flatten().filter_map(named);
        overrides.chain(config_maps).chain([&applied.document]).map(|document| file_of(document))
    }

    fn named(&self, kind: &str, name: &str) -> &[Arc<Document>] {
        self.by_name.get(&(kind.to_owned(), name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The addresses of Flux's GitRepositories of a name; several clusters may have one.
    pub(in crate::repo) fn addresses_of(&self, name: &str) -> impl Iterator<Item = &str> {
        self.named("GitRepository", name).iter().map(|document| document.text("spec.url"))
    }

    /// Whether everything that an object applies is built with what it adds: its paths are known, and those of Argo CD
    /// have a kustomization.
    pub(in crate::repo) fn is_built(&self, document: &Document) -> bool {
        let of_it = |applied: &&Applied| {
            let own = &applied.document;
            own.file.path() == document.file.path()
                && own.index == document.index
                && names_of(own) == names_of(document)
        };
        let sources = || self.applied.iter().filter(of_it).flat_map(|applied| &applied.sources);
        // Other sources of an Application only have files.
        let has_tool = |s: &Source| ["kustomize", "helm", "chart", "plugin"].iter().any(|k| s.node.get(k).is_some());
        sources().any(|source| source.is_built) && sources().all(|source| source.is_built || !has_tool(source))
    }

    /// Whether a controller applies files of a directory as they are.
    pub(in crate::repo) fn applies(&self, tree: &dyn Tree, directory: &Utf8Path) -> bool {
        self.applied.iter().any(|by| by.here().any(|source| by.applies(source, tree, directory)))
    }
}

/// What a controller's object applies from a tree; nothing for another object.
pub(in crate::repo) fn of_object(document: &Arc<Document>, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Vec<Applied> {
    let root = &document.root;
    let Some(kind) = Kind::of(document.text("apiVersion"), document.text("kind")) else { return Vec::new() };
    let mut out = match kind {
        Kind::ApplicationSet => {
            let templates = argocd::filled_templates(document, tree, files);
            templates.iter().map(|template| applied(kind, document, template)).collect()
        }
        _ => vec![applied(kind, document, root)],
    };
    for applied in &mut out {
        if kind.controller() == Controller::ArgoCd {
            argocd::take_overrides(applied, tree);
        }
        if kind == Kind::PolicyGenerator && acm::is_unlisted(document.file.path(), tree) {
            applied.sources.clear();
        }
        applied.find_directories(tree);
    }
    out
}

/// What an object applies; that of an ApplicationSet is the template, filled in.
fn applied(kind: Kind, document: &Arc<Document>, object: &Node) -> Applied {
    let prune = if kind.controller() == Controller::ArgoCd { "spec.syncPolicy.automated.prune" } else { "spec.prune" };
    Applied {
        kind,
        document: Arc::clone(document),
        object: object.clone(),
        name: object.text("metadata.name").to_owned(),
        namespace: namespace(kind, object),
        destination: destination(kind, object, document.file.path()),
        prunes: (object.below(prune))
            .filter(|prune| prune.is_true() && !is_on(object, "spec.suspend"))
            .filter(|_| object.below("spec.syncPolicy.automated.enabled").is_none_or(Node::is_true))
            .map(|prune| document.location(prune.span)),
        sources: sources_of(kind, object, document.file.path()),
    }
}

fn namespace(kind: Kind, object: &Node) -> Option<String> {
    let fields: &[&str] = match kind {
        Kind::Application | Kind::ApplicationSet => &["spec.destination.namespace"],
        Kind::HelmRelease => &["spec.targetNamespace", "metadata.namespace"],
        _ => &[],
    };
    fields.iter().find_map(|field| filled(object, field)).map(ToOwned::to_owned)
}

/// The sources of a controller's object, or of an ApplicationSet's template.
pub(in crate::repo) fn sources_of(kind: Kind, root: &Node, file: &Utf8Path) -> Vec<Source> {
    let Some(spec) = root.get("spec").or(Some(root).filter(|_| kind == Kind::PolicyGenerator)) else {
        return Vec::new();
    };
    match kind {
        Kind::Application | Kind::ApplicationSet => argocd::sources_of(spec),
        Kind::FluxKustomization => vec![flux::kustomization(spec)],
        Kind::HelmRelease => vec![flux::helm_release(spec)],
        Kind::AcmSubscription => acm::subscription(root, spec),
        Kind::PolicyGenerator => acm::policy_generator(root, file),
        Kind::FleetGitRepo => fleet::git_repo(spec),
    }
}

/// The objects of a file; an item of a list as its own document.
fn objects(parsed: yaml::Parsed) -> Vec<Arc<Document>> {
    let mut out = Vec::new();
    for document in parsed.documents {
        if listed::is_list(&document.root) {
            out.extend(listed::objects(&document.root).iter().map(|object| Arc::new(object.as_document(&document))));
        } else {
            out.push(Arc::new(document));
        }
    }
    out
}
