//! The cluster to which a controller applies its sources.

use camino::Utf8Path;
use hcoplan_diagnostics::source::Tree;
use hcoplan_yaml::Node;

use super::{Applied, Kind, Source};
use crate::repo::kustomization::has_kustomization;
use crate::repo::parent;

/// The name of the cluster in which an object's controller runs, for Argo CD.
const IN_CLUSTER: [&str; 3] = ["", "in-cluster", "https://kubernetes.default.svc"];

/// What identifies the cluster to which an object applies; `None` if it isn't known. A controller's own cluster is that
/// of the object's directory.
pub(super) fn destination(kind: Kind, object: &Node, file: &Utf8Path) -> Option<String> {
    let fields: &[&str] = match kind {
        Kind::Application | Kind::ApplicationSet => &["spec.destination.name", "spec.destination.server"],
        Kind::FluxKustomization | Kind::HelmRelease => &["spec.kubeConfig.secretRef.name"],
        _ => return None,
    };
    let name = fields.iter().map(|field| object.text(field)).find(|name| !name.is_empty()).unwrap_or_default();
    let is_template = name.contains("{{") || name.contains("${");
    let own = if IN_CLUSTER.contains(&name) { format!("of {}", parent(file)) } else { name.to_owned() };
    (!is_template).then(|| format!("{:?} {own}", kind.controller()))
}

impl Applied {
    /// Whether it applies a file below a directory that a source is at: as it is, or possibly with a kustomization.
    pub(in crate::repo) fn reaches(&self, source: &Source, tree: &dyn Tree, file: &Utf8Path) -> bool {
        parent(file).ancestors().any(|above| {
            let is_below = above == parent(file) || source.recurses || has_kustomization(tree, above);
            is_below && source.is_at(above) && source.selects(above, file)
        })
    }
}
