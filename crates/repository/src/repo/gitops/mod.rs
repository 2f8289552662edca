//! What controllers apply from a repository: one model of Argo CD's, Flux's, Fleet's and Advanced Cluster Management's
//! objects, and one reader for each.
//!
//! An ApplicationSet is read as the Applications that its [`generators`] make; one whose generators depend on anything
//! but the repository is read as a single one, with its templates unfilled.

mod acm;
mod additions;
mod argo_sources;
mod argocd;
mod by_directory;
mod controller;
mod destination;
mod fleet;
mod flux;
mod generators;
mod left_out;
mod objects;
mod path;
mod placing;
mod sync;
mod template;
mod variables;

use globset::GlobMatcher;

use super::kustomization::has_kustomization;
use crate::prelude::*;
use crate::repo::unplanned;

pub(super) use acm::{idle, setting};
pub(super) use additions::builds;
pub(super) use argo_sources::{is_same_repository, sources as argo_sources};
pub(super) use argocd::templates;
pub use controller::Controller;
pub(super) use destination::Destination;
use generators::glob;
pub(super) use generators::reads_file;
pub(super) use left_out::{LeftOut, is_own_plugin};
pub(super) use objects::{GitOps, distinct_name, of_object, read, sources_of};
pub(super) use path::PathPattern;
pub(super) use placing::{CLUSTER_SECRET, labels_of_cluster};
pub(super) use template::{Template, pattern_of, replaced};
pub(super) use variables::is_absent;

/// An object of a controller: what it applies, from where, and how.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    pub(super) kind: Kind,
    /// The object.
    pub(super) document: Arc<Document>,
    /// The same, or the Application that an ApplicationSet makes.
    pub(super) object: Node,
    /// The name of what applies: that of the object, or of the Application that an ApplicationSet makes.
    pub(super) name: String,
    /// The namespace that objects without one get, as far as it is known.
    pub(super) namespace: Option<String>,
    /// The cluster to which it applies them, as far as it is known.
    pub(super) destination: Option<Destination>,
    /// Where it says that it deletes objects that are removed from its sources, if it does.
    pub(super) prunes: Option<Location>,
    pub(super) sources: Vec<Source>,
}

/// The kind of a controller's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub(super) enum Kind {
    Application,
    ApplicationSet,
    FluxKustomization,
    HelmRelease,
    AcmSubscription,
    PolicyGenerator,
    FleetGitRepo,
}

/// All kinds with their API groups, names and controllers.
pub(super) static KINDS: Table<Vec<(Kind, &str, &str, Controller)>> = Table::of(include_str!("kinds.json"));

impl Kind {
    /// That of an object.
    pub(super) fn of(api_version: &str, kind: &str) -> Option<Self> {
        let group = first_part(api_version, '/');
        KINDS.iter().find(|(_, g, k, _)| *g == group && *k == kind).map(|(own, ..)| *own)
    }

    /// Its row.
    fn row(self) -> &'static (Self, &'static str, &'static str, Controller) {
        KINDS.iter().find(|(own, ..)| *own == self).expect("each has one")
    }

    /// The object's kind.
    pub(super) fn name(self) -> &'static str {
        self.row().2
    }

    /// The controller that reads it.
    pub(super) fn controller(self) -> Controller {
        self.row().3
    }
}

/// Where the objects come from.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The source in the object, filled in and with what files override: the keys of the tool.
    pub(super) node: Node,
    /// The files in its directory with which Argo CD overrides it.
    pub(super) overrides: Vec<Arc<Document>>,
    /// The path from the root, possibly a template; `None` for one outside of the repository.
    pub(super) path: Option<String>,
    /// The directory with its links followed, if it is known.
    pub(super) real: Option<Utf8PathBuf>,
    /// The name by which other sources refer to its files.
    pub(super) reference: Option<String>,
    /// The only file of its directory that is applied.
    pub(super) only: Option<String>,
    /// Whether its repository may be this one.
    pub(super) is_here: bool,
    /// Whether everything below its path is applied.
    pub(super) recurses: bool,
    /// Whether its directory has a kustomization.
    is_kustomization: bool,
    /// Whether the controller builds its directory with kustomize, and hcoplan does so, too.
    pub(super) is_built: bool,
    /// What `include` and `exclude` say, if they are known; one that doesn't compile matches nothing.
    globs: OnceLock<[Option<Option<GlobMatcher>>; 2]>,
}

impl Source {
    /// What a controller reads at a path of the repository.
    fn at(path: impl Into<String>, node: &Node) -> Self {
        let node = node.clone();
        Self {
            node,
            overrides: Vec::new(),
            path: Some(path.into()),
            real: None,
            reference: None,
            only: None,
            is_here: true,
            recurses: true,
            is_kustomization: false,
            is_built: false,
            globs: OnceLock::new(),
        }
    }

    /// The paths that it may have; `None` for one outside of the repository.
    pub(super) fn pattern(&self) -> Option<PathPattern> {
        PathPattern::new(self.path.as_deref()?)
    }

    /// The document that sets a field.
    pub(super) fn document_of<'a>(&'a self, applied: &'a Applied, field: &str) -> &'a Arc<Document> {
        let mut overrides = self.overrides.iter().rev();
        overrides.find(|document| document.root.below(field).is_some()).unwrap_or(&applied.document)
    }

    /// Whether a directory is, or may be, its own.
    pub(super) fn is_at(&self, directory: &Utf8Path) -> bool {
        match &self.real {
            Some(real) if real == directory => true,
            _ => self.pattern().is_some_and(|pattern| pattern.is(directory)),
        }
    }

    /// Whether it takes a file at or below its own directory, by `include` and `exclude`.
    pub(super) fn selects(&self, own: &Utf8Path, file: &Utf8Path) -> bool {
        let file = file.strip_prefix(own).unwrap_or(file);
        if self.only.as_ref().is_some_and(|only| only != file.as_str()) {
            return false;
        }
        let compiled = |key: &str| {
            let pattern = self.node.text_at(key).filter(|pattern| !pattern.contains("{{"))?;
            Some(glob(pattern, false))
        };
        let globs = self.globs.get_or_init(|| ["directory.include", "directory.exclude"].map(compiled));
        let matches = |glob: &Option<GlobMatcher>| glob.as_ref().is_some_and(|glob| glob.is_match(file));
        let [include, exclude] = globs.each_ref().map(|glob| glob.as_ref().map(matches));
        include.unwrap_or(true) && !exclude.unwrap_or(false)
    }

    /// The directory, if it is known.
    pub(super) fn directory(&self) -> Option<Utf8PathBuf> {
        self.pattern().filter(|pattern| pattern.expression.is_none()).map(|pattern| pattern.start)
    }
}

impl Applied {
    /// Finds the directories of its sources, and which of them are built.
    fn find_directories(&mut self, tree: &dyn Tree) {
        for source in &mut self.sources {
            source.real = source.directory().map(|directory| tree.real(&directory)).filter(|_| source.is_here);
            source.is_kustomization = source.real.as_ref().is_some_and(|own| has_kustomization(tree, own));
            source.is_built = match self.kind {
                Kind::Application | Kind::ApplicationSet => {
                    // What a template would write isn't known.
                    let is_known = self.kind == Kind::Application
                        || source.node.get("kustomize").is_none_or(|node| is_filled(&node.to_json()));
                    is_known && source.is_kustomization
                }
                Kind::FluxKustomization => source.real.is_some(),
                _ => false,
            };
        }
    }

    /// The finding that another repository has what an Application applies, if this one has such a path to one of the
    /// `clusters`, too.
    pub(super) fn elsewhere(&self, clusters: &BTreeSet<&Utf8Path>) -> Option<Finding> {
        let is_meant = |source: &&Source| {
            !source.is_here
                && source.pattern().is_some_and(|path| !path.start.as_str().is_empty() && path.covers_any(clusters))
        };
        let source = self.sources.iter().find(is_meant).filter(|_| self.kind.controller() == Controller::ArgoCd)?;
        let path = source.path.as_deref().unwrap_or_default();
        let message = format!("{} takes `{path}` from another repository, not from this one", phrase(&self.document));
        let place = source.node.get("repoURL").unwrap_or(&source.node);
        let finding = unplanned(message, self.document.location(place.span)).info();
        Some(finding.help("what it applies is planned in that repository"))
    }

    /// Where its object is.
    pub(super) fn place(&self) -> Location {
        self.document.location(self.document.root.span)
    }

    /// Its sources that may be of this repository.
    pub(super) fn here(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.is_here)
    }

    /// Whether a values file, such as `$settings/values.yaml`, is of this repository.
    pub(super) fn is_of_this_repository(&self, file: &str) -> bool {
        let Some((reference, _)) = file.strip_prefix('$').and_then(|rest| rest.split_once('/')) else { return true };
        self.here().any(|source| source.reference.as_deref() == Some(reference))
    }
}

/// The file in which an object is written, also where a kustomization builds it.
pub(super) fn file_of(document: &Document) -> Arc<SourceFile> {
    let place = document.locate(&Path::dotted("kind"));
    place.origin().unwrap_or(place).file
}

/// A controller's object in a sentence: `the Application virt in argo/virt.yaml`. What has no kind are tasks.
pub(super) fn phrase(document: &Document) -> String {
    let (kind, name) = (document.text("kind"), document.text("metadata.name"));
    let what = if kind.is_empty() { "a task".to_owned() } else { format!("the {kind} {name}") };
    format!("{what} in {}", file_of(document).path())
}

/// Whether a value has no template.
pub(super) fn is_filled(value: &serde_json::Value) -> bool {
    !value.to_string().contains("{{")
}

/// Whether a text has a template or a variable.
pub(super) fn is_expression(text: &str) -> bool {
    text.contains("{{") || text.contains("${")
}

/// A text of a node, as templates print it.
fn printed(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(node.to_json().to_string()),
        _ => None,
    }
}
