//! The controllers' objects of a tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use hcoplan_diagnostics::source::{SourceFile, Tree};
use hcoplan_yaml::{self as yaml, Document};

use super::{Applied, argocd, flux};
use crate::repo::appliers::GROUPS;
use crate::repo::listed;
use crate::repo::scan::{contains_any, is_candidate};

/// The controllers' objects of a tree, and the objects that they take values from.
#[derive(Debug, Default)]
pub(in crate::repo) struct GitOps {
    pub(in crate::repo) applied: Vec<Applied>,
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
        for document in documents {
            out.applied.extend(of_object(&document, tree, files));
        }
        out
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

    /// The value of a ConfigMap's key, with its document.
    pub(in crate::repo) fn config_map(&self, namespace: &str, name: &str) -> Option<&Arc<Document>> {
        let of = |namespace: &str| self.config_maps.get(&(namespace.to_owned(), name.to_owned()));
        of(namespace).or_else(|| of(""))
    }
}

/// What a controller's object applies from a tree; nothing for another object.
pub(in crate::repo) fn of_object(document: &Arc<Document>, tree: &dyn Tree, files: &[Utf8PathBuf]) -> Vec<Applied> {
    let group = document.text("apiVersion").split('/').next().unwrap_or_default();
    let mut out = match (group, document.text("kind")) {
        ("argoproj.io", "Application") => argocd::application(document).into_iter().collect(),
        ("argoproj.io", "ApplicationSet") => argocd::application_set(document, tree, files),
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => flux::kustomization(document).into_iter().collect(),
        ("helm.toolkit.fluxcd.io", "HelmRelease") => flux::helm_release(document).into_iter().collect(),
        _ => Vec::new(),
    };
    out.iter_mut().for_each(|applied| applied.find_built(tree));
    out
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
