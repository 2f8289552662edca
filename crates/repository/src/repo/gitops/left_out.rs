//! Why a controller doesn't apply a file, although its object is there.

use super::{Applied, Controller, Source};
use crate::prelude::*;
use crate::repo::charts::{is_chart, rendered_by};
use crate::repo::kustomization::has_kustomization;
use crate::repo::paths::parent;

/// Why a controller doesn't apply a HyperConverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub(crate) enum LeftOut {
    Elsewhere,
    Pattern,
    Kustomization,
    Chart,
    Ignored,
    Extension,
    Link,
    List,
    /// Argo CD makes nothing of the Application then.
    Objects,
    SkippedFile,
    /// An annotation or label of its own, with its value.
    #[serde(skip)]
    Metadata(&'static str, &'static str),
}

/// The reasons as text.
static REASONS: Table<BTreeMap<LeftOut, &str>> = Table::of(include_str!("left_out.json"));

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metadata(name, value) => write!(f, "its `{name}: {value}` says so"),
            other => f.write_str(REASONS[other]),
        }
    }
}

/// Whether a source's plugin is hcoplan's, which hands on what it judges.
pub(crate) fn is_own_plugin(plugin: &Node) -> bool {
    plugin.text("name").starts_with("hcoplan")
}

impl Applied {
    /// Whether it applies files of a directory as they are, were there any.
    pub(crate) fn applies(&self, source: &Source, tree: &dyn Tree, directory: &Utf8Path) -> bool {
        // The plugin skips inventories.
        let is_own = source.node.get("plugin").is_some_and(is_own_plugin);
        !is_own && self.left_out(source, tree, &directory.join("a.yaml")).is_none()
    }

    /// Why it doesn't apply a file as it is, by the file's place; `None` if it does.
    pub(crate) fn left_out(&self, source: &Source, tree: &dyn Tree, file: &Utf8Path) -> Option<LeftOut> {
        // Helm renders it, to itself where it has no actions.
        if rendered_by(tree, file).is_some_and(|chart| source.is_at(chart)) {
            return None;
        }
        let levels = if source.recurses || source.is_kustomization { usize::MAX } else { 1 };
        let mut built = false;
        let mut why = LeftOut::Elsewhere;
        for above in parent(file).ancestors().take(levels) {
            // Flux builds a kustomization below its path; the others only one at their own path.
            let is_at = source.is_at(above);
            let may_be_built = is_at && source.real.is_none() || self.kind.controller() == Controller::Flux;
            built |= source.only.is_none()
                && (is_at && source.is_kustomization || may_be_built && has_kustomization(tree, above));
            if !is_at {
                continue;
            }
            if built {
                return Some(LeftOut::Kustomization);
            }
            if is_chart(tree, above) {
                return Some(LeftOut::Chart);
            }
            if source.selects(above, file) {
                return self.unread(tree, file);
            }
            why = LeftOut::Pattern;
        }
        Some(why)
    }

    /// Why it doesn't read a file of a directory that it applies as it is.
    ///
    /// Source: Argo CD's `manifestFile`, which knows no other case; Flux' `pkg/kustomize` and the archives of its
    /// source-controller, which have regular files only.
    fn unread(&self, tree: &dyn Tree, file: &Utf8Path) -> Option<LeftOut> {
        let (controller, name) = (self.kind.controller(), file.file_name().unwrap_or_default());
        let read: &[&str] = match controller {
            Controller::ArgoCd => &["yaml", "yml", "json", "jsonnet"],
            Controller::Flux => &["yaml", "yml"],
            _ => return None,
        };
        let is_link = || controller == Controller::Flux && tree.real(file) != tree.real(parent(file)).join(name);
        if !file.extension().is_some_and(|extension| read.contains(&extension)) {
            return Some(LeftOut::Extension);
        }
        is_link().then_some(LeftOut::Link)
    }
}
