//! Flux's Kustomizations and HelmReleases.

use super::{Kind, Source};
use crate::prelude::*;
use hcoplan_yaml::{Entry, Key, Value};

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

/// Writes the chart of each HelmChart into the HelmReleases that refer to it: both describe a chart alike.
pub(super) fn follow_chart_refs(documents: &mut [Arc<Document>]) {
    let is_chart = |document: &&Arc<Document>| document.text("kind") == "HelmChart";
    let charts: Vec<Arc<Document>> = documents.iter().filter(is_chart).cloned().collect();
    for document in documents.iter_mut().filter(|document| !charts.is_empty() && document.text("kind") == "HelmRelease")
    {
        let name = document.text("spec.chartRef.name");
        let chart = charts.iter().find(|chart| chart.text("metadata.name") == name);
        let Some(spec) = chart.and_then(|chart| chart.root.get("spec")) else { continue };
        let root = with_chart(&document.root, spec);
        *document = Arc::new(Document { root, ..(**document).clone() });
    }
}

/// A HelmRelease with a chart instead of its reference to one.
fn with_chart(release: &Node, chart: &Node) -> Node {
    let changed = |node: &Node, key: &str, to: &str, change: &dyn Fn(&Node) -> Node| {
        let entry = |entry: &Entry| match entry.key.text == key {
            true => Entry { key: Key { text: to.to_owned(), ..entry.key.clone() }, value: change(&entry.value) },
            false => entry.clone(),
        };
        Node { value: Value::Map(node.entries().iter().map(entry).collect()), ..node.clone() }
    };
    changed(release, "spec", "spec", &|spec| {
        changed(spec, "chartRef", "chart", &|reference| {
            let key = Key { text: "spec".to_owned(), span: reference.span };
            Node { value: Value::Map(vec![Entry { key, value: chart.clone() }]), ..reference.clone() }
        })
    })
}

/// What a HelmRelease renders.
pub(super) fn helm_release(spec: &Node) -> Source {
    Source {
        path: spec.text_at("chart.spec.chart").map(ToOwned::to_owned),
        is_here: !matches!(spec.text("chart.spec.sourceRef.kind"), "HelmRepository" | "OCIRepository" | "Bucket"),
        ..Source::at("", spec)
    }
}
