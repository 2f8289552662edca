//! The layers of a build, in the order in which kustomize applies them.

use hcoplan_diagnostics::finding::Edit;
use hcoplan_yaml::edit::{self, Change, apply};
use hcoplan_yaml::locate_in_scalar;

use super::native::{Placed, selects};
use crate::prelude::*;

/// A document that sets values of a build.
#[derive(Debug, Clone)]
pub struct BuildLayer {
    /// Its document.
    pub document: Arc<Document>,
    /// Its kind.
    pub what: LayerKind,
    /// The kustomization's scalar with the document, if it has no file.
    inline: Option<(Arc<Document>, Node)>,
    /// The `target` of a patch.
    pub(super) target: Option<Node>,
}

/// The kind of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// An object.
    Object,
    /// A strategic merge patch.
    Merge,
    /// A list of JSON 6902 operations.
    Operations,
    /// A kustomization's own fields: namespace, labels, annotations, replacements.
    Fields,
    /// Replacements in a file of their own, or a transformer's.
    Replacements,
}

impl BuildLayer {
    /// A document of a file.
    pub(super) fn of_file(document: &Arc<Document>, what: LayerKind) -> Self {
        Self { document: Arc::clone(document), what, inline: None, target: None }
    }

    /// A patch; `inline`: the kustomization's scalar with it.
    pub(super) fn patch(document: &Arc<Document>, inline: Option<(Arc<Document>, Node)>, target: Option<Node>) -> Self {
        let is_merge = document.root.items().is_empty();
        let what = if is_merge { LayerKind::Merge } else { LayerKind::Operations };
        Self { document: Arc::clone(document), what, inline, target }
    }

    /// A patch's values: those of operations as kubectl reads them, by way of JSON, those of an object as kustomize does.
    pub(super) fn placed(&self) -> Placed {
        let text = if self.what == LayerKind::Merge { self.document.file.text() } else { "" };
        Placed::of(&self.document.root, text, &|span| self.place(span))
    }

    /// Whether it is inline in a kustomization.
    pub fn is_inline(&self) -> bool {
        self.inline.is_some()
    }

    /// Whether a patch may be for an object of a kind.
    pub fn is_for(&self, kind: &str) -> bool {
        self.target.as_ref().is_none_or(|t| selects(t, kind))
    }

    /// The document that contains it.
    pub(crate) fn source(&self) -> Arc<Document> {
        Arc::clone(self.inline.as_ref().map_or(&self.document, |(kustomization, _)| kustomization))
    }

    /// Converts edits of its document to edits of its file; `None` if it is inline and not a block scalar.
    pub fn in_file(&self, edits: Vec<Edit>) -> Option<Vec<Edit>> {
        let Some((kustomization, scalar)) = self.inline.as_ref().filter(|_| !edits.is_empty()) else {
            return Some(edits);
        };
        let string = apply(self.document.file.text(), &edits).ok()?;
        let path = kustomization.root.path_to(scalar.span).filter(|_| scalar.style == Style::Literal)?;
        edit::edits(kustomization, &[Change::Set(path, string.into())]).ok()
    }

    /// The kustomization's entry with the inline layer; `None` if it has a file.
    pub fn entry(&self) -> Option<(&Document, Path)> {
        let (kustomization, scalar) = self.inline.as_ref()?;
        let path = kustomization.root.path_to(scalar.span)?;
        Some((kustomization, path.parent()))
    }

    /// The location of a span of its document.
    pub fn place(&self, span: Span) -> Location {
        let Some((kustomization, scalar)) = &self.inline else {
            return self.document.location(span);
        };
        kustomization.location(locate_in_scalar(kustomization, scalar, span.range()))
    }
}
