//! Why a controller doesn't apply a file, although its object is there.

use super::{Applied, Controller, Source};
use crate::prelude::*;
use crate::repo::charts::is_chart;
use crate::repo::kustomization::has_kustomization;
use crate::repo::paths::parent;

/// Why a controller doesn't apply a HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::repo) enum LeftOut {
    /// It is elsewhere.
    Elsewhere,
    /// `include` or `exclude` of an Application.
    Pattern,
    /// A kustomization there doesn't name it.
    Kustomization,
    /// The directory is a chart.
    Chart,
    /// Paths that Flux, Fleet or Advanced Cluster Management ignore.
    Ignored,
    /// An annotation of its own, with its value.
    Annotation(&'static str, &'static str),
    /// A comment that Argo CD reads.
    SkippedFile,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Annotation(key, value) => return write!(f, "its annotation `{key}: {value}` says so"),
            Self::Elsewhere => "it isn't in its path any more",
            Self::Pattern => "`directory.include` or `directory.exclude` leaves it out",
            Self::Kustomization => "a kustomization there doesn't name it",
            Self::Chart => "its directory is a chart now",
            Self::Ignored => "an ignore file of the controller, or `spec.ignore` of the source, leaves it out",
            Self::SkippedFile => "the comment `+argocd:skip-file-rendering` says so",
        };
        f.write_str(text)
    }
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
