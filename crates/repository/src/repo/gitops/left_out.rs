//! Why a controller doesn't apply a file, although its object is there.

use super::{Applied, Controller, Source};
use crate::prelude::*;
use crate::repo::charts::is_chart;
use crate::repo::kustomization::has_kustomization;
use crate::repo::paths::parent;

/// Why a controller doesn't apply a HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::repo) enum LeftOut {
    #[error("it isn't in its path any more")]
    Elsewhere,
    #[error("`directory.include` or `directory.exclude` leaves it out")]
    Pattern,
    #[error("a kustomization there doesn't name it")]
    Kustomization,
    #[error("its directory is a chart now")]
    Chart,
    #[error("an ignore file of the controller, or `spec.ignore` of the source, leaves it out")]
    Ignored,
    /// An annotation of its own, with its value.
    #[error("its annotation `{0}: {1}` says so")]
    Annotation(&'static str, &'static str),
    #[error("the comment `+argocd:skip-file-rendering` says so")]
    SkippedFile,
}

impl Applied {
    /// Whether it applies files of a directory as they are, were there any.
    pub(in crate::repo) fn applies(&self, source: &Source, tree: &dyn Tree, directory: &Utf8Path) -> bool {
        // hcoplan's own plugin skips inventories.
        let is_own_plugin = source.node.text("plugin.name").starts_with("hcoplan");
        !is_own_plugin && self.left_out(source, tree, &directory.join("a.yaml")).is_none()
    }

    /// Why it doesn't apply a file as it is, by the file's place; `None` if it does.
    pub(in crate::repo) fn left_out(&self, source: &Source, tree: &dyn Tree, file: &Utf8Path) -> Option<LeftOut> {
        let levels = if source.recurses { usize::MAX } else { 1 };
        let mut built = false;
        let mut why = LeftOut::Elsewhere;
        for above in parent(file).ancestors().take(levels) {
            let is_kustomization = has_kustomization(tree, above);
            // Flux builds a kustomization below its path; the others only one at their own path.
            built |= is_kustomization && self.kind.controller() == Controller::Flux;
            if !source.is_at(above) {
                continue;
            }
            if built || is_kustomization {
                return Some(LeftOut::Kustomization);
            }
            if is_chart(tree, above) {
                return Some(LeftOut::Chart);
            }
            if source.selects(above, file) {
                return None;
            }
            why = LeftOut::Pattern;
        }
        Some(why)
    }
}
