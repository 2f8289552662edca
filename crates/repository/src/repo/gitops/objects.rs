//! The controllers' objects of a tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::{SourceFile, Tree};
use hcoplan_yaml::{self as yaml, Document, Node, Value};

use super::{Applied, Kind, Source, acm, argocd, fleet, flux};
use crate::repo::candidate::is_candidate;
use crate::repo::escapes::contains_any;
use crate::repo::listed;

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
    /// ConfigMaps by namespace and name.
    pub(super) config_maps: BTreeMap<(String, String), Arc<Document>>,
}

impl GitOps {
    pub(super) fn read(tree: &dyn Tree, files: &[Utf8PathBuf]) -> Self {
        let mut out = Self::default();
        let mut documents = Vec::new();
        for path in files.iter().filter(|path| is_candidate(path)) {
            let Ok(bytes) = tree.read(path) else { continue };
            let file = SourceFile::from_bytes(path, bytes);
            if contains_any(file.text(), &GROUPS) {
                documents.extend(objects(&file));
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
            let Ok(bytes) = tree.read(path) else { continue };
            if memchr::memmem::find(&bytes, b"ConfigMap").is_none() {
                continue;
            }
            for document in objects(&SourceFile::from_bytes(path, bytes)) {
                if document.text("apiVersion") == "v1" && document.text("kind") == "ConfigMap" {
                    let key =
                        (document.text("metadata.namespace").to_owned(), document.text("metadata.name").to_owned());
                    out.config_maps.entry(key).or_insert(document);
                }
            }
        }
        out.applied = documents.iter().flat_map(|document| of_object(document, tree, files)).collect();
        out.documents = documents;
        out
    }

    /// The addresses of Flux's GitRepositories of a name; several clusters may have one.
    pub(in crate::repo) fn addresses_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let is_it = move |document: &&Arc<Document>| {
            document.text("apiVersion").starts_with("source.toolkit.fluxcd.io/")
                && document.text("kind") == "GitRepository"
                && document.text("metadata.name") == name
        };
        self.documents.iter().filter(is_it).map(|document| document.text("spec.url"))
    }

    /// Whether everything that an object applies is built with what it adds: its paths are known, and those of Argo CD
    /// have a kustomization.
    pub(in crate::repo) fn is_built(&self, document: &Document) -> bool {
        let of_it = |applied: &&Applied| {
            let own = &applied.document;
            let names = |d: &Document| (d.text("metadata.namespace").to_owned(), d.text("metadata.name").to_owned());
            own.file.path() == document.file.path() && own.index == document.index && names(own) == names(document)
        };
        let mut sources = self.applied.iter().filter(of_it).flat_map(|applied| &applied.sources).peekable();
        sources.peek().is_some() && sources.all(|source| source.is_built)
    }

    /// Whether a controller applies files of a directory as they are.
    pub(in crate::repo) fn applies(&self, tree: &dyn Tree, directory: &Utf8Path) -> bool {
        let applies =
            |applied: &Applied| applied.sources.iter().any(|s| s.is_here && applied.applies(s, tree, directory));
        self.applied.iter().any(applies)
    }

    /// The value of a ConfigMap's key, with its document.
    pub(in crate::repo) fn config_map(&self, namespace: &str, name: &str) -> Option<&Arc<Document>> {
        let of = |namespace: &str| self.config_maps.get(&(namespace.to_owned(), name.to_owned()));
        of(namespace).or_else(|| of(""))
    }
}

/// What a controller's object applies from a tree; nothing for another object.
pub(in crate::repo) fn of_object(document: &Arc<Document>, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Vec<Applied> {
    let root = &document.root;
    let Some(kind) = Kind::of(document.text("apiVersion"), document.text("kind")) else { return Vec::new() };
    let mut out = match kind {
        Kind::ApplicationSet => argocd::application_set(document, tree, files),
        _ => vec![Applied {
            kind,
            document: Arc::clone(document),
            name: document.text("metadata.name").to_owned(),
            namespace: namespace(kind, root),
            prunes: matches!(root.below(prune_field(kind)).map(|n| &n.value), Some(Value::Bool(true))),
            sources: sources_of(kind, root, document.file.path()),
        }],
    };
    for applied in &mut out {
        if matches!(kind, Kind::Application | Kind::ApplicationSet) {
            argocd::take_overrides(applied, tree);
        }
        applied.find_built(tree);
    }
    out
}

fn prune_field(kind: Kind) -> &'static str {
    match kind {
        Kind::Application | Kind::ApplicationSet => "spec.syncPolicy.automated.prune",
        _ => "spec.prune",
    }
}

fn namespace(kind: Kind, root: &Node) -> Option<String> {
    let names = match kind {
        Kind::Application => [root.text("spec.destination.namespace"), ""],
        Kind::HelmRelease => [root.text("spec.targetNamespace"), root.text("metadata.namespace")],
        _ => ["", ""],
    };
    names.into_iter().find(|name| !name.is_empty()).map(ToOwned::to_owned)
}

/// The sources of a controller's object as it is written; those of an ApplicationSet are its template's.
pub(in crate::repo) fn sources_of(kind: Kind, root: &Node, file: &Utf8Path) -> Vec<Source> {
    let Some(spec) = root.get("spec").or(Some(root).filter(|_| kind == Kind::PolicyGenerator)) else {
        return Vec::new();
    };
    match kind {
        Kind::Application => argocd::sources_of(spec),
        Kind::ApplicationSet => spec.below("template.spec").map_or_else(Vec::new, argocd::sources_of),
        Kind::FluxKustomization => vec![flux::kustomization(spec)],
        Kind::HelmRelease => vec![flux::helm_release(spec)],
        Kind::AcmSubscription => acm::subscription(root, spec),
        Kind::PolicyGenerator => acm::policy_generator(root, file),
        Kind::FleetGitRepo => fleet::git_repo(spec),
    }
}

/// The objects of a file; an item of a list as its own document.
fn objects(file: &Arc<SourceFile>) -> Vec<Arc<Document>> {
    let mut out = Vec::new();
    for document in yaml::parse(file).documents {
        if listed::is_list(&document.root) {
            out.extend(listed::objects(&document.root).iter().map(|object| Arc::new(object.as_document(&document))));
        } else {
            out.push(Arc::new(document));
        }
    }
    out
}
