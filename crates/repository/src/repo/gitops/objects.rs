//! The controllers' objects of a tree.

use hcoplan_diagnostics::source::origin_of_top;

use super::argo_sources::is_same_repository;
use super::by_directory::ByDirectory;
use super::destination::{Destination, destination};
use super::placing::Placing;
use super::variables::{Named, variables};
use super::{Applied, Controller, Kind, Source, acm, argocd, file_of, fleet, flux};
use crate::prelude::*;
use crate::repo::candidate::is_candidate;
use crate::repo::escapes::contains;
use crate::repo::fields;
use crate::repo::is_same_document;
use crate::repo::kustomization::{Field, omits};
use crate::repo::listed;
use crate::repo::nodes::{filled, is_on, names_of};
use crate::repo::paths::parent;

/// The controllers' objects of a tree, and the objects that they take values from.
#[derive(Debug, Default)]
pub(crate) struct GitOps {
    pub(crate) applied: Vec<Applied>,
    /// All objects of files that name a controller's group.
    pub(crate) documents: Vec<Arc<Document>>,
    by_directory: ByDirectory,
    /// Several clusters may have objects of the same name.
    by_identity: BTreeMap<Identity, Vec<usize>>,
    /// The files that name a controller's group and can't be parsed.
    pub(crate) broken: Vec<Arc<SourceFile>>,
    /// The name of the repository, if it is known where it was cloned from.
    pub(crate) origin: Option<String>,
    /// What its objects name.
    pub(crate) named: Named,
    pub(super) placing: Placing,
}

/// The most Kustomizations that fill in the variables of one object.
const MOST_FILLING: usize = 64;

/// What stays the same of an object while its settings change: its kind and name, and the name of what applies. With
/// another namespace it is the same one, which another controller may read, or none.
type Identity = (Kind, String, String);

fn identity(applied: &Applied) -> Identity {
    (applied.kind, applied.document.text("metadata.name").to_owned(), applied.name.clone())
}

fn has_same_namespace(one: &Applied, other: &Applied) -> bool {
    names_of(&one.document)[0] == names_of(&other.document)[0]
}

/// What shows that objects of one name are the same: their namespace; a file has both, also by way of a kustomization, its
/// directories have moved, or their paths are equal.
fn likeness(one: &Applied, other: &Applied) -> [bool; 4] {
    let [own, theirs] = [one, other].map(|applied| file_of(&applied.document));
    let [own, theirs] = [own.path(), theirs.path()];
    let paths = |applied: &Applied| applied.sources.iter().map(|source| source.path.clone()).collect::<Vec<_>>();
    let has_moved = own.ends_with(theirs) || theirs.ends_with(own);
    [has_same_namespace(one, other), own == theirs, has_moved, paths(one) == paths(other)]
}

/// A name after that of a file's directory, or its path if others have a directory of its name; `files` are all files with
/// an object of the name.
pub(crate) fn distinct_name(name: &str, file: &Utf8Path, files: &[&Utf8Path]) -> String {
    let own = parent(file);
    let Some(last) = own.file_name().filter(|_| files.len() > 1) else { return name.to_owned() };
    let is_like_it = |other: &&Utf8Path| **other != *file && parent(other).file_name() == Some(last);
    let directory = if files.iter().any(is_like_it) { &own.as_str().replace('/', "-") } else { last };
    format!("{directory}-{name}")
}

/// What controllers apply from a tree.
pub(crate) fn read(tree: &dyn Tree, files: &[Utf8PathBuf]) -> GitOps {
    let mut out = GitOps::default();
    let mut documents = Vec::new();
    for path in files.iter().filter(|path| is_candidate(path)) {
        let Ok(file) = tree.source(path) else { continue };
        if contains(file.text(), |text| fields::are_in(text, "controllers")) {
            let parsed = yaml::parse(&file);
            out.broken.extend(parsed.is_broken().then_some(file));
            documents.extend(objects(parsed));
        }
    }
    if documents.is_empty() {
        return out;
    }
    let are_named = |field: &&str| documents.iter().any(|one| one.root.below(field).is_some());
    let mut named: Vec<&str> = Vec::new();
    if are_named(&"spec.kubeConfig") {
        named.extend(fields::pairs_of("flux.kubeconfigs").map(|(kind, _)| kind));
    } else if ["spec.valuesFrom", "spec.postBuild.substituteFrom"].iter().any(are_named) {
        named.push("ConfigMap");
    }
    for path in files.iter().filter(|path| !named.is_empty() && is_candidate(path)) {
        let file = tree.source(path).ok().filter(|file| named.iter().any(|kind| file.text().contains(kind)));
        for document in file.map_or_else(Vec::new, |file| objects(yaml::parse(&file))) {
            out.named.add(&document, &named);
        }
    }
    out.named.find_appliers(&documents, tree, |document| of_object(document, tree, &[]));
    for kind in [Kind::FluxKustomization, Kind::HelmRelease] {
        out.fill_in_variables(&mut documents, kind, tree);
    }
    flux::follow_chart_refs(&mut documents);
    out.applied = documents.iter().flat_map(|document| of_object(document, tree, files)).collect();
    for document in &documents {
        out.named.add(document, fields::of("placing.named"));
        out.placing.add(document);
    }
    out.documents = documents;
    out.leave_other_repositories(tree);
    out.index();
    out
}

impl GitOps {
    /// Fills in the variables of Flux's Kustomizations in the objects of a kind that they apply.
    fn fill_in_variables(&self, documents: &mut [Arc<Document>], kind: Kind, tree: &dyn Tree) {
        let with_variables = |document: &Arc<Document>| {
            let by = of_object(document, tree, &[]).into_iter().find(|by| by.kind == Kind::FluxKustomization)?;
            let variables = variables(&by, document.root.below("spec.postBuild")?, &self.named)?;
            Some((by, variables))
        };
        let all: Vec<_> = documents.iter().filter_map(with_variables).collect();
        let by_directory = ByDirectory::of(all.iter().map(|(by, _)| by));
        let may_have_any = |document: &Document| {
            Kind::of(document.text("apiVersion"), document.text("kind")) == Some(kind)
                && document.file.text().contains("${")
        };
        for document in documents.iter_mut().filter(|document| may_have_any(document)) {
            let path = document.file.path();
            let is_other = |by: &Applied| !Arc::ptr_eq(&by.document, document);
            let reaching =
                by_directory.around(&all, parent(path)).filter(|(by, _)| is_other(by) && by.reaches(tree, path));
            let mut filled = reaching.map(|(_, variables)| variables.fill(&document.root)).zip(1..);
            // Where several fill in other values, none are known.
            let is_same = |root: &Node, other: &Node| other.to_json() == root.to_json();
            if let Some((root, _)) = filled.next()
                && filled.all(|(other, number)| number < MOST_FILLING && is_same(&root, &other))
            {
                Arc::make_mut(document).root = root;
            }
        }
    }

    fn index(&mut self) {
        for (index, applied) in self.applied.iter().enumerate() {
            self.by_identity.entry(identity(applied)).or_default().push(index);
        }
        self.by_directory = ByDirectory::of(self.applied.iter());
    }

    /// Leaves the paths of sources alone that are in another repository: with another address than the one from which
    /// Flux was bootstrapped, or from which this repository was cloned.
    fn leave_other_repositories(&mut self, tree: &dyn Tree) {
        let mut applied = std::mem::take(&mut self.applied);
        self.origin = tree.root_directory().filter(|_| !applied.is_empty()).and_then(|root| origin_of_top(&root));
        let bootstrapped: Vec<&str> = self.addresses_of(flux::BOOTSTRAPPED).collect();
        let origin: Vec<&str> = self.origin.as_deref().into_iter().collect();
        for applied in &mut applied {
            let is_flux = applied.kind.controller() == Controller::Flux;
            let own = if is_flux && !bootstrapped.is_empty() { &bootstrapped } else { &origin };
            for source in &mut applied.sources {
                let addresses = self.addresses(applied.kind, &source.node);
                let is_own = |address: &&str| own.iter().any(|own| is_same_repository(own, address));
                source.is_here &= own.is_empty() || addresses.is_empty() || addresses.iter().any(is_own);
            }
        }
        self.applied = applied;
    }

    /// The addresses of the repository of a source; none if they aren't known.
    pub(crate) fn addresses<'a>(&'a self, kind: Kind, source: &'a Node) -> Vec<&'a str> {
        match kind.controller() {
            Controller::ArgoCd => source.text_at("repoURL").into_iter().collect(),
            Controller::Fleet => source.text_at("repo").into_iter().collect(),
            Controller::Acm => Vec::new(),
            Controller::Flux => self.addresses_of(flux::repository_of(kind, source)).collect(),
        }
    }

    /// The objects in charts' templates, indexed like the others.
    pub(crate) fn of_charts(applied: Vec<Applied>) -> Self {
        let mut out = Self { applied, ..Self::default() };
        out.index();
        out
    }

    /// What applies a file.
    pub(crate) fn covering<'a>(&'a self, file: &'a Utf8Path) -> impl Iterator<Item = &'a Applied> {
        let covers = |source: &Source| source.pattern().is_some_and(|path| path.covers(file));
        self.around(file).filter(move |by| by.sources.iter().any(covers))
    }

    /// Whether any applies a directory, or something in it.
    pub(crate) fn meets(&self, directory: &Utf8Path) -> bool {
        let is_below = |path: &Utf8Path| path.starts_with(directory);
        let elsewhere = self.by_directory.elsewhere.iter().filter_map(|index| self.applied.get(*index));
        let mut patterns = elsewhere.flat_map(|by| &by.sources).filter_map(Source::pattern);
        self.by_directory.known.range(directory.to_owned()..).next().is_some_and(|(path, _)| is_below(path))
            || patterns.any(|path| is_below(&path.start))
            || self.covering(&directory.join("a.yaml")).next().is_some()
    }

    /// The packed charts that they apply.
    pub(crate) fn packed(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.by_directory.known.keys().filter(|path| matches!(path.extension(), Some("tgz" | "gz")))
    }

    /// What may apply something in a directory: what has a source at or above it, or one whose directory isn't known.
    pub(crate) fn around(&self, directory: &Utf8Path) -> impl Iterator<Item = &Applied> {
        self.by_directory.around(&self.applied, directory)
    }

    /// The name of what it applies: its own, after what tells its file's directory from the others where several clusters
    /// have an object of the name.
    pub(crate) fn output_name(&self, applied: &Applied) -> String {
        let named = self.named_like(applied).into_iter().filter(|own| has_same_namespace(own, applied));
        let files: Vec<&Utf8Path> = named.map(|own| own.document.file.path()).collect();
        distinct_name(&applied.name, applied.document.file.path(), &files)
    }

    /// The same object as in another revision: of several of its name in either one, that in its file, or the one whose
    /// file has moved.
    pub(crate) fn same(&self, other: &Applied, revision: &Self) -> Option<&Applied> {
        let is_in_its_file =
            |own: &&&Applied| own.document.file.path() == other.document.file.path() && has_same_namespace(own, other);
        let named = self.named_like(other);
        if let Some(own) = named.iter().find(is_in_its_file) {
            return Some(own);
        }
        let is_only = [self, revision].iter().all(|known| known.named_like(other).len() == 1);
        let own = named.into_iter().max_by_key(|own| likeness(other, own))?;
        let of_own = revision.named_like(own).into_iter().max_by_key(|one| likeness(one, own))?;
        let is_alike = likeness(other, own)[usize::from(!is_only)..].contains(&true);
        (is_alike && std::ptr::eq(of_own, other)).then_some(own)
    }

    /// Those of an object's kind and name.
    fn named_like(&self, one: &Applied) -> Vec<&Applied> {
        let indexes = self.by_identity.get(&identity(one)).into_iter().flatten();
        indexes.filter_map(|index| self.applied.get(*index)).collect()
    }

    /// The set that made an Application in another revision.
    pub(crate) fn same_set(&self, other: &Applied) -> Option<&Arc<Document>> {
        let (path, of) = (other.document.file.path(), names_of(&other.document));
        let mut sets = self.documents.iter().filter(|_| other.kind == Kind::ApplicationSet);
        sets.find(|set| set.file.path() == path && set.text("kind") == "ApplicationSet" && names_of(set) == of)
    }

    /// What decides to which clusters an object is applied: what it names, what names it, and so on.
    pub(crate) fn placing(&self, of: &Arc<Document>, to: Option<&Destination>) -> Vec<Arc<Document>> {
        self.placing.of(of, to.and_then(Destination::name), &self.named)
    }

    /// Flux's GitRepositories of which an object applies.
    pub(crate) fn repositories(&self, applied: &Applied) -> &[Arc<Document>] {
        let spec = applied.document.root.get("spec").filter(|_| applied.kind.controller() == Controller::Flux);
        self.named.get("GitRepository", spec.map_or("", |spec| flux::repository_of(applied.kind, spec)))
    }

    /// The files that say what an object applies, and with which values.
    pub(crate) fn files_of<'a>(&'a self, applied: &'a Applied) -> impl Iterator<Item = Arc<SourceFile>> + 'a {
        let overrides = applied.sources.iter().flat_map(|source| &source.overrides);
        let lists = ["spec.postBuild.substituteFrom", "spec.valuesFrom"].map(|list| applied.object.list_at(list));
        let named = |from| self.named.config_map(&applied.document, from);
        let config_maps = lists.into_iter().flatten().filter_map(named);
        overrides.chain(config_maps).chain([&applied.document]).map(|document| file_of(document))
    }

    /// The addresses of Flux's GitRepositories of a name; several clusters may have one.
    pub(crate) fn addresses_of(&self, name: &str) -> impl Iterator<Item = &str> {
        self.named.get("GitRepository", name).iter().map(|document| document.text("spec.url"))
    }

    /// Whether everything that an object applies is built with what it adds: its paths are known, and those of Argo CD
    /// have a kustomization.
    pub(crate) fn is_built(&self, document: &Document) -> bool {
        // A chart's template is read with other names than it has.
        let of_it =
            |own: &&Applied| is_same_document(&own.document, document) && names_of(&own.document) == names_of(document);
        // Other sources of an Application only have files, or a chart that isn't here.
        let all = || self.applied.iter().filter(of_it).flat_map(|applied| &applied.sources);
        let sources = || all().filter(|source| source.path.is_some());
        let has_tool = |s: &Source| ["kustomize", "helm", "plugin"].iter().any(|k| s.node.get(k).is_some());
        sources().any(|source| source.is_built) && sources().all(|source| source.is_built || !has_tool(source))
    }

    /// Whether a controller applies files of a directory as they are.
    pub(crate) fn applies(&self, tree: &dyn Tree, directory: &Utf8Path) -> bool {
        self.applied.iter().any(|by| by.here().any(|source| by.applies(source, tree, directory)))
    }
}

/// What a controller's object applies from a tree; nothing for another object.
pub(crate) fn of_object(document: &Arc<Document>, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Vec<Applied> {
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
            argocd::fill_in_environment(applied);
        }
        let is_unlisted = || omits(tree, document.file.path(), |field| field == Field::Plugins);
        if kind == Kind::PolicyGenerator && is_unlisted() {
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
    let known = fields::of(&format!("{}.namespace", kind.name()));
    known.iter().find_map(|field| filled(object, field)).map(ToOwned::to_owned)
}

/// The sources of a controller's object, or of an ApplicationSet's template.
pub(crate) fn sources_of(kind: Kind, root: &Node, file: &Utf8Path) -> Vec<Source> {
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
            out.extend(argocd::of_cluster_group(&document).into_iter().map(Arc::new));
            out.push(Arc::new(document));
        }
    }
    out
}
