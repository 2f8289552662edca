//! Flux's Kustomizations and HelmReleases.

use super::{Kind, Source};
use crate::prelude::*;
use crate::repo::nodes::{entry, value_mut};

/// The GitRepository of which `flux bootstrap` installs Flux.
pub(super) const BOOTSTRAPPED: &str = "flux-system";

/// The name of the GitRepository that an object with this spec takes its files from; empty for another source.
pub(super) fn repository_of(kind: Kind, spec: &Node) -> &str {
    let field = if kind == Kind::HelmRelease { "chart.spec.sourceRef" } else { "sourceRef" };
    let source = spec.below(field).filter(|source| matches!(source.text("kind"), "" | "GitRepository"));
    source.map_or("", |source| source.text("name"))
}

/// What a Kustomization applies: without a path all of the repository. An artifact's path isn't one of the repository.
pub(super) fn kustomization(spec: &Node) -> Source {
    let spec = spec.get("sync").unwrap_or(spec);
    let is_here = ["kind", "sourceRef.kind"].iter().all(|kind| matches!(spec.text(kind), "" | "GitRepository"));
    Source { is_here, ..Source::at(spec.text("path"), spec) }
}

/// Writes the chart of each HelmChart into the HelmReleases that refer to it: both describe a chart alike.
pub(super) fn follow_chart_refs(documents: &mut [Arc<Document>]) {
    let is_chart = |document: &&Arc<Document>| document.text("kind") == "HelmChart";
    let charts: Vec<Arc<Document>> = documents.iter().filter(is_chart).cloned().collect();
    for document in documents.iter_mut().filter(|document| !charts.is_empty() && document.text("kind") == "HelmRelease")
    {
        let name = document.text("spec.chartRef.name");
        let chart = charts.iter().find(|chart| chart.text("metadata.name") == name);
        let Some(spec) = chart.and_then(|chart| chart.root.get("spec")) else { continue };
        let release = Arc::make_mut(document);
        let Some(Node { value: Value::Map(entries), .. }) = value_mut(&mut release.root, "spec") else { continue };
        for reference in entries.iter_mut().filter(|entry| entry.key.text == "chartRef") {
            reference.key.text = "chart".to_owned();
            reference.value.value = Value::Map(vec![entry("spec", spec.clone())]);
        }
    }
}

/// What a HelmRelease renders.
pub(super) fn helm_release(spec: &Node) -> Source {
    Source {
        path: spec.text_at("chart.spec.chart").map(ToOwned::to_owned),
        is_here: !matches!(spec.text("chart.spec.sourceRef.kind"), "HelmRepository" | "OCIRepository" | "Bucket"),
        ..Source::at("", spec)
    }
}
