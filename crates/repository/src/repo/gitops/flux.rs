//! Flux's Kustomizations and HelmReleases.

use super::{Kind, Source};
use crate::prelude::*;

/// The GitRepository of which `flux bootstrap` installs Flux.
pub(super) const BOOTSTRAPPED: &str = "flux-system";

/// The name of the GitRepository that an object takes its files from; empty for another source.
pub(super) fn repository_of(kind: Kind, object: &Node) -> &str {
    let field = if kind == Kind::HelmRelease { "spec.chart.spec.sourceRef" } else { "spec.sourceRef" };
    let source = object.below(field).filter(|source| matches!(source.text("kind"), "" | "GitRepository"));
    source.map_or("", |source| source.text("name"))
}

/// What a Kustomization applies: without a path all of the repository. An artifact's path isn't one of the repository.
pub(super) fn kustomization(spec: &Node) -> Source {
    let is_here = matches!(spec.text("sourceRef.kind"), "" | "GitRepository");
    Source { is_here, ..Source::at(spec.text("path"), spec) }
}

/// What a HelmRelease renders.
pub(super) fn helm_release(spec: &Node) -> Source {
    Source {
        path: spec.text_at("chart.spec.chart").map(ToOwned::to_owned),
        is_here: !matches!(spec.text("chart.spec.sourceRef.kind"), "HelmRepository" | "OCIRepository" | "Bucket"),
        ..Source::at("", spec)
    }
}
