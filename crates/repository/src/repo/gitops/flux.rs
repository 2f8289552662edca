//! Flux's Kustomizations and HelmReleases.

use super::Source;
use crate::prelude::*;

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
