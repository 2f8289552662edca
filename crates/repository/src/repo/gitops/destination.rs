//! The cluster to which a controller applies its sources.

use super::{Applied, Controller, Kind, LeftOut, is_expression};
use crate::prelude::*;
use crate::repo::fields;
use crate::repo::nodes::filled;
use crate::repo::paths::parent;

/// The cluster to which a controller applies something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Destination {
    controller: Controller,
    /// The controller's name of the cluster; of its own cluster the directory of the controller's object.
    name: String,
    is_own: bool,
}

impl Destination {
    /// The name or address of another cluster than the controller's own.
    pub(super) fn name(&self) -> Option<&str> {
        Some(&*self.name).filter(|_| !self.is_own)
    }

    /// Whether it is certainly another cluster. Controllers may have objects about their own cluster in several directories,
    /// and know a cluster by its name and its address.
    pub(crate) fn is_other(&self, other: &Self) -> bool {
        let is_same_form = self.name.contains("://") == other.name.contains("://");
        self.controller == other.controller
            && (self.is_own != other.is_own || !self.is_own && is_same_form && self.name != other.name)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_own { f.write_str("the controller's own cluster") } else { write!(f, "the cluster {}", self.name) }
    }
}

/// The cluster to which an object applies; `None` if it isn't known.
pub(super) fn destination(kind: Kind, object: &Node, file: &Utf8Path) -> Option<Destination> {
    let known = fields::of(&format!("{}.destination", kind.name()));
    let name = known.iter().find_map(|field| filled(object, field)).unwrap_or_default();
    let is_known = !known.is_empty() && !is_expression(name);
    let is_own = fields::has("argocd.own-cluster", name);
    let name = if is_own { parent(file).as_str() } else { name }.to_owned();
    is_known.then(|| Destination { controller: kind.controller(), name, is_own })
}

impl Applied {
    /// Whether it applies a file below a directory that a source is at: as it is, or possibly with a kustomization.
    pub(crate) fn reaches(&self, tree: &dyn Tree, file: &Utf8Path) -> bool {
        let is_out = |why: LeftOut| matches!(why, LeftOut::Elsewhere | LeftOut::Pattern);
        self.here().any(|source| !self.left_out(source, tree, file).is_some_and(is_out))
    }
}
