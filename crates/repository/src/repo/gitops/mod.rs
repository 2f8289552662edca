//! What controllers apply from a repository: one model of Argo CD's Applications and ApplicationSets, Flux's
//! Kustomizations and HelmReleases, and one reader for each.
//!
//! An ApplicationSet is read as the Applications that its [`generators`] make; one whose generators depend on anything
//! but the repository is read as a single one, with its templates unfilled.

mod additions;
mod argocd;
mod flux;
mod generators;
mod objects;
mod template;

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use hcoplan_diagnostics::source::Tree;
use hcoplan_yaml::{Document, Node};

use super::kustomization::has_kustomization;

pub(super) use additions::builds;
pub(super) use objects::{GitOps, of_object};
pub(super) use template::Template;

/// An object of a controller: what it applies, from where, and how.
#[derive(Debug, Clone)]
pub(super) struct Applied {
    pub(super) kind: Kind,
    /// The object.
    pub(super) document: Arc<Document>,
    /// The name of what applies: that of the object, or of the Application that an ApplicationSet makes.
    pub(super) name: String,
    /// The namespace that objects without one get, as far as it is known.
    pub(super) namespace: Option<String>,
    pub(super) sources: Vec<Source>,
}

/// The kind of a controller's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Application,
    ApplicationSet,
    FluxKustomization,
    HelmRelease,
}

/// Where the objects come from.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// The source in the object, filled in: the keys of the tool.
    pub(super) node: Node,
    /// The path from the root, possibly a template; `None` for one outside of the repository.
    pub(super) path: Option<String>,
    /// The name by which other sources refer to its files.
    pub(super) reference: Option<String>,
    /// Whether its repository may be this one.
    pub(super) is_here: bool,
    /// Whether the controller builds its directory with kustomize, and hcoplan does so, too.
    pub(super) is_built: bool,
}

impl Source {
    /// The directory, if it is known.
    pub(super) fn directory(&self) -> Option<Utf8PathBuf> {
        let path = self.path.as_deref().filter(|path| !path.contains("{{"))?;
        hcoplan_diagnostics::source::normalize_path(Utf8Path::new(path.trim_start_matches('/')))
    }
}

impl Applied {
    /// Finds out which directories are built.
    fn find_built(&mut self, tree: &dyn Tree) {
        for source in &mut self.sources {
            let directory = source.directory().map(|directory| tree.real(&directory)).filter(|_| source.is_here);
            source.is_built = match self.kind {
                Kind::Application | Kind::ApplicationSet => directory.is_some_and(|d| has_kustomization(tree, &d)),
                Kind::FluxKustomization => directory.is_some(),
                Kind::HelmRelease => false,
            };
        }
    }

    /// Whether a values file, such as `$settings/values.yaml`, is of this repository.
    pub(super) fn is_of_this_repository(&self, file: &str) -> bool {
        let Some((reference, _)) = file.strip_prefix('$').and_then(|rest| rest.split_once('/')) else { return true };
        self.sources.iter().any(|source| source.reference.as_deref() == Some(reference) && source.is_here)
    }
}

/// What controllers apply from a tree.
pub(super) fn read(tree: &dyn Tree, files: &[Utf8PathBuf]) -> GitOps {
    GitOps::read(tree, files)
}

/// A text of a node, as templates print it.
fn printed(node: &Node) -> Option<String> {
    match &node.value {
        hcoplan_yaml::Value::String(text) => Some(text.clone()),
        hcoplan_yaml::Value::Bool(_) | hcoplan_yaml::Value::Number(_) => Some(node.to_json().to_string()),
        _ => None,
    }
}
